// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Log messages as they come, for tests that wait for one of them.
final class LogLines: Sendable {
    private let messages = Mutex<[String]>([])
    private let news = NSCondition()

    func add(_ message: String) {
        news.lock()
        messages.withLock { $0.append(message) }
        news.broadcast()
        news.unlock()
    }

    func count(of message: String) -> Int {
        messages.withLock { $0.count { $0 == message } }
    }

    /// Returns when the next message comes, or `rest` is over.
    func waitForNext(atMost rest: Duration) {
        news.lock()
        defer { news.unlock() }
        _ = news.wait(until: Date(timeIntervalSinceNow: rest / .seconds(1)))
    }

    /// Returns false when `deadline` passes first.
    func wait(for message: String, deadline: Duration) -> Bool {
        let end = Date(timeIntervalSinceNow: deadline / .seconds(1))
        news.lock()
        defer { news.unlock() }
        while !messages.withLock({ $0.contains(message) }) {
            guard news.wait(until: end) else { return false }
        }
        return true
    }
}
