// SPDX-License-Identifier: Apache-2.0
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

    let polled: PollSet
    let mailbox: Mailbox<Command>

    init() throws(SystemError) {
        (mailbox, polled) = (try Mailbox(), try PollSet())
        guard polled.add(mailbox.descriptor, token: Self.token) else { throw SystemError("epoll_ctl", errno: errno) }
    }
}
