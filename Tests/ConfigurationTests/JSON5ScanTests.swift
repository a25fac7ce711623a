// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Configuration

@Suite struct JSON5ScanTests {
    private func fault(_ text: String) -> String? {
        var scan = JSON5Scan(Array(text.utf8))
        do throws(JSON5Scan.Fault) { try scan.run() } catch { return error.description }
        return nil
    }

    @Test(arguments: [
        "{}", "[]", "null", "{a: 1, 'b': [1, 2,], \"c\": .5,}",
        "// x\n{ /* y */ a: +1e3, b: 0xFF, c: -Infinity, d: NaN }",
        "\u{FEFF}{ $key_1: 'it''s'.x }".replacing("''s'.x", with: "\\'s'"), "{ a: \"line \\\n goes on\" }", "{ a: 5. }",
    ])
    func `What is JSON5 has no fault`(text: String) throws {
        #expect(fault(text) == nil)
        // The scan must not know a grammar of its own.
        _ = try ConfigurationFile.json5(Array(text.utf8))
    }

    @Test func `Foundation's own words steer no terminal`() {
        let context = DecodingError.Context(
            codingPath: [JSONTree.Key(stringValue: "c\u{7F}m")].compactMap(\.self), debugDescription: "a number")
        let reason = ConfigurationFile.reason(DecodingError.typeMismatch(String.self, context))
        #expect(reason == "c\u{FFFD}m: a number")
    }

    /// Foundation's reader ends the process at the second X.
    @Test func `A number that is none is refused before Foundation sees it`() {
        for text in ["0X0X", "{a: 0X0X}", "[-0x1x]"] {
            #expect(throws: ConfigurationError.self) { try ConfigurationFile.parse(Array(text.utf8), path: "x") }
        }
    }

    @Test(arguments: [
        ("", "line 1, column 1: a value is missing"),
        ("{ a: 1", "line 1, column 1: \"{\" is never closed"),
        ("{\n  a: 'x\n}", "line 2, column 6: a text that begins here is never closed"),
        ("{a: 1 b: 2}", "line 1, column 7: a comma or } is needed; it was \"b\""),
        ("{a: yes}", "line 1, column 5: yes is not a value; is it a text that lacks its quotes?"),
        ("{a: 09}", "line 1, column 5: 09 is not a number; leave out the zeros before it"),
        ("{a: -007}", "line 1, column 5: -007 is not a value; is it a text that lacks its quotes?"),
        ("{a: +-1}", "line 1, column 5: +-1 is not a value; is it a text that lacks its quotes?"),
        ("{a: [1,,2]}", "line 1, column 8: a value is needed; it was \",\""),
        ("{a 1}", "line 1, column 4: a colon after the key \"a\" is needed; it was \"1\""),
        ("{ \"x\u{1B}[2J\" 1}", "line 1, column 11: a colon after the key \"x\u{FFFD}[2J\" is needed; it was \"1\""),
        ("{} {}", "line 1, column 4: \"{\" after the end of the value"),
        ("{ /* x }", "line 1, column 3: a comment that begins here is never closed"),
        ("{a: 0x}", "line 1, column 5: 0x is not a value; is it a text that lacks its quotes?"),
    ])
    func `A fault says where and what`(text: String, expected: String) {
        #expect(fault(text) == expected)
        #expect(throws: (any Error).self) { try ConfigurationFile.json5(Array(text.utf8)) }
    }
}
