// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One open connection: who is there, and until when something must happen on it.
///
/// Its own thread moves the deadline; the sweeper reads it. A deadline read a moment too late is no harm.
final class Connection: Sendable {
    let socket: Int32
    let peer: PeerAddress
    /// Why nobody on this connection is let in; nil: ask on.
    let refusal: PeerRefusal?
    let certificates: TLSCertificates?
    private let times: ConnectionTimes
    private let deadline: Atomic<Int64>
    /// Between two requests: the client loses nothing but a handshake when it is closed.
    private let idle = Atomic<Bool>(true)

    init(
        socket: Int32, peer: PeerAddress, refusal: PeerRefusal? = nil, certificates: TLSCertificates? = nil,
        times: ConnectionTimes, now: Int64 = MonotonicClock.milliseconds()
    ) {
        self.socket = socket
        self.peer = peer
        self.refusal = refusal
        self.certificates = certificates
        self.times = times
        deadline = Atomic(now + times.idle)
    }

    /// When it is overdue, in milliseconds of the monotonic clock.
    var overdue: Int64 { deadline.load(ordering: .relaxed) }
    var isIdle: Bool { idle.load(ordering: .relaxed) }

    /// The request line is there: head and body must follow, in all and not from byte to byte.
    func requestBegan(now: Int64 = MonotonicClock.milliseconds()) {
        idle.store(false, ordering: .relaxed)
        deadline.store(now + times.request, ordering: .relaxed)
    }

    /// Enough of a stream has moved, or an answer is ready to be taken: the time counts anew.
    func progressed(now: Int64 = MonotonicClock.milliseconds()) {
        deadline.store(now + times.request, ordering: .relaxed)
    }

    /// The relay itself is at work: its client is not to blame.
    func waits() {
        deadline.store(.max, ordering: .relaxed)
    }

    func requestEnded(now: Int64 = MonotonicClock.milliseconds()) {
        deadline.store(now + times.idle, ordering: .relaxed)
        idle.store(true, ordering: .relaxed)
    }
}

/// How long a client may take, in milliseconds.
struct ConnectionTimes: Sendable {
    /// Until the next request line is complete.
    var idle: Int64
    /// From the request line to the end of the body; then again for the answer, and for each piece of a stream.
    var request: Int64
}
