// SPDX-License-Identifier: Apache-2.0

/// The outcome of one batch at its push service, as `ServiceMachine` judges it.
package struct BatchReport: Sendable, Equatable {
    /// Batches are numbered as they leave.
    package var tag: Int
    /// The answers, counted by what they mean for the credential.
    package var answers = CredentialBreaker.Answers()
    /// Set if too many of the last answers called a token unregistered.
    package var unregistered: CredentialBreaker.Trip?
    /// The answers, counted by what they mean for the service itself.
    package var health = OutageHold.Answers(good: 0, failed: 0)
    /// Pushes that need another connection, because theirs is bound to another key.
    package var reconnects = 0
    /// Answers to first tries that report a quota as reached.
    package var throttled = 0
    /// The longest wait that one of these named.
    package var throttledFor: Duration?
}
