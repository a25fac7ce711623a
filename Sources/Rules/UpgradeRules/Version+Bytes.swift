// SPDX-License-Identifier: Apache-2.0

extension Version {
    /// Whether a version in UTF-8, as a batch of devices holds it, is older than `required`: allocates nothing.
    ///
    /// Takes exactly what `Version(_:)` takes and answers what `Version(text) < required` would.
    ///
    /// - Parameters:
    ///   - arena: UTF-8 texts, one after another.
    ///   - range: the place of the version. Must lie inside the arena.
    ///   - required: the version to compare with.
    /// - Returns: nil when the bytes are not a version.
    @inlinable
    public static func isOlder(_ arena: [UInt8], _ range: Range<Int>, than required: Version) -> Bool? {
        order(arena, range, required).map { $0 == .older }
    }

    /// The order of a version in UTF-8 and another one.
    public enum Order: Hashable, Sendable {
        case older, same, newer
    }

    /// The same, with all three results of a comparison.
    ///
    /// - Returns: the order of the version in bytes and `other`; nil when the bytes are not a version.
    @inlinable
    public static func order(_ arena: [UInt8], _ range: Range<Int>, _ other: Version) -> Order? {
        guard range.count <= maximumLength else { return nil }
        var order: Order?  // decided by the first segment that differs; the rest is only checked
        var segment = 0
        var value: UInt64 = 0
        var digits = 0
        var significantDigits = 0
        var place = range.lowerBound
        while true {
            let atEnd = place == range.upperBound
            let byte = atEnd ? UInt8(ascii: ".") : arena[place]
            if byte == UInt8(ascii: ".") {
                guard digits > 0 else { return nil }
                if order == nil {
                    let number = segment < other.segments.count ? other.segments[segment] : 0
                    if value != number { order = value < number ? .older : .newer }
                }
                if atEnd { break }
                segment += 1
                (value, digits, significantDigits) = (0, 0, 0)
            } else {
                let digit = byte &- UInt8(ascii: "0")
                guard digit < 10 else { return nil }
                digits += 1
                if significantDigits > 0 || digit > 0 { significantDigits += 1 }
                guard significantDigits <= maximumDigits else { return nil }
                value = value &* 10 &+ UInt64(digit)  // at most 18 digits: below 2^63
            }
            place += 1
        }
        // Equal so far: older if `other` goes on, because its last segment is never a trailing zero.
        return order ?? (other.segments.count > segment + 1 ? .older : .same)
    }
}
