// SPDX-License-Identifier: Apache-2.0
package import RelayStore

/// Makes one attempt to notify, and derives the next step from its answer. A simulation answers in the receiver's place.
package protocol NotificationSending: Sendable {
    /// Returns nil where `isCancelled` ended the attempt, which then does not count.
    func send(
        _ due: DueNotification, _ body: [UInt8], to target: NotificationTarget,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> NotificationSender.Outcome?
}
