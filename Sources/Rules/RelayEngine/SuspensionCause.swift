// SPDX-License-Identifier: Apache-2.0

/// Why the relay stopped a campaign. Only a person's `resume`, or the end of that cause, lets it go on. The raw values are in
/// the store.
package enum SuspensionCause: String, Sendable, Hashable, CaseIterable {
    /// The credential cannot be used, or the push service refuses it, the topic or the request.
    case credential
    /// Nearly all pushes are refused: topic, environment or server are wrong.
    case topic
    /// Nearly all tokens are called dead.
    case deadTokens
    /// The payload is too large, or malformed.
    case payload
    /// Too many pushes of a wave failed.
    case stageFailed
    /// The next wave waits for a person.
    case approval
    /// The ledger contradicts what was sent.
    case store
}
