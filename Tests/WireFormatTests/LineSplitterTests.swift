// SPDX-License-Identifier: Apache-2.0
import Testing
import WireFormat

@Suite struct LineSplitterTests {
    static func lines(_ text: String, pieces: Int, limit: Int = 8) -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines: [String] = []
        func take(_ bytes: [UInt8], _ line: Range<Int>?, _ number: Int) {
            lines.append(line.map { "\(number):\(String(decoding: bytes[$0], as: UTF8.self))" } ?? "\(number)!")
        }
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            splitter.feed(Array(bytes[start..<min(start + pieces, bytes.count)]), take)
        }
        splitter.finish(take)
        return lines
    }

    @Test("lines are the same however the bytes arrive", arguments: [1, 2, 3, 7, 100])
    func splitting(pieces: Int) {
        let text = "a\r\n\n12345678\n123456789\nb"
        #expect(Self.lines(text, pieces: pieces) == ["1:a", "2:", "3:12345678", "4!", "5:b"])
        #expect(Self.lines("a\n", pieces: pieces) == ["1:a"])
        #expect(Self.lines("123456789", pieces: pieces) == ["1!"])
        #expect(Self.lines("", pieces: pieces).isEmpty)
    }
}
