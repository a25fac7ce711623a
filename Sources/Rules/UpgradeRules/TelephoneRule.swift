// SPDX-License-Identifier: Apache-2.0

/// Whether two telephone numbers are the same to the apps: literally, code unit by code unit.
///
/// The client compares with NSString equality, which compares UTF-16 code units (SEEDS S2). Nothing is trimmed,
/// normalised or folded: "+86 138…" is not "138…", full-width digits are not digits, and an "é" written as one scalar is
/// not an "é" written as two. Swift's own `==` on `String` is a different rule (canonical equivalence) and must not be
/// used for telephones.
///
/// This compares UTF-8 bytes instead of UTF-16 units. For valid Unicode that is the same question: both
/// encodings turn each sequence of Unicode scalars into exactly one sequence of units and back, so two texts have equal
/// UTF-16 units if and only if they have equal scalars, if and only if they have equal UTF-8 bytes (RFC 3629, section 3).
/// A Swift `String` is always valid Unicode; bytes that are not valid UTF-8 equal only the same bytes.
public enum TelephoneRule {
    /// Whether the app of the user `left` would take a push for the user `right`.
    ///
    /// False where either side is missing, even where both are. An empty text is not missing: it equals another empty
    /// text, as it does in the client.
    public static func matches(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return false }
        return left.utf8.elementsEqual(right.utf8)
    }

    /// Other spellings of the same number: digits only, with and without "+" or "00", without a country code of one to three
    /// digits, and with the country codes that other telephones have before a number of this length. They serve to suggest
    /// the number that is registered; no comparison uses them.
    ///
    /// - Parameter others: telephones of other users; up to `mostHabits` different country codes of them are tried.
    package static func spellings(of telephone: String, like others: [String] = []) -> [String] {
        var digits = String(telephone.unicodeScalars.filter { ("0"..."9").contains($0) })
        let isInternational = telephone.contains("+") || digits.hasPrefix("00")
        if digits.hasPrefix("00") { digits.removeFirst(2) }
        guard digits.utf8.count >= 5 else { return [] }
        var found = [digits, "+\(digits)", "00\(digits)"]
        if isInternational {
            found += (1...3).flatMap { [String(digits.dropFirst($0)), "0\(digits.dropFirst($0))"] }
        } else {
            let national = digits.hasPrefix("0") ? String(digits.dropFirst()) : digits
            if national != digits { found.append(national) }
            var habits: [String] = []
            for other in others where habits.count < mostHabits {
                guard let beginning = countryCode(of: other, before: national.utf8.count), !habits.contains(beginning)
                else { continue }
                habits.append(beginning)
            }
            found += habits.map { $0 + national }.filter { !found.contains($0) }
        }
        return found.filter { !matches($0, telephone) }
    }

    private static let mostHabits = 5

    /// The country code before the last `digits` digits, with its "+" or zeros: "+86" for "+8613800138000" and 11. Nil where
    /// there is none.
    private static func countryCode(of telephone: String, before digits: Int) -> String? {
        let beginning = telephone.utf8.dropLast(digits)
        let code = beginning.starts(with: "+".utf8) ? beginning.dropFirst() : beginning.drop { $0 == UInt8(ascii: "0") }
        guard (1...3).contains(code.count), beginning.count - code.count <= 2,
            code.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), code.first != UInt8(ascii: "0")
        else { return nil }
        return String(beginning)
    }
}
