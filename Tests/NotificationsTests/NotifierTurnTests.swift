// SPDX-License-Identifier: Apache-2.0
import Notifications
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Telemetry
import Testing

/// A notifier without threads and network: turn by turn, with a sender that answers by script.
@Suite struct NotifierTurnTests {
    private final class Script: NotificationSending {
        let sent = Mutex<[String]>([])

        func send(
            _ due: DueNotification, _ body: [UInt8], to target: NotificationTarget,
            isCancelled: @escaping @Sendable () -> Bool
        ) -> NotificationSender.Outcome? {
            if isCancelled() { return nil }
            sent.withLock { $0.append(due.event.type.rawValue) }
            return NotificationSender.Outcome(
                attempt: .init(
                    number: due.attempts + 1, at: Timestamp(seconds: 1_800_000_000), milliseconds: 0, status: 204,
                    error: nil), verdict: .delivered)
        }
    }

    @Test func `A turn makes one attempt, and says whether one was due`() throws {
        let bench = try NotifierLiveTests.Bench()
        let script = Script()
        let notifier = Notifier(
            store: bench.store, log: Log(minimum: .error) { _, _, _ in }, clock: { [bench] in bench.now },
            ticks: { MonotonicTime(nanoseconds: 0) }, sender: script
        ) { NotificationDocument.body(of: $0, in: $1) }
        let target = try bench.target("https://example.com/hook")
        try notifier.adopt([target])
        #expect(try !notifier.turn(target))
        try bench.move(bench.announce("2.0"), .paused)
        #expect(try notifier.turn(target, isCancelled: { true }))
        #expect(script.sent.withLock { $0 } == [])
        #expect(try notifier.turn(target))
        #expect(try notifier.turn(target))
        #expect(try !notifier.turn(target))
        #expect(script.sent.withLock { $0 } == ["campaign.running", "campaign.paused"])
    }
}
