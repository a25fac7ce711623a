// SPDX-License-Identifier: Apache-2.0

/// CSV for a spreadsheet: a cell that it would take for a formula gets an apostrophe before it (OWASP, "CSV Injection").
/// Pieces in, pieces out; a piece may end anywhere.
struct SpreadsheetText {
    private enum Place {
        case start
        /// Behind the quote that opens a cell.
        case quoteOpened
        case unquoted
        case quoted
    }

    private var place = Place.start
    private static let dangerous: Set<UInt8> = Set("=+-@\t\r".utf8)

    mutating func escaped(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if place == .start, byte == UInt8(ascii: "\"") {
                place = .quoteOpened
            } else {
                let isFirst = place == .start || place == .quoteOpened
                if isFirst, Self.dangerous.contains(byte) { result.append(UInt8(ascii: "'")) }
                if isFirst { place = place == .start ? .unquoted : .quoted }
                switch (place, byte) {
                // A quote within a cell stands twice: the second opens it again.
                case (.quoted, UInt8(ascii: "\"")): place = .unquoted
                case (.unquoted, UInt8(ascii: "\"")): place = .quoted
                case (.unquoted, UInt8(ascii: ",")), (.unquoted, UInt8(ascii: "\n")): place = .start
                default: break
                }
            }
            result.append(byte)
        }
        return result
    }
}
