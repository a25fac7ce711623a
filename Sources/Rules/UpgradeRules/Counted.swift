// SPDX-License-Identifier: Apache-2.0

/// A number with its noun, in English.
package enum Counted {
    /// "1 device", "2 devices": the plural for all but one.
    package static func text(_ number: some BinaryInteger, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
