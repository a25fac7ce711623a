// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import Synchronization

/// The provider tokens of one key that the relays of a fleet keep, in memory: it decides as the store does.
final class SharedTokens: ProviderTokenKeeper {
    struct Unreachable: Error {}

    struct Content {
        var rows: [ProviderTokenPlace: ProviderToken] = [:]
        /// Reads, new tokens and pauses, as far as they came through.
        var calls: (reads: Int, mints: Int, pauses: Int) = (0, 0, 0)
        var isDown = false
        /// Called before the next mint, in the place of another relay.
        var before: (@Sendable () -> Void)?
    }

    let content = Mutex(Content())

    init(_ stored: ProviderToken? = nil) {
        content.withLock { $0.rows[.key] = stored }
    }

    /// The token in the key's own place.
    var kept: ProviderToken? { content.withLock { $0.rows[.key] } }
    var rows: Int { content.withLock { $0.rows.count } }
    var reads: Int { content.withLock { $0.calls.reads } }
    var writes: Int { content.withLock { $0.calls.mints + $0.calls.pauses } }

    func set(isDown: Bool) { content.withLock { $0.isDown = isDown } }

    func token(_ place: ProviderTokenPlace) throws -> ProviderToken? {
        try content.withLock { content in
            guard !content.isDown else { throw Unreachable() }
            content.calls.reads += 1
            return content.rows[place]
        }
    }

    func mint(
        _ token: ProviderToken, _ place: ProviderTokenPlace, replacing known: Timestamp?, at now: Timestamp
    ) throws -> ProviderToken {
        let before = content.withLock { content in
            defer { content.before = nil }
            return content.before
        }
        before?()
        return try content.withLock { content in
            guard !content.isDown else { throw Unreachable() }
            guard var kept = content.rows[place] else {
                content.calls.mints += 1
                content.rows[place] = token
                return token
            }
            guard ProviderTokenMachine.mayReplace(kept, by: token, replacing: known, at: now) else { return kept }
            content.calls.mints += 1
            (kept.text, kept.issuedAt) = (token.text, token.issuedAt)
            content.rows[place] = kept
            return kept
        }
    }

    func pause(until end: Timestamp, by server: String?, at now: Timestamp) throws -> Bool {
        try content.withLock { content in
            guard !content.isDown else { throw Unreachable() }
            guard content.rows[.key]?.pause(until: end, by: server, at: now) != nil else { return false }
            content.calls.pauses += 1
            return true
        }
    }
}
