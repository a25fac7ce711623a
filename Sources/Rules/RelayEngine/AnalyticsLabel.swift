// SPDX-License-Identifier: Apache-2.0

/// The name under which Google's delivery figures show a campaign's pushes.
///
/// Google, "Understanding message delivery": a label matches `^[a-zA-Z0-9-_.~%]{1,50}$`, and labels beyond a hundred
/// different ones in a day are not counted.
package struct AnalyticsLabel: Hashable, Sendable, CustomStringConvertible {
    /// Stands for the campaign's id.
    package static let placeholder = "{campaign}"
    private static let longest = 50

    /// As the owner wrote it.
    package let description: String

    /// nil where Google would refuse the resulting label.
    package init?(_ text: String) {
        description = text
        let label = self.text(campaign: String(repeating: "0", count: PushID.campaignLength)).utf8
        guard (1...Self.longest).contains(label.count), label.allSatisfy(Self.isAllowed) else { return nil }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }

    package func text(campaign: String) -> String { description.replacing(Self.placeholder, with: campaign) }
}
