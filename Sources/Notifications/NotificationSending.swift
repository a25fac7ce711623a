// SPDX-License-Identifier: Apache-2.0
package import RelayStore

/// Makes one attempt to notify, and says what follows from its answer. A simulation answers in the receiver's place.
package protocol NotificationSending: Sendable {
    /// nil where `isCancelled` ended it: that is no attempt.
    func send(
        _ due: DueNotification, _ body: [UInt8], to target: NotificationTarget,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> NotificationSender.Outcome?
}
