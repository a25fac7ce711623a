// SPDX-License-Identifier: Apache-2.0
import Testing
import WireFormat

@testable import Configuration

@Suite struct JSON5ReaderTests {
    private static let noValue =
        "is not a value; a text needs quotes, and a number has no zeros before it"

    private func read(_ text: String) throws -> JSONValue {
        try JSON5Reader.read(Array(text.utf8)).value
    }

    @Test(arguments: [
        ("{}", "{}"), ("[]", "[]"), ("null", "null"), ("[true, false]", "[true,false]"),
        ("{a: 1, 'b': [1, 2,], \"c\": .5,}", #"{"a":1,"b":[1,2],"c":0.5}"#),
        ("// x\n{ /* y */ a: +1e3, b: 0xFF, c: -Infinity, d: NaN, }", #"{"a":1000,"b":255,"c":-inf,"d":nan}"#),
        ("[-0x10, 5., -0, -1.5, 1E-2, 9007199254740993, 0.0]", "[-16,5,0,-1.5,0.01,9007199254740993,0]"),
        ("\u{FEFF}{ $key_1: 'it\\'s' }", #"{"$key_1":"it's"}"#),
        (#"['\x41\u0042\uD83D\uDE00', "\0\v\b\f\n\r\t\q\"\/"]"#, #"["AB😀","\u0000\u000b\u0008\u000c\n\r\tq\"/"]"#),
        ("{ a: \"line \\\n goes on\", b: 'and \\\r\non' }", #"{"a":"line  goes on","b":"and on"}"#),
        ("{\u{3000}a\u{A0}: /* * */ 1, // x\r\n'\\\u{2028}b': 2,\n}", #"{"a":1,"b":2}"#),
        ("{ größe: 1, 'a\tb': 2 }", #"{"größe":1,"a\tb":2}"#),
    ])
    func `JSON5 is read`(text: String, expected: String) throws {
        #expect(String(decoding: try read(text).bytes(), as: UTF8.self) == expected)
    }

    @Test func `Of a key that stands twice the last holds, in the first's place`() throws {
        let (value, duplicates) = try JSON5Reader.read(Array("{ a: 1, b: 2, a: 3 }".utf8))
        #expect(String(decoding: value.bytes(), as: UTF8.self) == #"{"a":3,"b":2}"#)
        #expect(duplicates.count == 1)
    }

    @Test func `Nesting ends before the stack does`() {
        let fault = #expect(throws: FieldFault.self) { try read(String(repeating: "[", count: 100_000)) }
        #expect(fault?.reason == "not JSON5: line 1, column 33: nested deeper than 32")
    }

    @Test(arguments: [
        ("", "line 1, column 1: a value is missing"),
        ("{ a: 1", "line 1, column 1: this is never closed"),
        ("{ a: [1, {}", "line 1, column 6: this is never closed"),
        ("{\n  a: 'x\n}", "line 2, column 8: a text is not closed in its line"),
        ("{a: 1 b: 2}", "line 1, column 7: a comma or a closing brace is needed"),
        ("{a: yes}", "line 1, column 5: yes \(JSON5ReaderTests.noValue)"),
        ("{a: 09}", "line 1, column 5: 09 \(JSON5ReaderTests.noValue)"),
        ("{a: -007}", "line 1, column 5: -007 \(JSON5ReaderTests.noValue)"),
        ("{a: +-1}", "line 1, column 5: +-1 \(JSON5ReaderTests.noValue)"),
        ("{a: [1,,2]}", "line 1, column 8: a value is needed"),
        ("{a 1}", "line 1, column 4: a colon is needed"),
        ("{ö: ü}", "line 1, column 5: ü \(JSON5ReaderTests.noValue)"),
        ("{} {}", "line 1, column 4: there is something after the end"),
        ("{ /* x }", "line 1, column 3: no comment begins here, or none that ends; // or /* … */"),
        ("{a: 0x}", "line 1, column 5: 0x \(JSON5ReaderTests.noValue)"),
        ("{a: 0X0X}", "line 1, column 5: 0X0X \(JSON5ReaderTests.noValue)"),
        ("[-0x1x]", "line 1, column 2: -0x1x \(JSON5ReaderTests.noValue)"),
        ("[0x-1]", "line 1, column 2: 0x-1 \(JSON5ReaderTests.noValue)"),
        (#"['\x4']"#, "line 1, column 6: two hex digits are needed after \\x"),
        (#"['a\uD83D']"#, "line 1, column 10: half a surrogate pair"),
        (#"['\u+123']"#, "line 1, column 5: four hex digits are needed after \\u"),
        (#"['\1']"#, "line 1, column 5: \\1 stands for no character"),
    ])
    func `A fault says where and what`(text: String, expected: String) {
        let fault = #expect(throws: FieldFault.self) { try read(text) }
        #expect(fault?.reason == "not JSON5: \(expected)")
    }
}
