// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import WireFormat

@Suite("JSON out")
struct JSONWriterTests {
    static func text(_ content: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        content(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("objects, arrays and commas")
    func structure() {
        let text = Self.text { writer in
            writer.object { writer in
                writer.member("a", 1)
                writer.member("b", nil)
                writer.name("c")
                writer.array([1, 2]) { writer, _ in writer.object { _ in } }
                writer.member("d", [] as [String])
                writer.name("e")
                writer.raw(Array("{}".utf8))
                writer.name("f")
                writer.bool(true)
            }
        }
        #expect(text == #"{"a":1,"b":null,"c":[{},{}],"d":[],"e":{},"f":true}"#)
    }

    @Test("whatever a text holds, a reader gets it back")
    func escapes() throws {
        let all = (0..<0x300).compactMap { Unicode.Scalar($0) }.map { String(Character($0)) }.joined() + "🚀\u{2028}"
        var writer = JSONWriter()
        writer.string(all)
        #expect(try JSONReader.read(writer.bytes) == .string(all))
        #expect(Self.text { $0.string("\u{1}\u{1F}\"\\/\n") } == #""\u0001\u001f\"\\/\n""#)
    }

    @Test(
        "decimals",
        arguments: [
            (0.0, "0"), (0.04, "0"), (0.05, "0.1"), (12.34, "12.3"), (-0.5, "-0.5"), (-0.01, "0"), (1e6, "1000000"),
            (.nan, "0"), (.infinity, "0"), (-3e16, "-1000000000000000"),
        ])
    func decimals(value: Double, text: String) {
        #expect(Self.text { $0.decimal(value) } == text)
    }

    @Test(
        "instants in RFC 3339",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ])
    func instants(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).internetTime == text)
    }
}
