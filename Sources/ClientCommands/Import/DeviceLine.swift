// SPDX-License-Identifier: Apache-2.0

/// One device of an import: where it belongs, and the line that the API gets.
package struct DeviceLine: Sendable, Equatable {
    /// The columns of CSV and NDJSON (CONTRACT, "Commands").
    package static let columns = ["app", "platform", "token", "telephone", "version", "environment"]

    package var app: String
    package var platform: String
    /// NDJSON without its line end.
    package var json: [UInt8]

    /// - Parameter values: by column; what is empty counts as absent, because CSV cannot say null.
    package init(app: String, platform: String, values: [String: String]) {
        self.app = app
        self.platform = platform
        json = []
        let texts = Self.columns.dropFirst(2).map { Array((values[$0] ?? "").utf8) }
        Self.append(to: &json) { texts[$0][...] }
    }

    /// A line that came as JSON and is handed on as it is.
    package init(app: String, platform: String, json: [UInt8]) {
        self.app = app
        self.platform = platform
        self.json = json
    }

    /// The object of a device, from its token on.
    ///
    /// - Parameter value: of each column behind app and platform, from 0; empty: none.
    package static func append(to output: inout [UInt8], _ value: (Int) -> ArraySlice<UInt8>) {
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for (index, name) in names.enumerated() {
            let value = value(index)
            guard !value.isEmpty else { continue }
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            output.append(contentsOf: name)
            append(value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// As they stand before their values.
    private static let names = columns.dropFirst(2).map { Array("\"\($0)\":".utf8) }

    /// A JSON string of text that may be no valid UTF-8: JSON must be (RFC 8259, 8.1), and what is not becomes U+FFFD.
    package static func append(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) {
        guard text.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
            return append(String(decoding: text, as: UTF8.self), to: &output)
        }
        output.append(UInt8(ascii: "\""))
        output.append(contentsOf: text)
        output.append(UInt8(ascii: "\""))
    }

    /// A JSON string (RFC 8259, 7).
    package static func append(_ text: String, to output: inout [UInt8]) {
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
package struct RefusedLine: Error, Sendable, Equatable {
    /// In the file, from 1.
    package var line: Int
    package var reason: String
}
