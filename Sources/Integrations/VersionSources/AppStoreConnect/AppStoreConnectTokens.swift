// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import Signing
import Synchronization
import WireFormat

/// The tokens of all keys: one per key at a time, shared by all its apps and signed when needed. May be used from any thread.
package final class AppStoreConnectTokens: Sendable {
    /// "The token's expiration time […] Tokens that expire more than 20 minutes into the future aren't valid" (Apple,
    /// "Generating Tokens for API Requests"). The margin of five minutes allows for a fast clock.
    package static let lifetime = Duration.seconds(15 * 60)
    /// The age at which a token is renewed: early enough for a slow clock, and for a question that takes long to arrive.
    package static let renewal = Duration.seconds(10 * 60)

    private struct Token {
        var text: String
        var issuedAt: Timestamp
    }

    private let tokens = Mutex<[AppStoreConnectKey: Token]>([:])

    package init() {}

    package func token(_ key: AppStoreConnectKey, at now: Timestamp) throws(SourceFault) -> String {
        try tokens.withLock { tokens throws(SourceFault) in
            // A clock that was set back must not prolong a token's use.
            if let token = tokens[key], token.issuedAt <= now, now - token.issuedAt < Self.renewal { return token.text }
            let text: String
            do {
                text = try Self.sign(key, at: now)
            } catch {
                throw SourceFault("the key \(key.keyID) cannot sign: \(error)")
            }
            // `iat` has whole seconds.
            tokens[key] = Token(text: text, issuedAt: Timestamp(seconds: now.seconds))
            return text
        }
    }

    /// Drops a token that the service refused, so that the next question gets a new one.
    func refused(_ text: String, of key: AppStoreConnectKey) {
        tokens.withLock { if $0[key]?.text == text { $0[key] = nil } }
    }

    /// Forgets the keys that are not in use any more.
    func keep(_ keys: Set<AppStoreConnectKey>) {
        tokens.withLock { $0 = $0.filter { keys.contains($0.key) } }
    }

    private static func sign(_ key: AppStoreConnectKey, at now: Timestamp) throws -> String {
        let header: JSONValue = ["alg": .string("ES256"), "kid": .string(key.keyID), "typ": .string("JWT")]
        let claims: JSONValue = [
            "iss": key.issuerID.map(JSONValue.string), "sub": key.issuerID == nil ? .string("user") : nil,
            "iat": .integer(now.seconds), "exp": .integer(now.seconds + lifetime.components.seconds),
            "aud": .string("appstoreconnect-v1"),
        ]
        let signed = Base64URL.encode(header.bytes()) + "." + Base64URL.encode(claims.bytes())
        return signed + "." + Base64URL.encode(try ES256PrivateKey(pem: key.pem).sign(Array(signed.utf8)))
    }
}
