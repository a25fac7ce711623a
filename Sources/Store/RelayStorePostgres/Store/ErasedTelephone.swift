// SPDX-License-Identifier: Apache-2.0
import RelayStore

/// `Delivery.erased` as a column stores it: PostgreSQL's texts have no NUL ("the character with code zero is not supported",
/// postgresql.org/docs, "Character Types").
enum ErasedTelephone {
    static let text = "\u{1}erased"

    /// Returns any other text as it is.
    static func stored(_ text: String) -> String {
        text.utf8.first == 0 && text.utf8.elementsEqual(Delivery.erased.utf8) ? self.text : text
    }

    /// The same for bytes that begin at `place` and end with the array.
    @inline(__always)
    static func store(from place: Int, in bytes: inout [UInt8]) {
        guard place < bytes.count, bytes[place] == 0 else { return }
        guard bytes[place...].elementsEqual(Delivery.erased.utf8) else { return }
        bytes.replaceSubrange(place..., with: text.utf8)
    }

    static func read(_ text: String) -> String {
        text.utf8.first == 1 && text.utf8.elementsEqual(self.text.utf8) ? Delivery.erased : text
    }
}
