// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Synchronization
import Threading

/// Acts on news from other relays, on a thread of its own: its requests to the store may take long, and the thread of the
/// lease has no time for that.
///
/// News that comes while it works is merged, and handled together afterwards.
final class FleetHintHandler: Sendable {
    private let pending = Mutex(FleetHints())
    private let worker = Worker()

    /// - Throws: where the system has no thread left.
    func start(_ act: @escaping @Sendable (FleetHints) -> Void) throws {
        try worker.start("news") { [self] _ in
            let news = pending.withLock { pending in
                defer { pending = FleetHints() }
                return pending
            }
            if !news.isEmpty { act(news) }
            return .seconds(3600)
        }
    }

    /// Never waits.
    func take(_ news: FleetHints) {
        pending.withLock { $0.formUnion(news) }
        worker.wake()
    }

    /// Returns when the thread has ended, after its present work. May be called without a start.
    func stop() { worker.stop() }
}
