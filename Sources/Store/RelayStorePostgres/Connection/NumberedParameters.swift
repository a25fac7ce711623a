// SPDX-License-Identifier: Apache-2.0

/// The parameters of a statement that is written for SQLite: `?` has the number after the highest so far, `?3` is the
/// third (sqlite.org/lang_expr.html#varparam).
enum NumberedParameters {
    /// The same text with `$1`, `$2` in their place. Quoted text stays as it is.
    static func numbered(_ text: String) -> String {
        var numbered: [UInt8] = []
        numbered.reserveCapacity(text.utf8.count + 16)
        var highest = 0
        var quote: UInt8?
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if let open = quote {
                if byte == open { quote = nil }
                numbered.append(byte)
                continue
            }
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                quote = byte
                numbered.append(byte)
            case UInt8(ascii: "?"):
                let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                rest.removeFirst(digits.count)
                let number = Int(String(decoding: digits, as: UTF8.self)) ?? highest + 1
                highest = max(highest, number)
                numbered += Array("$\(number)".utf8)
            default: numbered.append(byte)
            }
        }
        return String(decoding: numbered, as: UTF8.self)
    }
}
