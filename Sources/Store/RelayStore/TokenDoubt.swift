// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A push service's last answers against an app's tokens there, kept from one life of the process to the next.
package struct TokenDoubt: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// They are called dead.
        case dead = 0
        /// The other environment takes them.
        case moved = 1
    }

    package var channel: Channel
    package var kind: Kind
    /// Where nothing is held against them, the store has no row.
    package var judged: JudgedAnswers

    package init(_ channel: Channel, _ kind: Kind, _ judged: JudgedAnswers) {
        self.channel = channel
        self.kind = kind
        self.judged = judged
    }
}
