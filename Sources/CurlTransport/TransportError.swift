// SPDX-License-Identifier: Apache-2.0

/// Why a connection or a request failed below HTTP. An answer with a bad status is an answer, not an error.
package struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// Nobody was reached: the name did not resolve, nobody listens, the proxy refused, or it took too long.
        case cannotConnect
        /// Somebody was reached who could not prove to be the right one, or with whom TLS failed.
        case notTrusted
        /// The server does not speak HTTP/2.
        case notHTTP2
        /// Connected, but the answer did not come in time.
        case timedOut
        /// The connection broke while sending or receiving.
        case broken
        /// The answer is larger than the caller is willing to hold.
        case tooLarge
        /// The request cannot be sent as it was given.
        case badRequest
        /// The caller cancelled.
        case cancelled
    }

    package let code: Code
    /// What was tried, and on what, for example "https://api.push.apple.com".
    package let context: String
    /// What happened, in libcurl's or our words.
    package let reason: String
    /// What the operator can do about it; empty where there is nothing to say.
    package var hint = ""

    package var description: String {
        hint.isEmpty ? "\(context): \(reason)" : "\(context): \(reason) (\(hint))"
    }
}
