// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Synchronization
import Threading

/// Acts on what other relays tell, on a thread of its own: what it asks of the store may take its time, and the lease has none.
///
/// What comes while it is at work is one piece of news when it is done.
final class NewsDesk: Sendable {
    private let pending = Mutex(FleetNews())
    private let worker = Worker()

    /// - Throws: where the system has no thread left.
    func start(_ act: @escaping @Sendable (FleetNews) -> Void) throws {
        try worker.start("news") { [self] _ in
            let news = pending.withLock { pending in
                defer { pending = FleetNews() }
                return pending
            }
            if !news.isEmpty { act(news) }
            return .seconds(3600)
        }
    }

    /// Never waits.
    func take(_ news: FleetNews) {
        pending.withLock { $0.formUnion(news) }
        worker.wake()
    }

    /// Returns when the thread has ended, after what it is at. May be called without a start.
    func stop() { worker.stop() }
}
