// SPDX-License-Identifier: Apache-2.0

/// One device of an import: where it belongs, and the line that the API gets.
struct DeviceLine: Sendable, Equatable {
    /// The columns of CSV and NDJSON (CONTRACT, "Commands").
    static let columns = ["app", "platform", "token", "telephone", "version", "environment"]

    var app: String
    var platform: String
    /// NDJSON without its line end.
    var json: [UInt8]

    /// - Parameter values: by column; what is empty counts as absent, because CSV cannot say null.
    init(app: String, platform: String, values: [String: String]) {
        self.app = app
        self.platform = platform
        json = [UInt8(ascii: "{")]
        for column in Self.columns.dropFirst(2) {
            guard let value = values[column], !value.isEmpty else { continue }
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            Self.append(column, to: &json)
            json.append(UInt8(ascii: ":"))
            Self.append(value, to: &json)
        }
        json.append(UInt8(ascii: "}"))
    }

    /// A line that came as JSON and is handed on as it is.
    init(app: String, platform: String, json: [UInt8]) {
        self.app = app
        self.platform = platform
        self.json = json
    }

    /// A JSON string (RFC 8259, 7).
    static func append(_ text: String, to output: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                output += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default:
                output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}

/// A line of an import that is not stored, and why.
struct RefusedLine: Error, Sendable, Equatable {
    /// In the file, from 1.
    var line: Int
    var reason: String
}
