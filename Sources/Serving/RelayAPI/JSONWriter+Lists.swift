// SPDX-License-Identifier: Apache-2.0
import RelayStore
import WireFormat

/// Lists.
extension JSONWriter {
    /// A list as CONTRACT pages it.
    mutating func page<Items: Sequence>(
        _ items: Items, next: String?, _ content: (inout JSONWriter, Items.Element) -> Void
    ) {
        object { writer in
            writer.array(.items, items, content)
            writer.member(.next, next)
        }
    }

    /// A list of one user.
    ///
    /// - Parameter similar: other spellings of the telephone that was asked for, where the list is empty; without any the member is
    ///   missing.
    mutating func page<Items: Sequence>(
        _ items: Items, next: String?, similar: [String]?, for sight: Redaction,
        _ content: (inout JSONWriter, Items.Element) -> Void
    ) {
        object { writer in
            writer.array(.items, items, content)
            writer.member(.next, next)
            if let similar, !similar.isEmpty { writer.member(.similar, similar, for: sight) }
        }
    }
}
