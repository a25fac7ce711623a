// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import WireFormat

@Suite("JSON")
struct JSONReaderTests {
    @Test(
        "values keep what was written",
        arguments: [
            ("null", JSONValue.null), (" true\n", .bool(true)), ("-0.10e+5", .number("-0.10e+5")),
            ("13800138000123456789012345", .number("13800138000123456789012345")), ("0", .number("0")),
            (#""a\"\\\/\b\f\n\r\té""#, .string("a\"\\/\u{8}\u{C}\n\r\té")), (#""\ud83d\ude80""#, .string("🚀")),
            ("[]", .array([])), ("[1, [2]]", .array([.number("1"), .array([.number("2")])])), ("{}", .object([])),
            (
                #"{"b": 1, "a": {}}"#,
                .object([
                    JSONMember(name: "b", value: .number("1")), JSONMember(name: "a", value: .object([])),
                ])
            ),
        ])
    func values(text: String, value: JSONValue) throws {
        #expect(try JSONReader.read(Array(text.utf8)) == value)
    }

    @Test(
        "what RFC 8259 does not allow is refused",
        arguments: [
            "", " ", "{", "[", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "'a'", "\"a", "\"\\x\"",
            "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\u{1}\"", "\"\\n\u{1}\"", "01", "1.",
            ".5",
            "-", "1e", "+1", "tru", "nul", "NaN", "1 2", "{} x", "{\"a\":1,\"a\":2}", "\u{FEFF}", "\u{FEFF}\u{FEFF}{}",
            "{\u{FEFF}}", "\"\\",
        ])
    func refused(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test("UTF-8 that is none is refused")
    func badUTF8() {
        #expect(throws: JSONSyntaxError.self) { try JSONReader.read([0x22, 0xC0, 0x80, 0x22]) }
        #expect(throws: JSONSyntaxError.self) { try JSONReader.read([0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }

    @Test("depth and breadth are bounded")
    func bounds() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try JSONReader.read(nested(JSONReader.maximumDepth))
        #expect(throws: JSONSyntaxError.self) { try JSONReader.read(nested(JSONReader.maximumDepth + 1)) }
        #expect(throws: JSONSyntaxError.self) { try JSONReader.read(nested(100_000)) }
        let broad = (0...JSONReader.maximumMembers).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(throws: JSONSyntaxError.self) { try JSONReader.read(Array("{\(broad)}".utf8)) }
    }

    @Test("a fault's place counts from the part that was read")
    func place() {
        let bytes = Array("{}\n{\"a\" 1}".utf8)
        #expect(throws: JSONSyntaxError(offset: 5, reason: "a colon is needed")) {
            try JSONReader.read(bytes, in: 3..<bytes.count)
        }
    }
}
