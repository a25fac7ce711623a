// SPDX-License-Identifier: Apache-2.0
import CLinux
import CurlTransport
import Glibc
import Threading

/// Commands of other threads to a lane: a mailbox that wakes its epoll. Posted from any thread, taken on the lane's.
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

    /// The inbox's token in epoll; connections count from 1.
    static let token: UInt64 = 0

    let pollDescriptor: Int32
    let mailbox: Mailbox<Command>

    init() throws(SystemError) {
        mailbox = try Mailbox()
        pollDescriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard pollDescriptor >= 0, Poller(pollDescriptor).add(mailbox.descriptor, token: Self.token) else {
            // Everything is initialised, so deinit runs and closes it.
            throw SystemError("epoll", errno: errno)
        }
    }

    deinit {
        Glibc.close(pollDescriptor)
    }
}
