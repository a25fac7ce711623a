// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Terminal

@Suite struct ArgumentParserTests {
    private let parser = ArgumentParser(
        CommandSpec(
            path: ["test"], purpose: "Tests",
            positionals: [PositionalSpec("FILE", "the file"), PositionalSpec("MORE", "more", isRequired: false)],
            options: [
                .value("name", "NAME", "a name"), .flag("loud", "be loud"),
                OptionSpec.value("each", "X", "several").repeatable(),
                OptionSpec.value("scope", "S", "scopes").repeatable().variadic(),
            ]))

    @Test func `Options stand anywhere and with or without an equals sign`() throws {
        let arguments = try parser.parse(["--name", "a b", "f", "--loud", "--each=1", "--each", "2=3"])
        #expect(arguments.value("name") == "a b")
        #expect(arguments.flag("loud"))
        #expect(arguments.values("each") == ["1", "2=3"])
        #expect(arguments.positional("FILE") == "f")
        #expect(arguments.positional("MORE") == nil)
    }

    @Test func `Two dashes end the options and one is a place`() throws {
        let arguments = try parser.parse(["-", "--", "--loud"])
        #expect(arguments.positional("FILE") == "-")
        #expect(arguments.positional("MORE") == "--loud")
        #expect(!arguments.flag("loud"))
    }

    @Test func `A variadic option takes words up to the next option`() throws {
        let arguments = try parser.parse(["f", "--scope", "a", "b", "--loud"])
        #expect(arguments.values("scope") == ["a", "b"])
    }

    @Test(arguments: [
        (["f", "--nmae", "x"], "unknown option \"--nmae\"; did you mean \"--name\"?"),
        (["f", "--zzzzzz"], "unknown option \"--zzzzzz\""),
        (["f", "-x"], "unknown option \"-x\""),
        (["f", "--loud=yes"], "--loud takes no value; it was given \"yes\""),
        (["f", "--name"], "--name needs a value: --name NAME"),
        (["f", "--name", "a", "--name", "b"], "--name was given twice"),
        ([], "FILE is missing: the file"),
        (["a", "b", "c"], "unexpected argument \"c\""),
    ])
    func `Wrong usage says what is wrong`(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try parser.parse(words) }
        #expect(error?.description == message)
    }

    @Test func `Help needs nothing else to be right`() throws {
        #expect(try parser.parse(["-h"]).flag("help"))
    }

    @Test(arguments: [("2%", 0.02), ("0.5", 0.5), ("100%", 1.0), ("0", 0.0)])
    func `A share is a number or a percentage`(text: String, share: Double) throws {
        let parser = ArgumentParser(CommandSpec(path: ["t"], purpose: "", options: [.value("share", "S", "")]))
        #expect(try parser.parse(["--share", text]).share("share", default: 0.3) == share)
    }

    @Test(arguments: ["1,000,000", "1_000_000", "1000000"])
    func `A number may be grouped`(text: String) throws {
        let parser = ArgumentParser(CommandSpec(path: ["t"], purpose: "", options: [.value("n", "N", "")]))
        let arguments = try parser.parse(["--n", text])
        #expect(try arguments.integer("n", in: 1...2_000_000, default: 1) == 1_000_000)
        #expect(throws: UsageError.self) { try arguments.integer("n", in: 1...10, default: 1) }
    }
}

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("requird", "required"), ("campaing", "campaign"), ("tokesn", "tokens"), ("xyz", nil), ("STATUS", "status"),
    ])
    func `The nearest name is offered if it is a slip away`(text: String, expected: String?) {
        let names = ["required", "campaign", "tokens", "status", "versions"]
        #expect(Suggestion.nearest(to: text, among: names) == expected)
    }
}
