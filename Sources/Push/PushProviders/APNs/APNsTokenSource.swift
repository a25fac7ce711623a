// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Signing
import Synchronization
import WireFormat

/// One key's provider token: signed when needed, shared by every connection and by every relay that has the key, kept across restarts.
///
/// May be used from any thread; signing happens under the lock, so that no two tokens are signed at once. Other relays
/// sign, too: a relay reads their stored token before it signs, and if several sign at once, all use the token that was
/// stored first. The other tokens are discarded unused, since Apple counts only those that it receives. While there is
/// a token that may be used, nothing is read.
package final class APNsTokenSource: Sendable {
    private struct State {
        var machine: ProviderTokenMachine
        var token: ProviderToken?
        /// The time of a token or a pause that could not be stored: neither the next run nor another relay knows of it.
        var unkept: (token: Timestamp?, pause: Timestamp?) = (nil, nil)

        mutating func use(_ token: ProviderToken) {
            machine.signed(at: token.issuedAt)
            self.token = token
            unkept.token = nil
        }
    }

    /// The stored data of the key.
    private struct Kept {
        var place = ProviderTokenPlace.key
        /// The time of issue of the token that a new one would replace.
        var issuedAt: Timestamp?
        /// nil: there is none, or another key file signed it.
        var token: ProviderToken?
        var pause: (until: Timestamp, by: String?)?
    }

    let teamID: String
    let keyID: String
    private let key: ES256PrivateKey
    private let keeper: (any ProviderTokenKeeper)?
    private let onSigned: @Sendable () -> Void
    private let sharedPause: CredentialPause
    private let state: Mutex<State>

    /// - Parameters:
    ///   - stored: the token in the key's own place, if any. One signed by another key file of the same id would be
    ///     refused by APNs, so it is verified against the key first.
    ///   - keeper: keeps tokens and pauses for the next run and for other relays; nil: none are kept. A failure to keep does not
    ///     stop the push: see `saveAgain`.
    ///   - pause: shared by all token sources that sign with the key's id.
    ///   - onSigned: called for each token that is signed and used.
    package init(
        teamID: String, keyID: String, key: ES256PrivateKey, stored: ProviderToken? = nil,
        keeper: (any ProviderTokenKeeper)? = nil, pause: CredentialPause = CredentialPause(),
        onSigned: @escaping @Sendable () -> Void = {}
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.key = key
        self.keeper = keeper
        self.onSigned = onSigned
        let usable = stored.flatMap { Self.isSigned($0.text, by: key) ? $0 : nil }
        // The pause belongs to the key, whichever file its token was signed with.
        if let stored, let end = stored.pausedUntil { pause.extend(to: end, by: stored.pausedBy) }
        sharedPause = pause
        state = Mutex(State(machine: ProviderTokenMachine(issuedAt: usable?.issuedAt), token: usable))
    }

    /// The state, merged with the pauses that other token sources of this key have learned of.
    private func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock { state in
            if let end = sharedPause.latest { _ = state.machine.paused(until: end) }
            return try body(&state)
        }
    }

    /// The token to send with, signed anew at 50 minutes of age.
    ///
    /// - Throws: `SigningError`, or `CredentialPending` where none may be signed yet.
    package func token(at now: Timestamp) throws -> ProviderToken {
        try withState { state in
            if let token = try Self.usable(state, at: now) { return token }
            let kept = look(&state, at: now)
            return try Self.usable(state, at: now) ?? sign(&state, after: kept, at: now)
        }
    }

    /// nil: a new one must be signed.
    private static func usable(_ state: State, at now: Timestamp) throws -> ProviderToken? {
        switch state.machine.tokenNeeded(at: now) {
        case .use: return state.token
        case .sign: return nil
        case .wait(let end):
            throw CredentialPending(
                until: end,
                fault:
                    "TooManyProviderTokenUpdates: APNs wants no new provider token of this key before \(end.internetTime)"
            )
        }
    }

    /// Replaces a token that APNs called expired: by one that another relay has signed, or by a new one where Apple's
    /// limits allow it (see `ProviderTokenMachine`).
    package func refused(_ issuedAt: Timestamp, at now: Timestamp) throws -> ProviderTokenMachine.Refusal {
        try withState { state in
            switch state.machine.refused(tokenIssuedAt: issuedAt, at: now) {
            case .sign, .clockSkew: break
            case let refusal: return refusal
            }
            let kept = look(&state, at: now)
            let refusal = state.machine.refused(tokenIssuedAt: issuedAt, at: now)
            // No other batch renewed the token: `look` has just taken another relay's.
            if refusal == .alreadyRenewed { return .taken }
            if refusal == .sign { _ = try sign(&state, after: kept, at: now) }
            return refusal
        }
    }

    // MARK: Pauses

    /// The time until which a server accepts no other token of this key, and no pushes with it; nil: there is no pause.
    package func pause(at server: String, now: Timestamp) -> Timestamp? {
        sharedPause.end(at: server, now: now)
    }

    /// Notes a pause that a server asks for. It outlives a restart, and every relay that has the key keeps to it.
    package func pause(until time: Timestamp, by server: String, now: Timestamp) {
        guard sharedPause.extend(to: time, by: server) else { return }
        withState { state in
            state.unkept.pause = now
            keepPause(&state)
        }
    }

    private func keepPause(_ state: inout State) {
        guard let keeper, let said = state.unkept.pause else { return }
        guard let known = sharedPause.remembered(at: said) else {
            state.unkept.pause = nil
            return
        }
        guard let isKept = try? keeper.pause(until: known.until, by: known.by, at: said) else { return }
        // There is no stored token to attach the pause to: `saveAgain` stores this relay's token first, and then the pause.
        if !isKept, let token = state.token { state.unkept.token = state.unkept.token ?? token.issuedAt }
        if isKept || state.token == nil { state.unkept.pause = nil }
    }

    // MARK: Shared by all relays

    /// Stores tokens and pauses that the store refused before. Called when it has taken a batch's outcomes.
    package func saveAgain() {
        withState { state in
            if let signed = state.unkept.token, let token = state.token, let kept = look(&state, at: signed),
                state.unkept.token != nil, let winner = try? mint(token, after: kept, at: signed)
            {
                state.use(winner)
            }
            keepPause(&state)
        }
    }

    /// Takes up stored data that has changed: another relay's token, if it is newer, and its pause. The data is read
    /// before the lock is taken, so that no push waits for it.
    package func refresh(at now: Timestamp) {
        guard let kept = try? read() else { return }
        learn(kept, at: now)
        withState { takeUp(kept, &$0, at: now) }
    }

    /// nil: there is no keeper, or it cannot be reached.
    private func look(_ state: inout State, at now: Timestamp) -> Kept? {
        guard let kept = try? read() else { return nil }
        learn(kept, at: now)
        if let end = sharedPause.latest { _ = state.machine.paused(until: end) }
        takeUp(kept, &state, at: now)
        return kept
    }

    private func learn(_ kept: Kept, at now: Timestamp) {
        if let pause = kept.pause { sharedPause.take(pause.until, by: pause.by, at: now) }
    }

    private func takeUp(_ kept: Kept, _ state: inout State, at now: Timestamp) {
        guard let token = kept.token else { return }
        if state.machine.takesUp(issuedAt: token.issuedAt, at: now) || state.token == token { state.use(token) }
    }

    private func read() throws -> Kept? {
        guard let keeper else { return nil }
        guard let first = try keeper.token(.key) else { return Kept() }
        let pause = first.pausedUntil.map { (until: $0, by: first.pausedBy) }
        if Self.isSigned(first.text, by: key) {
            return Kept(place: .key, issuedAt: first.issuedAt, token: first.unpaused, pause: pause)
        }
        let place = ProviderTokenPlace.file(fingerprint)
        let own = try keeper.token(place)
        let usable = own.flatMap { Self.isSigned($0.text, by: key) ? $0.unpaused : nil }
        return Kept(place: place, issuedAt: own?.issuedAt, token: usable, pause: pause)
    }

    private var fingerprint: String { String(Hex.encode(SHA256.digest(key.publicKey.pem)).prefix(16)) }

    // MARK: Signing

    /// - Parameter kept: nil where the store cannot be reached. The token is used all the same, and stored later:
    ///   without it there would be no push. The possible cost: another relay may sign one in the same twenty minutes,
    ///   and APNs answers TooManyProviderTokenUpdates to one of them, so that the key rests for some minutes.
    private func sign(_ state: inout State, after kept: Kept?, at now: Timestamp) throws -> ProviderToken {
        let token = try signed(at: now)
        let winner = kept.flatMap { try? mint(token, after: $0, at: now) }
        state.use(winner ?? token)
        if winner == nil, keeper != nil { state.unkept.token = now }
        if winner == nil || winner == token { onSigned() }
        return winner ?? token
    }

    /// - Returns: the token to use, this one or that of a relay that was faster.
    private func mint(_ token: ProviderToken, after kept: Kept, at now: Timestamp) throws -> ProviderToken {
        guard let keeper else { return token }
        let winner = try keeper.mint(token, kept.place, replacing: kept.issuedAt, at: now)
        if Self.isSigned(winner.text, by: key) { return winner.unpaused }
        // The token that was stored first was signed at the same moment, with another key file.
        let own = try keeper.mint(token, .file(fingerprint), replacing: nil, at: now)
        return Self.isSigned(own.text, by: key) ? own.unpaused : token
    }

    private func signed(at now: Timestamp) throws -> ProviderToken {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(now.seconds)}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let text = signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
        // The age counts from `iat`, which has whole seconds.
        return ProviderToken(text: text, issuedAt: Timestamp(seconds: now.seconds))
    }

    /// Whether this key has signed the token.
    package static func isSigned(_ token: String, by key: ES256PrivateKey) -> Bool {
        guard let dot = token.lastIndex(of: "."),
            let signature = Base64URL.decode(String(token[token.index(after: dot)...]))
        else { return false }
        return key.publicKey.isValid(signature, for: Array(token[..<dot].utf8))
    }
}
