// SPDX-License-Identifier: Apache-2.0

/// Decides when a service account's access token is asked for: early enough that none ends in use, by one at a time, and not
/// again at once where Google refused.
///
/// | what happened | next question |
/// |---|---|
/// | a token was given | five minutes before its end, or at half its life where that is later in it |
/// | the key was refused | after a minute, as long as a token is needed |
/// | no answer, or none that helps | after 10 s, doubled each time up to five minutes; Retry-After where that is longer |
///
/// Ages are counted from when the token was asked for, by this machine's clock: Google says how long it lasts, not until when.
package struct GoogleTokenMachine: Sendable, Equatable {
    package struct Token: Sendable, Hashable {
        /// Without "Bearer". A secret.
        package var text: String
        package var askedAt: Timestamp
        package var endsAt: Timestamp
    }

    package enum Action: Sendable, Equatable {
        case use(Token)
        /// The caller asks, and nobody else does until it has told what came of it; meanwhile a token that is about to end
        /// may serve.
        case ask(meanwhile: Token?)
        /// There is none, and another caller asks.
        case waitForAnswer
        /// There is none, and Google is not asked before then.
        case wait(until: Timestamp)
    }

    package static let renewedBefore = Duration.seconds(300)
    package static let refusalPause = Duration.seconds(60)
    package static let shortestPause = Duration.seconds(10)
    package static let longestPause = Duration.seconds(300)
    /// A token that is not taken so soon after it was asked for, because the one before was not taken either, is no better.
    package static let proof = Duration.seconds(300)
    /// A longer Retry-After is taken for this.
    package static let longestRetryAfter = Duration.seconds(3600)
    /// How far a clock that is being set may go back without a new token.
    private static let clockStep = Duration.seconds(60)

    private var token: Token?
    private var askedAt: Timestamp?
    private var pausedUntil: Timestamp?
    private var failures = 0
    /// The pause is because the key was refused.
    private var isRefused = false
    /// When the service that it is for did not take a token last.
    private var rejectedAt: Timestamp?

    package init() {}

    /// Somebody asks just now.
    package var isAsking: Bool { askedAt != nil }

    /// Before each request, or batch of them.
    package mutating func tokenNeeded(at now: Timestamp) -> Action {
        let usable = token.flatMap { now < $0.endsAt && now + Self.clockStep >= $0.askedAt ? $0 : nil }
        if let usable, now < Self.renewal(of: usable) { return .use(usable) }
        if askedAt != nil { return usable.map(Action.use) ?? .waitForAnswer }
        // A clock that was set back must not make anybody wait longer than the longest pause.
        if let end = pausedUntil, now < end, end - now <= Self.longestRetryAfter {
            return usable.map(Action.use) ?? .wait(until: end)
        }
        askedAt = now
        return .ask(meanwhile: usable)
    }

    package mutating func granted(_ text: String, lifetime: Duration, at now: Timestamp) -> Token {
        let asked = askedAt ?? now
        let new = Token(text: text, askedAt: asked, endsAt: asked + lifetime)
        (token, askedAt, pausedUntil, failures) = (new, nil, nil, 0)
        isRefused = false
        return new
    }

    /// The key was refused.
    package mutating func refused(at now: Timestamp) {
        (askedAt, pausedUntil) = (nil, now + Self.refusalPause)
        isRefused = true
    }

    /// The key, the account or the clock may have been put right: it is asked anew without waiting.
    package mutating func forgetRefusal() {
        if isRefused { pausedUntil = nil }
        isRefused = false
    }

    /// A person does not want to wait.
    package mutating func askAtOnce() { (pausedUntil, isRefused) = (nil, false) }

    /// No answer, or none that helps.
    package mutating func failed(retryAfter: Duration?, at now: Timestamp) {
        let pause = min(Self.shortestPause * (1 << min(failures, 5)), Self.longestPause)
        failures += 1
        askedAt = nil
        isRefused = false
        pausedUntil = now + min(max(pause, retryAfter ?? .zero), Self.longestRetryAfter)
    }

    /// The service that it is for does not take it (401), though it has not ended.
    package mutating func rejected(_ text: String) {
        if token?.text == text { token = nil }
    }

    /// What to do about a token that is not taken.
    package enum Rejection: Sendable, Equatable {
        /// Ask for another one.
        case renew
        /// It is not the current one: just send again.
        case alreadyRenewed
        /// It was new, and asked for because the one before was not taken either: another one changes nothing.
        case futile
    }

    /// The same where a second one in a row is the credential's fault: "refresh once, then stop" (PROTOCOLS 2.3).
    package mutating func rejected(_ text: String, at now: Timestamp) -> Rejection {
        guard let current = token, current.text == text else { return .alreadyRenewed }
        let isNew = rejectedAt.map { current.askedAt >= $0 } ?? false
        (token, rejectedAt) = (nil, now)
        return isNew && now - current.askedAt < Self.proof ? .futile : .renew
    }

    private static func renewal(of token: Token) -> Timestamp {
        let life = token.endsAt - token.askedAt
        return token.askedAt + max(life - renewedBefore, life / 2)
    }
}
