// SPDX-License-Identifier: Apache-2.0

/// The apns-id of a push, derived from what it is about and from nothing else, so that a push that is sent a second time
/// after a crash carries the id of the first (DESIGN, rule 5).
package enum PushID {
    /// A UUID of version 8 (RFC 9562 section 5.8, "custom"): 48 bits of campaign, the version, 12 zero bits, the variant
    /// and 60 bits of device: `xxxxxxxx-yyyy-8000-8ddd-dddddddddddd`.
    ///
    /// - Parameters:
    ///   - campaign: the campaign's public id, twelve lower-case hex digits.
    ///   - device: the device's row in the registry, from 0 up to 2^60 - 1.
    package static func text(campaign: String, device: Int64) -> String {
        let digits = String(UInt64(bitPattern: device) & 0x0FFF_FFFF_FFFF_FFFF, radix: 16)
        let row = String(repeating: "0", count: 15 - digits.utf8.count) + digits
        return "\(campaign.prefix(8))-\(campaign.dropFirst(8))-8000-8\(row.prefix(3))-\(row.dropFirst(3))"
    }
}
