// SPDX-License-Identifier: Apache-2.0

/// Decimal digits, and nothing beside them.
enum Digits {
    static let values = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// The number in one to nine digits; nil for any other text.
    static func number(_ digits: some Collection<UInt8>) -> Int64? {
        guard (1...9).contains(digits.count), digits.allSatisfy({ values.contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }
}
