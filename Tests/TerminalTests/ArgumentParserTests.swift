// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Terminal

@Suite struct ArgumentParserTests {
    private let parser = ArgumentParser(
        CommandText(
            """
            test
              Tests

              arguments:
                FILE  the file
                [MORE]  more

              options:
                --name NAME  a name
                --loud  be loud
                --each X*  several
                --scope S...  scopes
                --state STATE {on|off}  one (…)
                --modes MODES {fast,slow}  some (…)
                --share S  a share
                --n N  a number
            """
        ).commands[0])

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
        (["f", "-xyz"], "unknown option \"-xyz\""),
        (["f", "--loud=yes"], "--loud takes no value; it was given \"yes\""),
        (["f", "--name"], "--name needs a value: --name NAME"),
        (["f", "--name", "a", "--name", "b"], "--name was given twice"),
        ([], "FILE is missing: the file"),
        (["a", "b", "c"], "unexpected argument \"c\": the command takes FILE [MORE]"),
        (["f", "--state", "onn"], "--state: \"onn\" is not a state; on, off; did you mean \"on\"?"),
        (["f", "--state", "on,off"], "--state: \"on,off\" is not a state; on, off"),
        (["f", "--modes", "fast,sloww"], "--modes: \"sloww\" is not a modes; fast, slow; did you mean \"slow\"?"),
    ])
    func `Wrong usage says what is wrong`(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try parser.parse(words) }
        #expect(error?.description == message)
    }

    @Test func `Words with commas are several, and a help lists what an option takes`() throws {
        #expect(try parser.parse(["f", "--modes", "fast,slow"]).list("modes") == ["fast", "slow"])
        #expect(parser.spec.option(named: "state")?.help == "one (on, off)")
        #expect(parser.spec.option(named: "each")?.help == "several; may be given more than once")
    }

    @Test func `Help needs nothing else to be right`() throws {
        #expect(try parser.parse(["-h"]).flag("help"))
    }

    @Test(arguments: [("2%", 0.02), ("0.5", 0.5), ("100%", 1.0), ("0", 0.0)])
    func `A share is a number or a percentage`(text: String, share: Double) throws {
        #expect(try parser.parse(["f", "--share", text]).share("share", default: 0.3) == share)
    }

    @Test(arguments: ["1,000,000", "1_000_000", "1000000"])
    func `A number may be grouped`(text: String) throws {
        let arguments = try parser.parse(["f", "--n", text])
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
