// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The sockets of the connections that are open, so that they can all be ended.
///
/// A descriptor is in here only while its owner keeps it open: `closed` comes before the close, and the lock is held while
/// a descriptor is used. So none is ever mistaken for another that the system gave the same number.
final class OpenConnections: Sendable {
    private struct State {
        var sockets: Set<Int32> = []
        var isClosing = false
    }

    private let state = Mutex(State())
    /// Closing, and nothing is left.
    private let drained: Signal

    init() throws(APIStartError) {
        drained = try Signal()
    }

    func opened(_ socket: Int32) {
        state.withLock { state in
            state.sockets.insert(socket)
            // Accepted a moment before the end.
            if state.isClosing { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    func closed(_ socket: Int32) {
        state.withLock { state in
            state.sockets.remove(socket)
            if state.isClosing, state.sockets.isEmpty { drained.set() }
        }
    }

    /// Lets the requests that are on their way be answered, for a socket whose clients are served again at once by who
    /// comes next: cutting one off would be as bad as refusing it. Accepting must have ended.
    ///
    /// - Parameter grace: milliseconds for what was accepted a moment ago to arrive, and again to be answered.
    func letFinish(grace: Int64) {
        drained.wait(milliseconds: grace)
        state.withLock { state in
            // Nothing new is read, but for what has arrived already; what is being answered goes out.
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RD)) }
        }
        let end = ContinuousClock.now + .milliseconds(grace)
        while ContinuousClock.now < end, state.withLock({ !$0.sockets.isEmpty }) { drained.wait(milliseconds: 5) }
    }

    /// Ends every connection and waits until the last one is gone, or for `patience` milliseconds.
    func closeAll(patience: Int64) {
        state.withLock { state in
            state.isClosing = true
            // The thread that reads or writes there wakes with an end of stream, and closes it.
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            if state.sockets.isEmpty { drained.set() }
        }
        drained.wait(milliseconds: patience)
    }
}
