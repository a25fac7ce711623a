// SPDX-License-Identifier: Apache-2.0

/// A country by its two letters (ISO 3166-1 alpha-2), in upper case, as it is stored. Whether they are assigned is not
/// checked: stores have some of their own.
@usableFromInline package enum CountryCode {
    /// - Parameter bytes: UTF-8.
    @inlinable
    package static func isOne(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count == 2 && bytes.allSatisfy { $0 &- UInt8(ascii: "A") < 26 }
    }
}

extension BodyFields {
    /// A country by its two letters (ISO 3166-1 alpha-2), in upper case.
    fileprivate mutating func country(_ name: String) -> String? {
        guard let text = string(name, example: "DE") else { return nil }
        let country = text.uppercased()
        if CountryCode.isOne(country.utf8) { return country }
        refuse(
            name,
            "the two letters of a country are needed (ISO 3166-1), such as \"DE\"; got \(JSONValue.string(text).sight)")
        return nil
    }
}

extension ValueDoubt {
    /// - Parameter bytes: two capital letters. The codes that ISO 3166-1 leaves to its users stand for no country, except
    ///   Kosovo's XK; nor do AP and EU.
    package static func country(_ bytes: some Collection<UInt8>) -> ValueDoubt? {
        let letters = Array(bytes)
        guard letters.count == 2 else { return nil }
        let (first, second) = (letters[0], letters[1])
        let isUsers =
            switch first {
            case UInt8(ascii: "A"): second == UInt8(ascii: "A") || second == UInt8(ascii: "P")
            case UInt8(ascii: "E"): second == UInt8(ascii: "U")
            case UInt8(ascii: "Q"): (UInt8(ascii: "M")...UInt8(ascii: "Z")).contains(second)
            case UInt8(ascii: "X"): second != UInt8(ascii: "K")
            case UInt8(ascii: "Z"): second == UInt8(ascii: "Z")
            default: false
            }
        return isUsers ? .noCountry : nil
    }
}

extension DeviceText {
    package static let country = DeviceText(
        isPlain: { CountryCode.isOne($0[$1]) }, read: { fields, name, _ in fields.country(name) },
        doubt: { .country($0) })
}
