// SPDX-License-Identifier: Apache-2.0
import CLinux
import CurlTransport
import Glibc
import Synchronization

/// What other threads want of a lane. The eventfd wakes its epoll; it is written only when the inbox was empty before.
///
/// Outlives the lane where a thread is still dialling for it.
final class LaneInbox: Sendable {
    enum Command: Sendable {
        case addPool(PoolID, PoolConfiguration, any AnswerJudge)
        case submit(RequestBatch, PoolID)
        case withdraw(PoolID)
        case removePool(PoolID)
        case dialled(PoolID, Result<DialedConnection, TransportError>)
        case stop(within: Duration)
    }

    private struct State {
        var commands: [Command] = []
        var isClosed = false
    }

    /// What epoll calls the inbox; connections count from 1.
    static let token: UInt64 = 0

    let pollDescriptor: Int32
    private let wakeDescriptor: Int32
    private let state = Mutex(State())

    init() throws(LaneError) {
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeDescriptor >= 0 else { throw LaneError(doing: "eventfd", errno: errno) }
        pollDescriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard pollDescriptor >= 0, Poller(pollDescriptor).add(wakeDescriptor, token: Self.token) else {
            // Everything is initialised, so deinit runs and closes both.
            throw LaneError(doing: "epoll", errno: errno)
        }
    }

    deinit {
        Glibc.close(pollDescriptor)
        Glibc.close(wakeDescriptor)
    }

    /// - Returns: false when the lane reads no more; the command is the caller's again.
    func post(_ command: Command) -> Bool {
        let (isTaken, shouldWake) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.commands.append(command)
            return (true, state.commands.count == 1)
        }
        if shouldWake { _ = eventfd_write(wakeDescriptor, 1) }
        return isTaken
    }

    /// The lane's thread only.
    func take() -> [Command] {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(wakeDescriptor, &count)
        return state.withLock { state in
            let commands = state.commands
            state.commands = []
            return commands
        }
    }

    /// Takes what is left; nothing is accepted afterwards.
    func close() -> [Command] {
        state.withLock { state in
            state.isClosed = true
            let commands = state.commands
            state.commands = []
            return commands
        }
    }
}
