// SPDX-License-Identifier: Apache-2.0

/// Decides when a provider token is signed anew. Apple: at most once in 20 minutes and at least once in 60
/// ("Establishing a token-based connection to APNs"); this relay uses one for 50 minutes.
///
/// Age is measured from the token's own `iat`, not from the start of the process.
///
/// If the service reports that tokens were signed too often (TooManyProviderTokenUpdates), none is signed before the end of the
/// pause that it asks for: the present token serves, however old.
package struct ProviderTokenMachine: Sendable, Equatable {
    /// A token is replaced at this age: 50 minutes.
    package static let renewalAge = Duration.seconds(50 * 60)
    /// No token is replaced before this age: 20 minutes.
    package static let minimumAge = Duration.seconds(20 * 60)
    /// How far a clock that is being set may go back without a new token: a minute. Each step would cost one of the few
    /// that Apple allows.
    package static let clockStep = Duration.seconds(60)

    /// The longest that a service's pause may last, whatever its `Retry-After`: Apple's are minutes, up to 20 (PROTOCOLS
    /// 1.6).
    package static let longestPause = Duration.seconds(20 * 60)

    package enum Action: Sendable, Equatable {
        case use
        case sign
        /// There is no token, and none may be signed before then.
        case wait(until: Timestamp)
    }

    package enum Refusal: Sendable, Equatable {
        /// The refused token is not the current one: just send again.
        case alreadyRenewed
        /// Another relay has signed one, which is used from now on. Returned only by the token source, which reads what all
        /// relays share.
        case taken
        case sign
        /// No token may be signed before then, whatever its age.
        case paused(until: Timestamp)
        /// A token of less than 20 minutes is called expired: this machine's clock is wrong, or the service's.
        case clockSkew
    }

    private var issuedAt: Timestamp?
    /// Until when no token is signed; it may be past.
    package private(set) var pausedUntil: Timestamp?

    package init(issuedAt: Timestamp? = nil, pausedUntil: Timestamp? = nil) {
        self.issuedAt = issuedAt
        self.pausedUntil = pausedUntil
    }

    /// The end of the pause that is in force; nil: none is.
    package func pause(at now: Timestamp) -> Timestamp? {
        pausedUntil.flatMap { Self.isPaused(until: $0, at: now) ? $0 : nil }
    }

    /// Whether a pause until `end` is in force.
    package static func isPaused(until end: Timestamp, at now: Timestamp) -> Bool {
        // Jitter adds up to a quarter to a pause.
        now < end.due(at: now, putOffAtMost: longestPause + longestPause / 4)
    }

    /// Notes a pause that the service asks for; returns whether it is longer than was known.
    package mutating func paused(until time: Timestamp) -> Bool {
        guard pausedUntil.map({ $0 < time }) ?? true else { return false }
        pausedUntil = time
        return true
    }

    /// Called before a batch is built.
    package func tokenNeeded(at now: Timestamp) -> Action {
        if let end = pause(at: now) { return issuedAt == nil ? .wait(until: end) : .use }
        guard let issuedAt else { return .sign }
        let age = now - issuedAt
        // A token from the future was signed under a wrong clock.
        return age >= Self.renewalAge || age + Self.clockStep < .zero ? .sign : .use
    }

    package mutating func signed(at time: Timestamp) {
        issuedAt = time
    }

    /// Whether a token of this key that another relay signed is used from now on. A newer one is, because the next signing
    /// waits for its age; so is any token in the place of one from the future.
    package func takesUp(issuedAt found: Timestamp, at now: Timestamp) -> Bool {
        guard let issuedAt else { return true }
        return found > issuedAt || (found < issuedAt && now - issuedAt + Self.clockStep < .zero)
    }

    /// The service called a token expired that was signed at `tokenIssuedAt`.
    package func refused(tokenIssuedAt: Timestamp, at now: Timestamp) -> Refusal {
        guard tokenIssuedAt == issuedAt else { return .alreadyRenewed }
        if let end = pause(at: now) { return .paused(until: end) }
        return now - tokenIssuedAt >= Self.minimumAge ? .sign : .clockSkew
    }

    // MARK: One token for all relays that have the key

    /// Whether `next` replaces the token that all relays with the key share. Each relay has asked its own machine before it
    /// signed. This check is made in the store, for one relay after the other, so that one wins.
    ///
    /// - Parameters:
    ///   - kept: the shared token.
    ///   - known: the issue time of the token that the signer means to replace; nil: it knew none.
    package static func mayReplace(
        _ kept: ProviderToken, by next: ProviderToken, replacing known: Timestamp?, at now: Timestamp
    ) -> Bool {
        guard kept.issuedAt == known, !(kept.pausedUntil.map { isPaused(until: $0, at: now) } ?? false) else {
            return false
        }
        let apart = next.issuedAt - kept.issuedAt
        return apart >= minimumAge || apart + clockStep < .zero
    }
}
