// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The descriptors that one thread waits for (epoll(7), level-triggered). Each has a token, which the caller chooses.
///
/// `add`, `change` and `remove` may be called from any thread; a `Poller` waits. A descriptor that is closed leaves by itself.
package final class PollSet: Sendable {
    /// The events of a descriptor that wake the thread. An error or the end of both directions always does.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let reading = Interest(rawValue: EPOLLIN.rawValue)
        package static let writing = Interest(rawValue: EPOLLOUT.rawValue)
        /// The peer sends nothing more, also where nothing is read.
        package static let hangUp = Interest(rawValue: EPOLLRDHUP.rawValue)
        /// Not all threads that wait for the descriptor are woken (epoll_ctl(2), EPOLLEXCLUSIVE). For `add` alone.
        package static let exclusive = Interest(rawValue: EPOLLEXCLUSIVE.rawValue)
    }

    fileprivate let descriptor: Int32

    package init() throws(SystemError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError("epoll_create1", errno: errno) }
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// - Returns: whether the kernel took it: it refuses for lack of memory, or at the limit of fs.epoll.max_user_watches.
    @discardableResult
    package func add(_ socket: Int32, token: UInt64, _ interest: Interest = .reading) -> Bool {
        control(EPOLL_CTL_ADD, socket, token, interest)
    }

    package func change(_ socket: Int32, token: UInt64, to interest: Interest) {
        _ = control(EPOLL_CTL_MOD, socket, token, interest)
    }

    package func remove(_ socket: Int32) {
        _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, nil)
    }

    private func control(_ operation: Int32, _ socket: Int32, _ token: UInt64, _ interest: Interest) -> Bool {
        var event = unsafe epoll_event(events: interest.rawValue, data: epoll_data_t(u64: token))
        return unsafe epoll_ctl(descriptor, operation, socket, &event) == 0
    }
}

/// Waits for a set's descriptors. Belongs to one thread.
@safe
package struct Poller: ~Copyable {
    /// The state of a descriptor.
    package struct Event {
        package let token: UInt64
        private let flags: UInt32

        fileprivate init(_ event: epoll_event) {
            (token, flags) = unsafe (event.data.u64, event.events)
        }

        /// There is input, its end among it.
        package var hasInput: Bool { flags & EPOLLIN.rawValue != 0 }
        package var hasRoom: Bool { flags & EPOLLOUT.rawValue != 0 }
        /// An error, or both directions have ended.
        package var isBroken: Bool { flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 }
        /// The peer sends nothing more; known only where `Interest.hangUp` asks for it.
        package var isHungUp: Bool { flags & EPOLLRDHUP.rawValue != 0 }
        /// A read returns at once: with input, with the end or with the error.
        package var isReadable: Bool { hasInput || isBroken || isHungUp }
    }

    private let set: PollSet
    private let events: UnsafeMutablePointer<epoll_event>
    private let capacity: Int

    /// - Parameter capacity: the most events of one wait. Default 64.
    package init(_ set: PollSet, capacity: Int = 64) {
        (self.set, self.capacity) = (set, capacity)
        unsafe events = .allocate(capacity: capacity)
    }

    deinit {
        unsafe events.deallocate()
    }

    /// Waits for `milliseconds` at most, -1 for ever; a signal only shortens the wait.
    ///
    /// - Returns: the number of events, which `event` hands out until the next wait.
    package func wait(milliseconds: Int32) -> Int {
        max(0, Int(unsafe epoll_wait(set.descriptor, events, Int32(capacity), milliseconds)))
    }

    package func event(_ index: Int) -> Event {
        precondition(index < capacity)
        return unsafe Event(events[index])
    }
}
