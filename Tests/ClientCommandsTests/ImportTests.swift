// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ClientCommands
@testable import Terminal

@Suite struct CSVParserTests {
    private func records(_ text: String, piece: Int = .max) throws -> [CSVParser.Record] {
        var parser = CSVParser()
        var records: [CSVParser.Record] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try parser.feed(rest.prefix(piece)) { records.append($0) }
            rest = rest.dropFirst(piece)
        }
        try parser.finish { records.append($0) }
        return records
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

    @Test func `A record knows the line on which it begins`() throws {
        #expect(try records("h\n\n\"a\nb\"\nc\n").map(\.line) == [1, 3, 5])
    }

    @Test(arguments: [
        ("a\n\"b", "line 2: a quote is never closed"),
        ("a\"b\n", "line 1: a quote inside a field that does not begin with one"),
        ("x\n\"a\"b\n", "line 2: a comma or the line's end must follow a closing quote"),
        ("\"a\"\r\"b\"\n", "line 1: a comma or the line's end must follow a closing quote"),
        ("\"a\"\r,b\n", "line 1: a comma or the line's end must follow a closing quote"),
        (String(repeating: ",", count: 1000), "line 1: more than 256 fields"),
    ])
    func `What is not CSV is told with its line`(text: String, message: String) {
        let fault = #expect(throws: CSVParser.Fault.self) { try records(text) }
        #expect(fault?.description == message)
    }

    @Test(arguments: ["plain", "a,b", "a\"b", "a\nb", "", "a\r\n", "\"\u{301}", "x\"\u{200D}\"\u{301}y", ",\u{301}"])
    func `What is written is read again`(field: String) throws {
        #expect(try records("\(CSVParser.quoted(field)),x\n").map(\.fields) == [[field, "x"]])
    }
}

@Suite struct DeviceReaderTests {
    private func items(_ text: String, app: String? = nil, platform: String? = nil, piece: Int = 5) throws -> [String] {
        var reader = DeviceReader(app: app, platform: platform)
        var items: [String] = []
        func keep(_ item: DeviceReader.Item) {
            switch item {
            case .device(let line, let device):
                items.append("\(line) \(device.app) \(device.platform) \(String(decoding: device.json, as: UTF8.self))")
            case .refused(let refused):
                items.append("\(refused.line) refused: \(refused.reason)")
            }
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try reader.feed(Array(rest.prefix(piece)), keep)
            rest = rest.dropFirst(piece)
        }
        try reader.finish(keep)
        return items
    }

    @Test func `CSV becomes lines for the API, by the header's names`() throws {
        let text = "platform,app,token,telephone,version\nios,a,ff,138,1.0\nios,a,fe,,\n"
        #expect(
            try items(text) == [
                #"2 a ios {"token":"ff","telephone":"138","version":"1.0"}"#, #"3 a ios {"token":"fe","telephone":null,"version":null}"#,
            ])
    }

    @Test func `Lines that cannot be placed are refused with their numbers`() throws {
        let text = "app,platform,token\na,ios,ff\na,windows,ff\na,ios\n,ios,ff\n"
        #expect(
            try items(text) == [
                #"2 a ios {"token":"ff"}"#, "3 refused: platform: \"windows\" is not a platform; ios or android",
                "4 refused: 2 fields where the header has 3", "5 refused: app: missing",
            ])
    }

    @Test(arguments: [1, 2, 3, 4, 100])
    func `A byte order mark is passed over, wherever it is cut`(piece: Int) throws {
        for text in ["token\nff\n", "{\"token\":\"ff\"}\n"] {
            let line = text.first == "{" ? 1 : 2
            #expect(
                try items("\u{FEFF}" + text, app: "a", platform: "ios", piece: piece) == [
                    "\(line) a ios {\"token\":\"ff\"}"
                ])
        }
        // Half a mark is no mark, also where nothing follows.
        var reader = DeviceReader(app: "a", platform: "ios")
        try reader.feed([0xEF, 0xBB]) { _ in }
        #expect(throws: CommandFailure.self) { try reader.finish { _ in } }
    }

    @Test func `A file of white space fills no memory`() throws {
        var reader = DeviceReader(app: "a", platform: "ios")
        let piece = [UInt8](repeating: 0x0A, count: 40_000)
        try reader.feed(piece) { _ in }
        let failure = #expect(throws: CommandFailure.self) { try reader.feed(piece) { _ in } }
        #expect(failure?.message == "the file begins with more than 65536 bytes of white space")
    }

    @Test func `NDJSON is handed on as it is`() throws {
        let text = "\n{\"app\":\"a\",\"platform\":\"ios\",\"token\":\"ff\"}\n{\"token\":\"fe\"}\r\n\nnonsense\n"
        #expect(
            try items(text, app: "b", platform: "android") == [
                #"2 a ios {"app":"a","platform":"ios","token":"ff"}"#, #"3 b android {"token":"fe"}"#,
                "5 refused: not JSON, at byte 1: a value is needed",
            ])
    }

    @Test(arguments: [
        ("tokn,app,platform\n", "unknown column \"tokn\"; did you mean \"token\"?"),
        ("token,platform\n", "no column \"app\""), ("token,app\n", "no column \"platform\""),
        ("app,platform\n", "no column \"token\""), ("token,token,app,platform\n", "the column \"token\" twice"),
    ])
    func `A header that cannot be right ends the import`(text: String, message: String) {
        let failure = #expect(throws: CommandFailure.self) { try items(text) }
        #expect(failure?.message.contains(message) == true)
    }

    @Test func `Text is escaped for JSON`() throws {
        let text = "token,telephone\n\"a\"\"b\\c\n\u{1}ü\",\n,1\n,\n"
        #expect(
            try items(text, app: "a", platform: "ios") == [
                #"2 a ios {"token":"a\"b\\c\n\u0001ü","telephone":null}"#, #"4 a ios {"token":null,"telephone":"1"}"#,
                #"5 a ios {"token":null,"telephone":null}"#,
            ])
    }

    @Test func `A line without an end fills no memory and keeps no other out`() throws {
        let text = "{\"token\":\"fe\"}\n{" + String(repeating: "x", count: 1 << 20) + "\n{\"token\":\"ff\"}"
        #expect(
            try items(text, app: "a", platform: "ios") == [
                #"1 a ios {"token":"fe"}"#, "2 refused: the line has more than 1048576 bytes",
                #"3 a ios {"token":"ff"}"#,
            ])
    }
}
