// SPDX-License-Identifier: Apache-2.0
import Testing
import WireFormat

@testable import ClientCommands
@testable import Terminal

@Suite struct CSVParserTests {
    /// The records' fields, or what is wrong with a line.
    private func items(
        _ text: String, piece: Int = .max, delimiter: Character = ",", shape: CSVParser.Shape? = nil
    ) throws -> [CSVParser.Item] {
        var parser = CSVParser(delimiter: delimiter.asciiValue ?? 0)
        var items: [CSVParser.Item] = []
        func keep(_ item: CSVParser.Item) -> CSVParser.Shape? {
            items.append(item)
            return shape
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try parser.feed(rest.prefix(piece), keep)
            rest = rest.dropFirst(piece)
        }
        try parser.finish(keep)
        return items
    }

    private func records(_ text: String, piece: Int = .max) throws -> [CSVParser.Record] {
        try items(text, piece: piece).compactMap { item in
            guard case .record(let record) = item else { return nil }
            return record
        }
    }

    private func told(_ items: [CSVParser.Item]) -> [String] {
        items.map { item in
            switch item {
            case .record(let record): "\(record.line) \(record.fields.joined(separator: "|"))"
            case .fault(let fault): "\(fault)"
            }
        }
    }

    private static let table: [(String, [[String]])] = [
        ("a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]),
        ("a,b\n1,2", [["a", "b"], ["1", "2"]]),
        // The byte order mark is the file's, which `DeviceReader` takes away; here it is a character like its neighbours.
        ("\u{FEFF}a\n\u{FF41},\u{FF42}", [["\u{FEFF}a"], ["\u{FF41}", "\u{FF42}"]]),
        ("\u{FF41}\n", [["\u{FF41}"]]),
        ("\"a,b\",\"c\"\"d\",\"e\nf\"\n", [["a,b", "c\"d", "e\nf"]]),
        (",\n", [["", ""]]),
        ("a,\n", [["a", ""]]),
        ("\"\"\n", [[""]]),
        ("\"a\"\r\n\"b\"\r", [["a"], ["b"]]),
        ("a\n\n\r\nb\n", [["a"], ["b"]]),
        ("", []),
        ("ä,北京\n", [["ä", "北京"]]),
        (" a , b \n", [[" a ", " b "]]),
    ]

    @Test(arguments: table)
    func `Records are as RFC 4180 has them, in pieces of any size`(text: String, expected: [[String]]) throws {
        for piece in [1, 2, 3, 7, Int.max] {
            #expect(try records(text, piece: piece).map(\.fields) == expected)
        }
    }

    @Test func `A record knows the line on which it begins, and how it stood there`() throws {
        let records = try records("h\n\n\"a\nb\",1\r\nc\n")
        #expect(records.map(\.line) == [1, 3, 5])
        #expect(records.map { String(decoding: $0.raw, as: UTF8.self) } == ["h", "\"a\nb\",1", "c"])
    }

    private static let notClosed = "a delimiter or the line's end must follow a closing quote"

    @Test(arguments: [
        ("a,b\n\"c,d\ne,f\n", ["1 a|b", "line 2: a quote is never closed", "3 e|f"]),
        (
            "a,b\nc,\"d\ne,f\ng,\"h\ni,j\n",
            [
                "1 a|b", "line 2: \(notClosed)", "3 e|f", "line 4: a quote is never closed", "5 i|j",
            ]
        ),
        ("a\"b,c\nd,e\n", ["line 1: a quote inside a field that does not begin with one", "2 d|e"]),
        ("x,y\n\"a\"b,c\nd,e\n", ["1 x|y", "line 2: \(notClosed)", "3 d|e"]),
        ("\"a\"\r\"b\"\nc,d\n", ["line 1: \(notClosed)", "2 c|d"]),
        // The second quote would make one record of four lines, with the right count.
        (
            "a,b\nc,\"1\nd,2\ne,3\"\nf,4\n",
            [
                "1 a|b", "line 2: a quote is opened here and closed in line 4", "3 d|2",
                "line 4: a quote inside a field that does not begin with one", "5 f|4",
            ]
        ),
        // The count is wrong.
        (
            "a,b\n\"c\nd\"\ne,f\n",
            [
                "1 a|b", "line 2: a quote is opened here and closed in line 3",
                "line 3: a quote inside a field that does not begin with one", "4 e|f",
            ]
        ),
        // A field that may have line breaks.
        ("a,b\n\"c\nd\",e\nf,g\n", ["1 a|b", "2 c\nd|e", "4 f|g"]),
        (String(repeating: ",", count: 1000) + "\na,b\n", ["line 1: more than 256 fields", "2 a|b"]),
    ])
    func `What is not CSV costs its own record, and lines keep their numbers`(text: String, expected: [String]) throws {
        let shape = CSVParser.Shape(count: 2, plain: [1], keepsRaw: true)
        for piece in [1, 2, 3, 7, Int.max] {
            #expect(told(try items(text, piece: piece, shape: shape)) == expected, "in pieces of \(piece)")
        }
    }

    @Test func `A quote that is opened and not closed is given up soon`() throws {
        let lines = (2...20_000).map { "\($0),x\n" }.joined()
        let items = try items(
            "a,b\n\"" + lines, piece: 4096, shape: CSVParser.Shape(count: 2, plain: [], keepsRaw: false))
        #expect(items.count == 20_000)
        #expect(told(Array(items[1...2])) == ["line 2: a quote is opened and not closed within 65536 bytes", "3 3|x"])
        #expect(told([try #require(items.last)]) == ["20000 20000|x"])
    }

    @Test func `A line that is too long fills no memory and costs itself alone`() throws {
        let text = "a\n" + String(repeating: "x", count: 200_000) + "\nb\n"
        for piece in [1000, 65_536, Int.max] {
            #expect(
                told(try items(text, piece: piece)) == ["1 a", "line 2: the line has more than 65536 bytes", "3 b"])
        }
    }

    @Test(arguments: ["plain", "a,b", "a\"b", "a\nb", "", "a\r\n", "\"\u{301}", "x\"\u{200D}\"\u{301}y", ",\u{301}"])
    func `What is written is read again`(field: String) throws {
        var written: [UInt8] = []
        CSVText.append([field, "x"], to: &written)
        #expect(try records(String(decoding: written, as: UTF8.self)).map(\.fields) == [[field, "x"]])
    }
}
