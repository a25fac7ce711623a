// SPDX-License-Identifier: Apache-2.0

/// Decides when a service account's access token is requested: early enough that none ends in use, by one caller at a time,
/// and not again at once where Google refused.
///
/// | what happened | next request |
/// |---|---|
/// | a token was given | five minutes before its end, or at half its life where that is later |
/// | the key was refused | after a minute, as long as a token is needed |
/// | no answer, or an unusable one | after 10 s, doubled each time up to five minutes; Retry-After where that is longer |
///
/// Ages are counted from the request, by this machine's clock: Google reports how long a token lasts, not until when.
package struct GoogleTokenMachine: Sendable, Equatable {
    package struct Token: Sendable, Hashable {
        /// Without "Bearer". A secret.
        package var text: String
        package var askedAt: Timestamp
        package var endsAt: Timestamp
    }

    package enum Action: Sendable, Equatable {
        case use(Token)
        /// The caller requests one, and no other caller does until it has reported the result. Until then a token that is
        /// about to end may serve.
        case ask(meanwhile: Token?)
        /// There is no token, and another caller is requesting one.
        case waitForAnswer
        /// There is no token, and Google is not asked for one before then.
        case wait(until: Timestamp)
    }

    package static let renewedBefore = Duration.seconds(300)
    package static let refusalPause = Duration.seconds(60)
    package static let shortestPause = Duration.seconds(10)
    package static let longestPause = Duration.seconds(300)
    /// A token that replaced a rejected one, and is itself rejected within this time, is no better.
    package static let proof = Duration.seconds(300)
    /// A longer Retry-After is cut to this.
    package static let longestRetryAfter = Duration.seconds(3600)
    /// How far a clock that is being set may go back without a new token.
    private static let clockStep = Duration.seconds(60)

    private var token: Token?
    private var askedAt: Timestamp?
    private var pausedUntil: Timestamp?
    private var failures = 0
    /// The pause follows a refusal of the key.
    private var isRefused = false
    /// When the service that the token is for last rejected one.
    private var rejectedAt: Timestamp?

    package init() {}

    /// Whether a caller is requesting a token.
    package var isAsking: Bool { askedAt != nil }

    /// Called before each request, or batch of them.
    package mutating func tokenNeeded(at now: Timestamp) -> Action {
        let usable = token.flatMap { now < $0.endsAt && now + Self.clockStep >= $0.askedAt ? $0 : nil }
        if let usable, now < Self.renewal(of: usable) { return .use(usable) }
        if askedAt != nil { return usable.map(Action.use) ?? .waitForAnswer }
        // After a clock was set back, no caller may wait longer than `longestRetryAfter`.
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

    /// The key, the account or the clock may have been repaired: the next token is requested without waiting.
    package mutating func forgetRefusal() {
        if isRefused { pausedUntil = nil }
        isRefused = false
    }

    /// A person does not want to wait: the next token is requested at once.
    package mutating func askAtOnce() { (pausedUntil, isRefused) = (nil, false) }

    /// No answer, or an unusable one.
    package mutating func failed(retryAfter: Duration?, at now: Timestamp) {
        let pause = min(Self.shortestPause * (1 << min(failures, 5)), Self.longestPause)
        failures += 1
        askedAt = nil
        isRefused = false
        pausedUntil = now + min(max(pause, retryAfter ?? .zero), Self.longestRetryAfter)
    }

    /// The service that the token is for rejects it (401), though it has not ended.
    package mutating func rejected(_ text: String) {
        if token?.text == text { token = nil }
    }

    /// The consequence of a rejected token.
    package enum Rejection: Sendable, Equatable {
        /// Ask for another one.
        case renew
        /// The rejected token is not the current one: just send again.
        case alreadyRenewed
        /// The rejected token was new and had replaced a rejected one: another one changes nothing.
        case futile
    }

    /// The same, where a second rejection in a row is the credential's fault: "refresh once, then stop" (PROTOCOLS 2.3).
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
