// SPDX-License-Identifier: Apache-2.0
import CLinux
import Threading

/// An epoll set, level-triggered; each descriptor has a token, which the caller chooses.
@safe
struct Poller: ~Copyable {
    private let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private static let capacity = 64

    struct Event {
        let token: UInt64
        let isReadable: Bool
        let isWritable: Bool
    }

    /// - Parameter descriptor: an epoll set that outlives the poller and still belongs to its owner.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        unsafe events = .allocate(capacity: Self.capacity)
    }

    deinit {
        unsafe events.deallocate()
    }

    /// - Returns: whether the kernel took it.
    func add(_ socket: Int32, token: UInt64) -> Bool {
        var event = unsafe epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: token))
        return unsafe epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event) == 0
    }

    func watch(_ socket: Int32, token: UInt64, forWriting: Bool) {
        let wanted = forWriting ? EPOLLIN.rawValue | EPOLLOUT.rawValue : EPOLLIN.rawValue
        var event = unsafe epoll_event(events: wanted, data: epoll_data_t(u64: token))
        _ = unsafe epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event)
    }

    func remove(_ socket: Int32) {
        _ = epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, nil)
    }

    /// Waits for `milliseconds` at most; a signal only shortens the wait.
    func wait(milliseconds: Int32, _ handle: (Event) -> Void) {
        let count = unsafe epoll_wait(descriptor, events, Int32(Self.capacity), milliseconds)
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = unsafe events[index]
            // An error or a hang-up shows as the next read's result.
            let broken = EPOLLERR.rawValue | EPOLLHUP.rawValue | EPOLLRDHUP.rawValue
            let token = unsafe event.data.u64
            let flags = unsafe event.events
            handle(
                Event(
                    token: token, isReadable: flags & (EPOLLIN.rawValue | broken) != 0,
                    isWritable: flags & (EPOLLOUT.rawValue | broken) != 0))
        }
    }
}
