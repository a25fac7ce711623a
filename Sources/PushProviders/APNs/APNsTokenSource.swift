// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Signing
import Synchronization
import WireFormat

/// One key's provider token: signed when needed, shared by every connection, kept across restarts.
///
/// May be used from any thread; signing happens under the lock, so that no two tokens are signed at once.
package final class APNsTokenSource: Sendable {
    private struct State {
        var machine: ProviderTokenMachine
        var token: ProviderToken?
        /// Whether the next run would not know of it, or of its pause.
        var isUnsaved = false
    }

    let teamID: String
    let keyID: String
    private let key: ES256PrivateKey
    private let save: @Sendable (ProviderToken) throws -> Void
    private let onSigned: @Sendable () -> Void
    private let sharedPause: CredentialPause
    private let state: Mutex<State>

    /// - Parameters:
    ///   - stored: the token that an earlier run saved, if any. One signed by another key file of the same id would be
    ///     refused by APNs, so it is verified against the key first.
    ///   - pause: shared by all that sign with the key's id.
    ///   - onSigned: told of each token that is signed.
    ///   - save: keeps a new token, or its new pause, for the next run. A failure to save does not stop the push: see `saveAgain`.
    package init(
        teamID: String, keyID: String, key: ES256PrivateKey, stored: ProviderToken?,
        pause: CredentialPause = CredentialPause(), onSigned: @escaping @Sendable () -> Void = {},
        save: @escaping @Sendable (ProviderToken) throws -> Void
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.key = key
        self.save = save
        self.onSigned = onSigned
        let usable = stored.flatMap { Self.isSigned($0.text, by: key) ? $0 : nil }
        // The pause is the key's, whichever file it was signed with.
        if let stored, let end = stored.pausedUntil { pause.extend(to: end, by: stored.pausedBy) }
        sharedPause = pause
        state = Mutex(State(machine: ProviderTokenMachine(issuedAt: usable?.issuedAt), token: usable))
    }

    /// What is known, with what others were told of the key meanwhile.
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
            switch state.machine.tokenNeeded(at: now) {
            case .use:
                if let token = state.token { return token }
            case .wait(let end):
                throw CredentialPending(
                    until: end,
                    fault:
                        "TooManyProviderTokenUpdates: APNs wants no new provider token of this key before \(end.internetTime)"
                )
            case .sign:
                break
            }
            return try sign(&state, at: now)
        }
    }

    /// Until when a server wants no other token of this key, and no pushes with it; nil where it does not mind.
    package func pause(at server: String, now: Timestamp) -> Timestamp? {
        sharedPause.end(at: server, now: now)
    }

    /// A server wants a pause. It outlives a restart.
    package func pause(until time: Timestamp, by server: String, now: Timestamp) {
        guard sharedPause.extend(to: time, by: server) else { return }
        withState { state in
            guard var token = state.token, let known = sharedPause.remembered(at: now) else { return }
            (token.pausedUntil, token.pausedBy) = (known.until, known.by)
            keep(token, &state)
        }
    }

    /// The store works: what it could not keep before is kept now.
    package func saveAgain() {
        state.withLock { state in
            if state.isUnsaved, let token = state.token { keep(token, &state) }
        }
    }

    private func keep(_ token: ProviderToken, _ state: inout State) {
        state.token = token
        do {
            try save(token)
            state.isUnsaved = false
        } catch {
            state.isUnsaved = true
        }
    }

    /// APNs called `token` expired: signs a new one where Apple's limits allow it (see `ProviderTokenMachine`).
    package func refused(_ issuedAt: Timestamp, at now: Timestamp) throws -> ProviderTokenMachine.Refusal {
        try withState { state in
            let refusal = state.machine.refused(tokenIssuedAt: issuedAt, at: now)
            if refusal == .sign { _ = try sign(&state, at: now) }
            return refusal
        }
    }

    private func sign(_ state: inout State, at now: Timestamp) throws -> ProviderToken {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(now.seconds)}"#
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let text = signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
        // The age counts from `iat`, which has whole seconds.
        let token = ProviderToken(text: text, issuedAt: Timestamp(seconds: now.seconds))
        state.machine.signed(at: token.issuedAt)
        onSigned()
        keep(token, &state)
        return token
    }

    private static func isSigned(_ token: String, by key: ES256PrivateKey) -> Bool {
        guard let dot = token.lastIndex(of: "."),
            let signature = Base64URL.decode(String(token[token.index(after: dot)...]))
        else { return false }
        return key.publicKey.isValid(signature, for: Array(token[..<dot].utf8))
    }
}
