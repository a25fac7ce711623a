// SPDX-License-Identifier: Apache-2.0
import Notifications
import RelayEngine
import RelayStore
import Requirements

/// The receiver of outgoing webhooks: takes all, and remembers the last state that it received for each campaign.
///
/// Unchecked: only the world's thread uses it.
final class SimulatedHook: NotificationSending, @unchecked Sendable {
    private unowned let world: World

    init(_ world: World) { self.world = world }

    func send(
        _ due: DueNotification, _ body: [UInt8], to target: NotificationTarget,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> NotificationSender.Outcome? {
        world.hears(due.event, body)
        if let campaign = due.event.campaign { world.toldReceiver(campaign.id, campaign.state.rawValue) }
        let attempt = NotificationRecord.Attempt(
            number: due.attempts + 1, at: world.clock.now.wall, milliseconds: 5, status: 204, error: nil)
        return NotificationSender.Outcome(attempt: attempt, verdict: .delivered)
    }
}
