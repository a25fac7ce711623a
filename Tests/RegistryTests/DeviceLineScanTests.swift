// SPDX-License-Identifier: Apache-2.0
import Registry
import Testing

@Suite("Plain lines of an import")
struct DeviceLineScanTests {
    private func columns(_ text: String) -> [String?]? {
        // Inside other bytes: the scan must not read past the line.
        let bytes = Array("\"\(text)\"".utf8)
        guard let scan = DeviceLineScan(bytes, in: 1..<bytes.count - 1) else { return nil }
        let fields: [DeviceField] = [
            .app, .platform, .token, .telephone, .version, .environment, .registeredAt, .deadSince, .seenAt,
        ]
        return fields.map { field in scan[field].map { String(decoding: bytes[$0], as: UTF8.self) } }
    }

    @Test("Each column is found by its name, in any order and however it is spaced")
    func columns() {
        #expect(columns(#"{"token":"ff"}"#) == [nil, nil, "ff", nil, nil, nil, nil, nil, nil])
        #expect(
            columns(#"{"app":"a","platform":"ios","token":"ff","telephone":"138","version":"1.0","environment":"e"}"#)
                == ["a", "ios", "ff", "138", "1.0", "e", nil, nil, nil])
        #expect(
            columns(#"{"deadSince":"d","token":"ff","seenAt":"s","registeredAt":"r"}"#)
                == [nil, nil, "ff", nil, nil, nil, "r", "d", "s"])
        #expect(
            columns("\t{ \"version\" : null , \"telephone\":\"\",\r\n\"token\":\"f f\"} ")
                == [nil, nil, "f f", "", nil, nil, nil, nil, nil])
    }

    @Test("Each field of the table is found, in any order")
    func fields() throws {
        for fields in [DeviceField.allCases, DeviceField.allCases.reversed()] {
            let line = Array("{\(fields.map { "\"\($0.name)\":\"\($0)\"" }.joined(separator: ","))}".utf8)
            let scan = try #require(DeviceLineScan(line, in: 0..<line.count))
            for field in fields {
                #expect(scan.named.contains(field))
                #expect(scan[field].map { String(decoding: line[$0], as: UTF8.self) } == "\(field)")
            }
        }
    }

    @Test(
        "What is not plain is left to others",
        arguments: [
            "", "{", "{}", "[]", "null", #"{"token":"ff""#, #"{"token":"ff"}}"#, #"{"token":"ff",}"#,
            #"{"token":"ff","token":"ff"}"#, #"{"token":null,"token":null}"#, #"{"tokens":"ff"}"#, #"{"Token":"ff"}"#,
            #"{"token":1}"#, #"{"token":true}"#, #"{"token":"f\u0066"}"#, #"{"token":"é"}"#, "{\"token\":\"f\u{7F}\"}",
            "{\"token\":\"f\tf\"}", #"{"token":["ff"]}"#, #"{"token":nul}"#, #"{"token":"ff"#, #"{"token"}"#,
            #"{"token" "ff"}"#, #"{"environmentally":"x"}"#, #"{"":""}"#, #"{"to\u006ben":"ff"}"#, #"{token:"ff"}"#,
            #"{"token":"ff"} x"#, #"{"token":nulls}"#,
        ])
    func others(text: String) {
        #expect(columns(text) == nil)
    }

    @Test("Wherever it is cut, a line is not read beyond its end")
    func cut() {
        let line = Array(#"{"token":"ff","telephone":null}"#.utf8)
        for end in 0..<line.count { #expect(DeviceLineScan(line, in: 0..<end) == nil) }
        #expect(DeviceLineScan(line, in: 0..<line.count) != nil)
    }
}
