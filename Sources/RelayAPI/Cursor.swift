// SPDX-License-Identifier: Apache-2.0
import Signing

/// Where a list goes on, in a form that tells clients nothing to rely on.
enum Cursor {
    enum Kind: Character {
        case campaigns = "c"
        case deliveries = "d"
    }

    static func text(_ kind: Kind, _ position: Int64) -> String {
        Base64URL.encode(Array("\(kind.rawValue)\(position)".utf8))
    }

    static func position(_ text: String, _ kind: Kind) -> Int64? {
        guard let bytes = Base64URL.decode(text) else { return nil }
        let plain = String(decoding: bytes, as: UTF8.self)
        guard plain.first == kind.rawValue, let position = Int64(plain.dropFirst()), position >= 0 else { return nil }
        return position
    }
}
