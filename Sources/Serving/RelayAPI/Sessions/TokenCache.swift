// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Synchronization
import Threading

/// The store's latest answers on API tokens: a caller's next request does not wait for the store again. Any thread may ask.
///
/// Each change of a token clears it, here and, by the store's hint (`FleetHints`), at the other relays. The times limit the
/// effect of a lost hint.
final class TokenCache: Sendable {
    /// Milliseconds for which a token counts as valid once the store has found it.
    static let known: Int64 = 5000
    /// Milliseconds for which a token is taken to be unknown.
    static let unknown: Int64 = 1000
    /// The most answers of each kind; beyond that, all of that kind are dropped, so that guessed tokens displace no valid one.
    private static let most = 4096

    private struct Answers {
        var known: [[UInt8]: (token: AccessToken, at: Int64)] = [:]
        var unknown: [[UInt8]: Int64] = [:]
        /// Rises each time that the cache is cleared: an answer that the store gave before is not kept.
        var generation = 0
    }

    private let answers = Mutex(Answers())
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: milliseconds of a clock that only goes forward.
    init(clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) { self.clock = clock }

    /// - Parameters:
    ///   - hash: the token's SHA-256.
    ///   - look: asks the store.
    /// - Returns: nil where there is no such token, or it was revoked.
    func token(_ hash: [UInt8], look: ([UInt8]) throws -> AccessToken?) throws -> AccessToken? {
        let now = clock()
        let (token, isUnknown, generation) = answers.withLock { answers in
            (
                answers.known[hash].flatMap { now - $0.at < Self.known ? $0.token : nil },
                answers.unknown[hash].map { now - $0 < Self.unknown } ?? false, answers.generation
            )
        }
        if let token { return token }
        if isUnknown { return nil }
        let found = try look(hash)
        answers.withLock { answers in
            guard answers.generation == generation else { return }
            if let found {
                if answers.known.count >= Self.most { answers.known = [:] }
                answers.known[hash] = (found, now)
                answers.unknown[hash] = nil
            } else {
                if answers.unknown.count >= Self.most { answers.unknown = [:] }
                answers.unknown[hash] = now
                answers.known[hash] = nil
            }
        }
        return found
    }

    /// Clears the cache, as a token was made, revoked or changed.
    func forget() {
        answers.withLock { answers in
            (answers.known, answers.unknown) = ([:], [:])
            answers.generation += 1
        }
    }
}
