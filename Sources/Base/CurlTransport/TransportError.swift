// SPDX-License-Identifier: Apache-2.0

/// The reason why a connection or a request failed below HTTP. An answer with a bad status is an answer, not an error.
package struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// No server was reached: the name did not resolve, nothing listens there, the proxy refused, or it took too long.
        case cannotConnect
        /// The server or proxy that was reached could not prove its identity, or TLS with it failed.
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
    /// The attempt and its target, for example "https://api.push.apple.com".
    package let context: String
    /// The cause, in our words.
    package let reason: String
    /// Advice for the operator; empty where there is none.
    package var hint = ""

    package var description: String {
        hint.isEmpty ? "\(context): \(reason)" : "\(context): \(reason) (\(hint))"
    }
}
