// SPDX-License-Identifier: Apache-2.0

/// What a text may hold that people read on a phone or in a terminal.
package enum PlainText {
    /// Unicode's explicit directional embeddings, overrides and isolates (UAX #9, section 2): one that is not closed turns around
    /// what stands behind it.
    private static let turning = [0x202A...0x202E, 0x2066...0x2069]

    /// What is wrong with a text; nil: nothing.
    ///
    /// - Parameter lines: whether it may have several.
    package static func fault(in text: String, lines: Bool) -> String? {
        let bad = text.unicodeScalars.first { scalar in
            scalar.properties.generalCategory == .control && !(lines && scalar == "\n")
                || turning.contains { $0.contains(Int(scalar.value)) }
        }
        guard let bad else { return nil }
        let digits = String(bad.value, radix: 16, uppercase: true)
        return
            "must not hold the control character U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    }
}
