// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A push service's last answers against an app's tokens for one channel, kept across restarts of the process.
package struct TokenDoubt: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// The service calls the tokens dead.
        case dead = 0
        /// The service's other environment accepts the tokens.
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
