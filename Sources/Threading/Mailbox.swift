// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import RelayEngine
import Synchronization

/// Events for one thread from many: posted under a lock, taken all at once.
///
/// The reader sleeps in `poll` on an eventfd (eventfd(2)): one write wakes it however many events wait.
package final class Mailbox<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])
    private let descriptor: Int32

    package init() throws(ThreadingError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw ThreadingError("eventfd", errno: errno) }
    }

    deinit {
        close(descriptor)
    }

    package func post(_ event: Event) {
        let wasEmpty = events.withLock { events in
            defer { events.append(event) }
            return events.isEmpty
        }
        if wasEmpty { eventfd_write(descriptor, 1) }
    }

    /// All events posted since the last call, at once if there are any, else when the first comes or `timeout` is over:
    /// never before, for poll(2) counts whole milliseconds, and who wakes too early for what is due would only ask again.
    package func take(timeout: Duration) -> [Event] {
        let waiting = drain()
        if !waiting.isEmpty { return waiting }
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&request, 1, Int32(clamping: max(0, (timeout + .nanoseconds(999_999)).milliseconds)))
        return drain()
    }

    private func drain() -> [Event] {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(descriptor, &count)
        return events.withLock { events in
            defer { events.removeAll(keepingCapacity: true) }
            return events
        }
    }
}
