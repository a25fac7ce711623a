// SPDX-License-Identifier: Apache-2.0
import WireFormat

extension PageLanguage {
    /// A text of the page in this language. The English text is the key, as with gettext(3); each "%" stands for a value, in
    /// order.
    ///
    /// Reasons of the relay are sentences that it has made already: `reason` translates them.
    func say(_ english: StaticString, _ values: [String] = []) -> String {
        let key = english.description
        return TextPattern.filled(self == .chinese ? Self.chineseText(key) ?? key : key, values)
    }

    /// All Chinese texts by the English ones.
    private static let inChinese = [
        chineseSignInTexts, chineseRollouts, chineseListTexts, chineseApprovalTexts,
    ].reduce(into: chineseTexts) { all, part in all.merge(part) { text, _ in text } }

    /// The Chinese of a text of the page; nil: there is none.
    static func chineseText(_ english: String) -> String? { inChinese[english] }

    /// A count with its noun: "1 device", "2 devices". Chinese has one form.
    func count(_ number: Int64, _ one: StaticString, _ many: StaticString) -> String {
        let word = say(number == 1 ? one : many)
        return "\(Self.number(number)) \(word)"
    }

    /// Digits in groups of three, with commas: 12,345.
    static func number(_ number: Int64) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }
}
