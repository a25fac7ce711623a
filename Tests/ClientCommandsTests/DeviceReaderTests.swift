// SPDX-License-Identifier: Apache-2.0
import Registry
import Testing
import UpgradeRules
import WireFormat

@testable import ClientCommands
@testable import Terminal

@Suite struct DeviceReaderTests {
    private struct Reading {
        var items: [String] = []
        var warnings: [String] = []
        var doubts = DoubtTally()
        var raws: [String] = []
    }

    private func read(
        _ bytes: [UInt8], app: String? = "a", platform: String? = "ios", isStrict: Bool = false, piece: Int = 5
    ) throws -> Reading {
        var reader = DeviceReader(app: app, platform: platform, isStrict: isStrict, keepsRaw: true)
        var reading = Reading()
        func keep(_ item: DeviceReader.Item) {
            switch item {
            case .device(let line, let device):
                reading.items.append(
                    "\(line) \(device.app) \(device.platform) \(String(decoding: device.json, as: UTF8.self))")
            case .refused(let refused):
                reading.items.append("\(refused.line) refused: \(refused.reason)")
                reading.raws.append(refused.raw.map { String(decoding: $0, as: UTF8.self) } ?? "none")
            }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            try reader.feed(Array(rest.prefix(piece)), keep)
            rest = rest.dropFirst(piece)
        }
        try reader.finish(keep)
        reading.warnings = reader.takeWarnings()
        reading.doubts = reader.doubts
        return reading
    }

    private func items(_ text: String, app: String? = nil, platform: String? = nil, piece: Int = 5) throws -> [String] {
        try read(Array(text.utf8), app: app, platform: platform, piece: piece).items
    }

    @Test func `CSV becomes lines for the API, by the header's names`() throws {
        let text = "platform,app,token,telephone,version\nios,a,ff,138,1.0\nios,a,fe,,\n"
        #expect(
            try items(text) == [
                #"2 a ios {"token":"ff","telephone":"138","version":"1.0"}"#,
                #"3 a ios {"token":"fe","telephone":null,"version":null}"#,
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
        // Half a byte order mark is none, also where nothing follows.
        #expect(throws: CommandFailure.self) { try read([0xEF, 0xBB]) }
    }

    @Test(arguments: [1, 2, 3, 1000])
    func `UTF-16 is read, with a mark and without`(piece: Int) throws {
        let text = "token;telephone\nff;138\u{1F4F1}\nfe;1\n"
        func bytes(_ mark: Bool, little: Bool) -> [UInt8] {
            ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit in
                let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
                return little ? pair.reversed() : pair
            }
        }
        for (mark, little) in [(true, true), (true, false), (false, true), (false, false)] {
            #expect(
                try read(bytes(mark, little: little), piece: piece).items == [
                    "2 a ios {\"token\":\"ff\",\"telephone\":\"138\u{1F4F1}\"}",
                    #"3 a ios {"token":"fe","telephone":"1"}"#,
                ])
        }
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0, 0, 0x74, 0, 0, 0], "UTF-32"), ([0x1F, 0x8B, 8, 0], "gzip"),
            (Array("PK\u{3}\u{4}rest".utf8), "workbook"), ([0xD0, 0xCF, 0x11, 0xE0, 0xA1], "old Excel"),
            // "token,备注" and "token,Prénom"
            (Array("token,".utf8) + [0xB1, 0xB8, 0xD7, 0xA2, 0x0A, 0x66, 0x66, 0x2C, 0x0A], "GBK"),
            (Array("token,Pr".utf8) + [0xE9] + Array("nom\nff,\n".utf8), "Latin-1"),
        ] as [([UInt8], String)])
    func `Another encoding is refused by its name`(bytes: [UInt8], name: String) {
        let failure = #expect(throws: CommandFailure.self) { try read(bytes) }
        #expect(failure?.message.contains(name) == true, "\(failure?.message ?? "")")
        #expect(failure?.hint != nil)
    }

    @Test func `A damaged byte costs its line, and what is not read is not looked at`() throws {
        let good = Array("token,telephone,note\nff,\u{4E00},x\n".utf8)
        let bytes = good + Array("fe,13".utf8) + [0xFF] + Array(",x\nfd,1,".utf8) + [0xC3] + Array("\u{4E8C}\n".utf8)
        #expect(
            try read(bytes).items == [
                "2 a ios {\"token\":\"ff\",\"telephone\":\"\u{4E00}\"}", "3 refused: telephone: not in UTF-8",
                #"4 a ios {"token":"fd","telephone":"1"}"#,
            ])
    }

    @Test(arguments: [
        "token;telephone\nff;1\n", "token\ttelephone\nff\t1\n", "sep=;\ntoken;telephone\nff;1\n",
        "\"sep=|\"\r\ntoken|telephone\r\nff|1\r\n", "\"token\";\"telephone\"\n\"ff\";\"1\"\n",
        "telephone;token;a,b\n1;ff;x\n",
    ])
    func `The delimiter is known by the header, or announced`(text: String) throws {
        let items = try items(text, app: "a", platform: "ios")
        #expect(items.count == 1)
        #expect(items.first?.hasSuffix(#"a ios {"token":"ff","telephone":"1"}"#) == true, "\(items)")
        #expect(items.first?.hasPrefix(text.contains("sep") ? "3 " : "2 ") == true)
    }

    @Test func `A stray quote costs its record, and refused lines come as they stood`() throws {
        let text = "sep=,\ntoken,telephone\nff,1\nfe,\"2\nfd,3\nfc\nfb,4\n"
        let reading = try read(Array(text.utf8))
        #expect(
            reading.items == [
                #"3 a ios {"token":"ff","telephone":"1"}"#, "4 refused: a quote is never closed",
                #"5 a ios {"token":"fd","telephone":"3"}"#, "6 refused: 1 fields where the header has 2",
                #"7 a ios {"token":"fb","telephone":"4"}"#,
            ])
        #expect(reading.raws == ["fe,\"2", "fc"])
    }

    @Test(arguments: [
        ("token,phone", "the column \"phone\" is ignored; did you mean \"telephone\"?"),
        ("token,Mobile Number", "the column \"Mobile Number\" is ignored; did you mean \"telephone\"?"),
        ("token,app_version", "the column \"app_version\" is ignored; did you mean \"version\"?"),
        ("token,telephon", "the column \"telephon\" is ignored; did you mean \"telephone\"?"),
        ("token,retiredAt", "the column \"retiredAt\" is ignored; did you mean \"deadSince\"?"),
        ("token,nickname", "the column \"nickname\" is ignored"), ("token,", "a column without a name is ignored"),
    ])
    func `An unknown column is ignored with a warning`(header: String, warning: String) throws {
        let reading = try read(Array("\(header)\nff,1\n".utf8))
        #expect(reading.items == [#"2 a ios {"token":"ff"}"#])
        #expect(reading.warnings == [warning])
    }

    @Test func `A column that a synonym stands for is asked for by its name`() {
        let failure = #expect(throws: CommandFailure.self) { try items("device_token,app,platform\nff,a,ios\n") }
        #expect(failure?.message == "the header names no column \"token\"")
        #expect(failure?.hint == "rename the column \"device_token\" to \"token\"")
    }

    @Test(arguments: ["", "\n \r\n", "\u{FEFF}"]) func `An empty file is an error`(text: String) {
        let failure = #expect(throws: CommandFailure.self) { try items(text, app: "a", platform: "ios") }
        #expect(failure?.message == "the file is empty")
    }

    @Test func `So is one without devices`() {
        let failure = #expect(throws: CommandFailure.self) { try items("token\n\n", app: "a", platform: "ios") }
        #expect(failure?.message == "the file has a header and no devices")
    }

    @Test func `A file of white space fills no memory`() throws {
        var reader = DeviceReader(app: "a", platform: "ios")
        let piece = [UInt8](repeating: 0x0A, count: 40_000)
        try reader.feed(piece) { _ in }
        let failure = #expect(throws: CommandFailure.self) { try reader.feed(piece) { _ in } }
        #expect(failure?.message == "the file begins with 65536 bytes of white space")
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
        ("tokn,app,platform\nff,a,ios\n", "no column \"token\""),
        ("token,platform\n", "no column \"app\""), ("token,app\n", "no column \"platform\""),
        ("app,platform\n", "no column \"token\""), ("token,token,app,platform\n", "the column \"token\" twice"),
        ("to\"ken,app,platform\n", "the header cannot be read: line 1: a quote inside"),
    ])
    func `A header that cannot be right ends the import`(text: String, message: String) {
        let failure = #expect(throws: CommandFailure.self) { try items(text) }
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }

    @Test func `Text is escaped for JSON`() throws {
        let text = "token,telephone,note\nff,\"a\"\"b\\c\u{1}ü\",\"x\ny\"\n,1,\n,,\n"
        #expect(
            try items(text, app: "a", platform: "ios") == [
                #"2 a ios {"token":"ff","telephone":"a\"b\\c\u0001ü"}"#, #"4 a ios {"token":null,"telephone":"1"}"#,
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

    @Test(arguments: [
        "1.38E+10", "1e10", "-1.5e-3", "13800138000.0", " 138", "138\t", "\u{FF11}\u{FF13}", "138\u{A0}", "\u{202D}138",
        "13\u{FFFD}", "'138", "=\"138\"", "\n138", "0", "+000",
    ])
    func `What a spreadsheet made of a number is known`(telephone: String) {
        #expect(ValueDoubt.telephone(telephone.utf8) == .converted)
    }

    @Test(arguments: [
        "NULL", "n/a", "NA", "\\N", "None", "-", "(null)", "<null>", "<NULL>", "(nil)", "nil", "[null]", "{}", "()",
        "\"\"", " (null) ",
        "Optional(\"13800138000\")", "Optional(138)", "Optional[138]", "Optional.empty", "Some(138)", "[object Object]",
        "undefined", "NaN",
        "User@1b6d3586", "com.example.User@1b6d3586", "[B@6d06d69c", "<UITextField: 0x7f>", "${phone}", "{{phone}}",
        "%@", "b'138'",
        "{\"tel\":1}", "false",
    ])
    func `What a program printed in the place of a number is known`(telephone: String) {
        #expect(ValueDoubt.telephone(telephone.utf8) == .noValue)
    }

    @Test(arguments: [
        "", "13800138000", "+8613800138000", "+86 138-0013", "(010) 1234-5678", "user@example.com", "user@cafe.de",
        "1.2.3", "e10",
        "nullable", "Optionalis", "u-42",
    ])
    func `What one may equal is left alone`(telephone: String) {
        #expect(ValueDoubt.telephone(telephone.utf8) == nil)
    }

    @Test(
        arguments: [
            (.version, "9999.0", .noRelease), (.version, "0", .noRelease), (.version, "0.0.0", .noRelease),
            (.version, "999", .noRelease),
            (.version, "1.2147483647", .noRelease), (.version, "65535.65535", .noRelease),
            (.version, "1.2.2024", .noRelease),
            (.version, "2.99.1", nil), (.version, "2024.1.2", nil), (.version, "1203", nil), (.version, "0.1", nil),
            (.version, "1.9.0", nil),
            (.osVersion, "0", .noSystem), (.osVersion, "9999", .noSystem), (.osVersion, "0.0", .noSystem),
            (.osVersion, "17.1", nil),
            (.osVersion, "34", nil), (.osVersion, "120.1", .noSystem),
            (.country, "ZZ", .noCountry), (.country, "XX", .noCountry), (.country, "AA", .noCountry),
            (.country, "QM", .noCountry),
            (.country, "EU", .noCountry), (.country, "XK", nil), (.country, "DE", nil), (.country, "NA", nil),
            (.seenAt, "1970-01-01T00:00:00Z", .noTime), (.registeredAt, "9999-12-31T00:00:00Z", .noTime),
            (.deadSince, "0001-01-01T00:00:00Z", .noTime), (.seenAt, "2026-01-01T00:00:00Z", nil),
            (.token, "fee", .oddToken), (.token, "feed", nil),
        ] as [(DeviceField, String, ValueDoubt?)])
    func `Each column has what can hardly be meant`(column: DeviceField, value: String, doubt: ValueDoubt?) throws {
        #expect(DeviceDoubt(Array(value.utf8)[...], of: column, on: .ios)?.doubt == doubt)
        // All doors of an import: a table, a plain line, and one with an escape.
        let header = column == .token ? "token,version" : "token,\(column.name)"
        let csv = "\(header)\n" + (column == .token ? "\(value),1.0" : "ff,\(value)") + "\n"
        let line =
            column == .token ? "{\"token\":\"\(value)\"}\n" : "{\"token\":\"ff\",\"\(column.name)\":\"\(value)\"}\n"
        let escaped = line.replacing("\"token\"", with: "\"t\\u006fken\"")
        for text in [csv, line, escaped] {
            let loose = try read(Array(text.utf8))
            #expect(loose.doubts.doubts.map(\.doubt) == [doubt].compactMap(\.self), "\(text)")
            #expect(loose.items.count == 1 && !loose.items[0].contains("refused"), "stored as it is")
            let strict = try read(Array(text.utf8), isStrict: true)
            #expect(strict.items.first?.contains("refused") == (doubt != nil), "\(text)")
        }
    }

    @Test func `Every column that holds a value of a device is judged, or is one that has a fixed form`() {
        let fixed: [DeviceField] = [.app, .platform, .environment]
        #expect(Set(DeviceDoubt.columns + fixed) == Set(DeviceLine.columns))
    }

    @Test func `It is counted with its first example, stored as it is, and refused where that is asked for`() throws {
        let text = "token,telephone\nff,NULL\nfee,1\nfd,null\n"
        let json = "{\"token\":\"fa\",\"telephone\":\"NULL\"}\n{\"token\":\"f\\u0061b\",\"telephone\":\"1\"}\n"
        let reading = try read(Array(text.utf8))
        #expect(reading.items.count == 3)
        #expect(reading.items.first == #"2 a ios {"token":"ff","telephone":"NULL"}"#)
        let entries = Dictionary(uniqueKeysWithValues: reading.doubts.entries.map { ($0.key.doubt, $0.value) })
        #expect(entries[.noValue] == DoubtTally.Entry(count: 2, line: 2, example: "NULL"))
        #expect(entries[.oddToken] == DoubtTally.Entry(count: 1, line: 3, example: "fee"))
        #expect(
            ImportReport.warning(reading.doubts, isStrict: false).first
                == "2 lines: phone number that a program printed where it had none, such as \"NULL\" in line 2; stored as it is "
                + "(--strict refuses it)")
        #expect(
            try read(Array(text.utf8), isStrict: true).items == [
                "2 refused: phone number that a program printed where it had none",
                "3 refused: token of an odd number of hex digits",
                "4 refused: phone number that a program printed where it had none",
            ])
        #expect(
            try read(Array(json.utf8), isStrict: true).items == [
                "1 refused: phone number that a program printed where it had none",
                "2 refused: token of an odd number of hex digits",
            ])
        #expect(try read(Array("token\nfee\n".utf8), platform: "android").doubts == DoubtTally())
    }

    @Test(arguments: [
        ("token,telephone\rff,138\r", "tr '\\r' '\\n'"), ("[{\"token\":\"ff\"}]", "jq -c '.[]'"),
        (" [\n{}]", "jq -c '.[]'"),
    ])
    func `A file of another form is named, with the way`(text: String, hint: String) {
        let failure = #expect(throws: CommandFailure.self) { try read(Array(text.utf8)) }
        #expect(failure?.hint?.contains(hint) == true)
    }

    @Test func `A platform may be written as its maker writes it`() throws {
        #expect(
            try items("app,platform,token\na,iOS,ff\na,ANDROID,t\n", app: nil, platform: nil) == [
                #"2 a ios {"token":"ff"}"#, #"3 a android {"token":"t"}"#,
            ])
    }
}
