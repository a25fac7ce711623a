// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import WireFormat

@Suite struct TrimmedTextTests {
    @Test(arguments: [
        "", " ", "a", " a ", "\t\r\n a b \u{A0}\u{3000}", "\u{FEFF}a", "e\u{301} ", "\u{301}", " \u{301}a", "\r\n",
        "a\u{200B}",
        "手机 ", "\u{1F468}\u{200D}\u{1F469} ",
    ])
    func textsAreThoseOfFoundation(_ text: String) {
        let own = TrimmedText.trimmed(text)
        let other = text.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(Array(own.unicodeScalars) == Array(other.unicodeScalars))
        let quoted = "\" \(text)\r\""
        #expect(
            TrimmedText.trimmed(quoted) { " \"\r".unicodeScalars.contains($0) }
                == quoted.trimmingCharacters(in: CharacterSet(charactersIn: " \"\r")))
    }

    @Test func spacesAreThoseOfFoundation() {
        let scalars = (0...0x10FFFF).compactMap { Unicode.Scalar(UInt32($0)) }
        let differences = scalars.filter { scalar in
            TrimmedText.trimmed(String(Character(scalar))).isEmpty
                != CharacterSet.whitespacesAndNewlines.contains(scalar)
        }
        #expect(differences.isEmpty, "\(differences.map { String($0.value, radix: 16) })")
    }
}
