// SPDX-License-Identifier: Apache-2.0

/// A list of texts as a JSON array, which is how a column of the schema holds one.
enum TextList {
    /// RFC 8259, section 7: quotation mark, reverse solidus and the control characters must be escaped.
    static func json(_ texts: [String]) -> String {
        var json: [UInt8] = [UInt8(ascii: "[")]
        for (position, text) in texts.enumerated() {
            if position > 0 { json.append(UInt8(ascii: ",")) }
            json.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
                case 0..<0x20: json += "\\u00".utf8 + [hex(byte >> 4), hex(byte & 15)]
                default: json.append(byte)
                }
            }
            json.append(UInt8(ascii: "\""))
        }
        json.append(UInt8(ascii: "]"))
        return String(decoding: json, as: UTF8.self)
    }

    /// Reads the array with SQLite's own parser. A number that another program wrote counts as its digits.
    static func texts(_ json: String?, _ connection: SQLiteConnection) throws -> [String]? {
        guard let json else { return nil }
        return try connection.all("SELECT value FROM json_each(?)", .text(json)) { $0.text(0) }
    }

    private static func hex(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
