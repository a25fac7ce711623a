// SPDX-License-Identifier: Apache-2.0

/// The id of one push: derived from campaign and device, so that a push that is sent again after a crash carries the id
/// that it had before.
///
/// A UUID of version 8 (RFC 9562, 5.8: the layout is the maker's own), lower case as Apple requires it. The campaign's
/// twelve hex digits are its first 48 bits and the device's row id its last 60:
/// `cccccccc-cccc-8000-8ddd-dddddddddddd`.
package enum PushID {
    /// Characters of the text form.
    package static let length = 36
    /// Characters of a campaign's id.
    package static let campaignLength = 12

    /// A campaign's id: 48 random bits as twelve hex digits, the front of the ids of all of its pushes.
    package static func newCampaign(_ random: RandomSource) -> String {
        let digits = String(random.next() >> 16, radix: 16)
        return String(repeating: "0", count: campaignLength - digits.count) + digits
    }

    package static func text(campaign: String, device: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        append(campaign: Array(campaign.utf8), device: device, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Parameters:
    ///   - campaign: the twelve hex digits of the campaign's id.
    ///   - device: the registry's row id, from 0 to 2^60 - 1.
    package static func append(campaign: [UInt8], device: Int64, to bytes: inout [UInt8]) {
        precondition(
            campaign.count == campaignLength && device >= 0 && device < 1 << 60, "no campaign or device has such an id")
        let dash = UInt8(ascii: "-")
        for index in 0..<8 { bytes.append(campaign[index]) }
        bytes.append(dash)
        for index in 8..<12 { bytes.append(campaign[index]) }
        bytes.append(dash)
        bytes.append(UInt8(ascii: "8"))
        for _ in 0..<3 { bytes.append(UInt8(ascii: "0")) }
        bytes.append(dash)
        bytes.append(UInt8(ascii: "8"))
        var shift = 56
        for index in 0..<15 {
            if index == 3 { bytes.append(dash) }
            let digit = UInt8((device >> Int64(shift)) & 15)
            bytes.append(digit < 10 ? 48 + digit : 87 + digit)
            shift -= 4
        }
    }
}
