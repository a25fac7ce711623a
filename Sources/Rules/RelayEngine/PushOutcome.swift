// SPDX-License-Identifier: Apache-2.0

/// The meaning of a push service's answer for the push. A refusal is a value, not an error.
package enum PushOutcome: Sendable, Hashable {
    /// The service took it.
    case accepted
    /// Refused for good. The token stays registered.
    case rejected(reason: String)
    /// Refused as a bad token in this environment: it may belong to the other one.
    case badToken(reason: String)
    /// Refused as no token at all, by a service that has no other environment. It is retired, as dead since then, where the
    /// same payload was taken for another device of the campaign. Otherwise the payload may be at fault, and this counts as
    /// `badToken`.
    case invalidToken(reason: String, since: Timestamp)
    /// The token is no longer registered; `since`: it is retired as dead from then on; nil: it is not retired.
    case unregistered(reason: String, since: Timestamp?)
    /// Try again later.
    case retry(RetrySchedule.Cause, reason: String)
    /// The provider token is too old: sign a new one, then send this again.
    case renewCredential(reason: String)
    /// The service asks for a pause of everything that uses this credential; then send this again.
    case pauseCredential(Duration, reason: String)
    /// The connection is bound to another key: send this again on a new one. If new ones get the same answer, it is the key.
    case reconnect(reason: String)
    /// Refused because of the credential, the topic or the request. If half of the last answers are such, the campaign stops
    /// and its operator is notified; else the refusal is this push's own.
    case fault(reason: String, SendingFault)
}
