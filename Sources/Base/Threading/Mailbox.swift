// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import RelayEngine
import Synchronization

/// Events for one thread from many: posted under a lock, taken all at once.
///
/// The reader sleeps on an eventfd (eventfd(2)), in `take` or in a poll of its own: one write wakes it however many events
/// wait.
package final class Mailbox<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var isClosed = false
    }

    /// Readable while events wait: it is written and read under the lock, so that the reader never wakes for nothing.
    package let descriptor: Int32
    private let state = Mutex(State())

    package init() throws(SystemError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemError("eventfd", errno: errno) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// - Returns: false once the mailbox is closed; the event is then not taken.
    @discardableResult
    package func post(_ event: Event) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.events.append(event)
            if state.events.count == 1 { eventfd_write(descriptor, 1) }
            return true
        }
    }

    /// All events posted since the last call.
    package func take() -> [Event] {
        state.withLock { state in
            guard !state.events.isEmpty else { return [] }
            var count: eventfd_t = 0
            _ = unsafe eventfd_read(descriptor, &count)
            defer { state.events = [] }
            return state.events
        }
    }

    /// The events posted since the last call: at once if there are any, else when the first comes, when `other` becomes
    /// readable, or when `timeout` is over. The time-out is rounded up to poll(2)'s whole milliseconds: a reader that wakes
    /// too early would only wait again.
    ///
    /// - Parameter other: a descriptor; default none, as poll(2) ignores negative ones.
    package func take(timeout: Duration, orReadable other: Int32 = -1) -> [Event] {
        let waiting = take()
        if !waiting.isEmpty { return waiting }
        let milliseconds = Int32(clamping: max(0, (timeout + .nanoseconds(999_999)).milliseconds))
        var requests = (
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0)
        )
        unsafe withUnsafeMutableBytes(of: &requests) { bytes in
            _ = unsafe poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, milliseconds)
        }
        return take()
    }

    /// Takes the remaining events; later ones are refused.
    package func close() -> [Event] {
        state.withLock { state in
            state.isClosed = true
            defer { state.events = [] }
            return state.events
        }
    }
}
