// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Signing
import Synchronization

/// A signed provider token.
package struct ProviderToken: Hashable, Sendable {
    /// The JWT, without "bearer".
    package var text: String
    package var issuedAt: Timestamp

    package init(text: String, issuedAt: Timestamp) {
        self.text = text
        self.issuedAt = issuedAt
    }
}

/// One key's provider token: signed when needed, shared by every connection, kept across restarts.
///
/// May be used from any thread; signing happens under the lock, so that no two tokens are signed at once.
package final class APNsTokenSource: Sendable {
    private struct State {
        var machine: ProviderTokenMachine
        var token: ProviderToken?
    }

    let teamID: String
    let keyID: String
    private let key: ES256PrivateKey
    private let save: @Sendable (ProviderToken) throws -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - stored: the token that an earlier run saved, if any. One signed by another key file of the same id would be
    ///     refused by APNs, so it is verified against the key first.
    ///   - save: keeps a new token for the next run. A failure to save does not stop the push.
    package init(
        teamID: String, keyID: String, key: ES256PrivateKey, stored: ProviderToken?,
        save: @escaping @Sendable (ProviderToken) throws -> Void
    ) {
        self.teamID = teamID
        self.keyID = keyID
        self.key = key
        self.save = save
        let usable = stored.flatMap { Self.isSigned($0.text, by: key) ? $0 : nil }
        state = Mutex(State(machine: ProviderTokenMachine(issuedAt: usable?.issuedAt), token: usable))
    }

    /// The token to send with, signed anew at 50 minutes of age.
    package func token(at now: Timestamp) throws -> ProviderToken {
        try state.withLock { state in
            if let token = state.token, state.machine.tokenNeeded(at: now) == .use { return token }
            return try sign(&state, at: now)
        }
    }

    /// APNs called `token` expired: signs a new one where Apple's limits allow it (see `ProviderTokenMachine`).
    package func refused(_ issuedAt: Timestamp, at now: Timestamp) throws -> ProviderTokenMachine.Refusal {
        try state.withLock { state in
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
        state.token = token
        try? save(token)
        return token
    }

    private static func isSigned(_ token: String, by key: ES256PrivateKey) -> Bool {
        guard let dot = token.lastIndex(of: "."),
            let signature = Base64URL.decode(String(token[token.index(after: dot)...]))
        else { return false }
        return key.publicKey.isValid(signature, for: Array(token[..<dot].utf8))
    }
}
