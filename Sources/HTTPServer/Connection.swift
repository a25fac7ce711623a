// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Threading

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
    /// Its state, in one word: who looks sees a deadline and whose it is.
    private let word: Atomic<Int64>

    struct State: Hashable, Sendable {
        /// In milliseconds of the monotonic clock.
        var overdue: Int64
        /// Between two requests: the client loses nothing but a handshake when it is closed.
        var isIdle: Bool

        fileprivate static let never = Int64.max >> 1

        fileprivate init(overdue: Int64, isIdle: Bool) {
            self.overdue = overdue
            self.isIdle = isIdle
        }

        fileprivate init(word: Int64) { self.init(overdue: word >> 1, isIdle: word & 1 != 0) }

        fileprivate var word: Int64 { overdue << 1 | (isIdle ? 1 : 0) }
    }

    init(
        socket: Int32, peer: PeerAddress, refusal: PeerRefusal? = nil, certificates: TLSCertificates? = nil,
        times: ConnectionTimes, now: Int64 = MonotonicClock.milliseconds()
    ) {
        self.socket = socket
        self.peer = peer
        self.refusal = refusal
        self.certificates = certificates
        self.times = times
        word = Atomic(State(overdue: now + times.idle, isIdle: true).word)
    }

    var state: State { State(word: word.load(ordering: .relaxed)) }

    private func set(_ overdue: Int64, isIdle: Bool = false) {
        word.store(State(overdue: overdue, isIdle: isIdle).word, ordering: .relaxed)
    }

    /// The request line is there: head and body must follow, in all and not from byte to byte.
    func requestBegan(now: Int64 = MonotonicClock.milliseconds()) {
        set(now + times.request)
    }

    /// Enough of a stream has moved, or an answer is ready to be taken: the time counts anew.
    func progressed(now: Int64 = MonotonicClock.milliseconds()) {
        set(now + times.request)
    }

    /// The relay itself is at work: its client is not to blame.
    func waits() {
        set(State.never)
    }

    func requestEnded(now: Int64 = MonotonicClock.milliseconds()) {
        set(now + times.idle, isIdle: true)
    }
}

/// How long a client may take, in milliseconds.
struct ConnectionTimes: Sendable {
    /// Until the next request line is complete.
    var idle: Int64
    /// From the request line to the end of the body; then again for the answer, and for each piece of a stream.
    var request: Int64
}
