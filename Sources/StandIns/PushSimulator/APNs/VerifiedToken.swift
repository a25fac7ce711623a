// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Signing
import WireFormat

/// A provider token whose signature is good (PROTOCOLS 1.4).
package struct VerifiedToken: Hashable, Sendable {
    package var keyID: String
    /// Seconds since 1970.
    package var issuedAt: Int64
}

/// Reads and verifies provider tokens. Only the strict form passes: base64url without padding, a signature of 64 raw bytes,
/// `iat` as a number. Apple seems to accept sloppier tokens from some clients; a stand-in must not, or the client that it
/// tests would learn to rely on that.
struct ProviderTokenVerifier: Sendable {
    let teamID: String
    let keys: [String: ES256PublicKey]

    /// `authorization` is the whole header value. Nil: missing scheme, malformed, unknown key, wrong algorithm, wrong team or a
    /// bad signature: all 403 InvalidProviderToken.
    func verify(_ authorization: some Collection<UInt8>) -> VerifiedToken? {
        // RFC 9110 section 11.1: the scheme is case-insensitive; a2 sends "Bearer".
        let scheme = Array("bearer ".utf8)
        guard authorization.count > scheme.count,
            authorization.prefix(scheme.count).elementsEqual(scheme, by: { $0 | 0x20 == $1 })
        else { return nil }
        let parts = authorization.dropFirst(scheme.count).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        guard let header = Base64URL.decode(texts[0]), let claims = Base64URL.decode(texts[1]),
            let signature = Base64URL.decode(texts[2])
        else { return nil }
        guard case .object(let head)? = try? JSONReader.read(header),
            case .object(let body)? = try? JSONReader.read(claims),
            Self.text("alg", in: head) == "ES256", Self.text("iss", in: body) == teamID,
            let keyID = Self.text("kid", in: head), let key = keys[keyID],
            case .number(let seconds)? = body.first(where: { $0.name == "iat" })?.value,
            let issuedAt = Int64(seconds), Self.moments.contains(issuedAt)
        else { return nil }
        guard key.isValid(signature, for: Array((texts[0] + "." + texts[1]).utf8)) else { return nil }
        return VerifiedToken(keyID: keyID, issuedAt: issuedAt)
    }

    /// Seconds from 1970 to the year 9999, so that sums cannot overflow.
    private static let moments: ClosedRange<Int64> = 0...253_402_300_799

    private static func text(_ name: String, in members: [JSONMember]) -> String? {
        guard case .string(let text)? = members.first(where: { $0.name == name })?.value else { return nil }
        return text
    }
}

/// The provider tokens that a connection has seen. APNs binds a connection to the key of its first token.
package struct ConnectionCredential: Sendable {
    /// The newest accepted token.
    package private(set) var current: VerifiedToken?
    private var currentBytes: [UInt8] = []
    /// The certificate that the client has shown in TLS; if there is one, no token is looked at (PROTOCOLS 1.2).
    package private(set) var certificate: ClientCertificate?
    /// Whether the client may have all its streams: APNs allows one until it has seen a valid token.
    package var isProven: Bool { current != nil || certificate.map(\.isTrusted) ?? false }
    /// "Wedged": a connection on which a token was refused as expired refuses every other token too, and only a new
    /// connection helps (PROTOCOLS 1.4, pushy).
    private var isWedged = false

    package init() {}

    package mutating func show(_ certificate: ClientCertificate) { self.certificate = certificate }

    /// The seconds that a token lasts: "if the timestamp for token issue isn't within the last hour, APNs rejects" it.
    package static let lifetime: Int64 = 3600
    /// The fewest seconds from a token's issue to the next token. Apple: refresh a token no more than once every 20 minutes.
    package static let shortestRefresh: Int64 = 1200
    /// The seconds that `iat` may lie in the future. Apple names no figure; five minutes forgives a drifting clock.
    package static let clockSkew: Int64 = 300

    /// Whether the value is the current token's. Runs once per push, so it uses memcmp.
    func isCurrent(_ authorization: borrowing Span<UInt8>) -> Bool {
        guard current != nil, currentBytes.count == authorization.count else { return false }
        return unsafe authorization.withUnsafeBytes { sent in
            unsafe currentBytes.withUnsafeBytes { own in
                guard let left = own.baseAddress, let right = sent.baseAddress else { return true }
                return unsafe memcmp(left, right, own.count) == 0
            }
        }
    }

    /// Judges a verified token at `now`, in seconds since 1970; nil: the token is good, and is now the connection's current
    /// one.
    mutating func judge(
        _ token: VerifiedToken, _ authorization: some Collection<UInt8>, now: Int64
    ) -> RejectionReason? {
        if isWedged || now - token.issuedAt > Self.lifetime { return wedged() }
        if token.issuedAt - now > Self.clockSkew { return .invalidProviderToken }
        guard let current else {
            adopt(token, authorization)
            return nil
        }
        if current == token { return nil }
        if current.keyID != token.keyID { return .unrelatedKeyID }
        if now - current.issuedAt < Self.shortestRefresh { return .tooManyProviderTokenUpdates }
        adopt(token, authorization)
        return nil
    }

    private mutating func adopt(_ token: VerifiedToken, _ authorization: some Collection<UInt8>) {
        current = token
        currentBytes = Array(authorization)
    }

    /// The age is checked each time: a token that was good an hour ago no longer is.
    mutating func judgeCurrent(now: Int64) -> RejectionReason? {
        guard let current else { return .missingProviderToken }
        return isWedged || now - current.issuedAt > Self.lifetime ? wedged() : nil
    }

    private mutating func wedged() -> RejectionReason {
        isWedged = true
        return .expiredProviderToken
    }
}

/// Remembers the result for each distinct authorization value, so that a signature is checked once.
struct VerifiedTokenCache {
    private let verifier: ProviderTokenVerifier
    private var known: [[UInt8]: VerifiedToken?] = [:]
    /// The most values kept: a client that sends only new tokens must not fill the memory.
    private static let most = 1024
    /// The number of tokens that were good.
    private(set) var verified = 0

    init(verifier: ProviderTokenVerifier) {
        self.verifier = verifier
    }

    mutating func token(_ authorization: some Collection<UInt8>) -> VerifiedToken? {
        let bytes = Array(authorization)
        if let answer = known[bytes] { return answer }
        let answer = verifier.verify(bytes)
        if answer != nil { verified += 1 }
        if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
        known[bytes] = .some(answer)
        return answer
    }
}
