// SPDX-License-Identifier: Apache-2.0
package import RelayStore
import WireFormat

/// The place where a list continues, opaque to clients.
package enum Cursor {
    package enum Kind: Character {
        case campaigns = "c"
        case deliveries = "d"
        case ledger = "l"
        case notifications = "n"
        case devices = "v"
        case dead = "x"
        case audit = "a"
        case approvals = "p"
    }

    package static func text(_ kind: Kind, _ position: Int64) -> String {
        Base64URL.encode(Array("\(kind.rawValue)\(position)".utf8))
    }

    package static func text(_ position: DeliveryPosition) -> String {
        Base64URL.encode(Array("\(Kind.ledger.rawValue)\(position.device).\(position.campaign)".utf8))
    }

    package static func text(_ place: DeadPlace) -> String { text(.dead, place.order) }

    package static func deliveryPosition(_ text: String) -> DeliveryPosition? {
        guard let plain = plain(text, .ledger) else { return nil }
        let parts = plain.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let device = Int64(parts[0]), device >= 0 else { return nil }
        return DeliveryPosition(campaign: String(parts[1]), device: device)
    }

    package static func position(_ text: String, _ kind: Kind) -> Int64? {
        guard let plain = plain(text, kind), let position = Int64(plain), position >= 0 else { return nil }
        return position
    }

    private static func plain(_ text: String, _ kind: Kind) -> Substring? {
        guard let bytes = Base64URL.decode(text) else { return nil }
        let plain = String(decoding: bytes, as: UTF8.self)
        return plain.first == kind.rawValue ? plain.dropFirst() : nil
    }
}
