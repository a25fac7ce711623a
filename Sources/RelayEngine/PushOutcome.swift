// SPDX-License-Identifier: Apache-2.0

/// What a push service's answer means for the push. A refusal is a value, not an error.
package enum PushOutcome: Sendable, Hashable {
    /// The service took it.
    case accepted
    /// Refused for good. The token stays: only a 410 speaks about tokens.
    case rejected(reason: String)
    /// Refused as a bad token, here: it may be one of the service's other world.
    case badToken(reason: String)
    /// Refused as a token that is none at all, by a service that has no other world: it is retired, as dead since then, where the
    /// same payload was taken for another device of the campaign. Else it may be the payload, and is as `badToken`.
    case invalidToken(reason: String, since: Timestamp)
    /// The token is no longer registered; `since` where the service says so, and only then is it retired.
    case unregistered(reason: String, since: Timestamp?)
    /// Try again later.
    case retry(RetrySchedule.Cause, reason: String)
    /// The provider token is too old: sign a new one, then send this again.
    case renewCredential(reason: String)
    /// The service wants a pause of everything that uses this credential; then send this again.
    case pauseCredential(Duration, reason: String)
    /// The connection is bound to another key: send this again on a new one. Where new ones say so too, it is the key.
    case reconnect(reason: String)
    /// Refused in a way that speaks of the credential, the topic or the request. Where nearly all are, the campaign stops and its
    /// operator is told; else it is this push's own.
    case fault(reason: String, SendingFault)
}
