// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The access tokens that a service's token endpoint has given. Reads no clock: the time is passed in. Pure except for the
/// random bytes of tokens.
struct GivenTokens {
    /// The right that a token gives.
    struct Access: Equatable {
        /// Seconds since 1970; from then on it is void.
        var expiresAt: Int64
        var maySend = true
        /// Pushes judged before it was given, by the script's count.
        var judgedBefore: Int
    }

    /// The most tokens kept: a client that asks all the time must not fill the memory.
    private static let most = 4096

    private var known: [[UInt8]: Access] = [:]
    /// The number of tokens given.
    private(set) var count = 0

    func access(_ token: some Collection<UInt8>) -> Access? { known[Array(token)] }

    /// Follows the script's count, which begins anew.
    mutating func forgetCount() {
        for key in known.keys { known[key]?.judgedBefore = 0 }
    }

    /// Makes a token.
    ///
    /// - Parameters:
    ///   - prefix: the first characters of the service's tokens.
    ///   - now: seconds since 1970.
    mutating func give(_ prefix: String, _ access: Access, now: Int64) -> String {
        var dice = SystemRandomNumberGenerator()
        let bytes = (0..<48).map { _ in UInt8.random(in: .min ... .max, using: &dice) }
        let token = prefix + Base64URL.encode(bytes)
        if known.count >= Self.most { known = known.filter { now < $0.value.expiresAt } }
        if known.count >= Self.most { known.removeAll() }
        known[Array(token.utf8)] = access
        count += 1
        return token
    }
}
