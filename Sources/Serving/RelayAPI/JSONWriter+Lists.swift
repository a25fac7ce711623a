// SPDX-License-Identifier: Apache-2.0
import RelayStore
import WireFormat

extension JSONWriter {
    /// One page of a list (CONTRACT).
    mutating func page<Items: Sequence>(
        _ items: Items, next: String?, _ content: (inout JSONWriter, Items.Element) -> Void
    ) {
        object { writer in
            writer.array(.items, items, content)
            writer.member(.next, next)
        }
    }

    /// One page of a list about one user.
    ///
    /// - Parameter similar: other spellings of the telephone that was asked for, where the list is empty; without any, the
    ///   member is left out.
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
