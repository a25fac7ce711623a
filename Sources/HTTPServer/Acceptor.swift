// SPDX-License-Identifier: Apache-2.0
import CLinux
import Dispatch
import Glibc
import RelayEngine
import Telemetry
import Threading

/// Takes connections from a listening socket on a thread of its own, and hands each to whoever serves it.
///
/// One for all that serve: who accepts for itself takes the more connections the less it has to do at that moment, and keeps
/// them. And where the system has no descriptor for a connection, those that serve go on meanwhile.
@safe
final class Acceptor: Sendable {
    private let listening: Int32
    private let log: Log
    private let door: Door
    private let over: OneShotEvent
    private let ended = DispatchSemaphore(value: 0)

    /// Connections taken in one go before the end is looked for.
    private static let round = 64
    /// Milliseconds until the next try where the system has no descriptor or no memory for a connection.
    private static let rest: Int64 = 100

    /// - Parameter listening: stays the caller's; is made non-blocking.
    init(_ listening: Int32, door: Door, log: Log) throws(ServerStartError) {
        self.listening = listening
        self.door = door
        self.log = log
        over = try OneShotEvent()
        // A connection that is gone before it is taken must not block the thread (accept(2), NOTES).
        _ = fcntl(listening, F_SETFL, fcntl(listening, F_GETFL) | O_NONBLOCK)
    }

    /// - Parameter take: called on the thread with each connection's descriptor, which is its own from then on, and address.
    func start(_ take: @escaping @Sendable (Int32, UnsafePointer<sockaddr>, socklen_t) -> Void) {
        DispatchQueue(label: "acceptor").async { [self] in
            var pace = LogPace()
            while over.waitUnlessReadable(listening) {
                guard let code = unsafe acceptSome(take) else { continue }
                if let suppressed = pace.next(at: MonotonicClock.milliseconds()) {
                    log(
                        .error, "cannot take connections",
                        [("door", door.name), ("error", SystemError.text(code)), ("untold", String(suppressed))])
                }
                // The connection that could not be taken is still announced: without a rest this would spin.
                over.wait(milliseconds: Self.rest)
            }
            ended.signal()
        }
    }

    /// After `start`. Returns when the last connection has been handed over; who connects now waits in the socket's queue.
    func stop() {
        over.set()
        ended.wait()
    }

    /// - Returns: why no more can be taken for now.
    @unsafe
    private func acceptSome(_ take: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Void) -> Int32? {
        var storage = sockaddr_storage()
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                for _ in 0..<Self.round {
                    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                    let descriptor = unsafe relay_accept(listening, address, &length)
                    if descriptor >= 0 {
                        unsafe take(descriptor, address, length)
                        continue
                    }
                    switch errno {
                    case EAGAIN: return nil
                    // "Already-pending network errors on the new socket": the next one may be good (accept(2)).
                    case EINTR, ECONNABORTED, EPERM, EPROTO, ENOPROTOOPT, EOPNOTSUPP, ENETDOWN, ENETUNREACH, ENONET,
                        EHOSTDOWN, EHOSTUNREACH:
                        continue
                    default: return errno
                    }
                }
                return nil
            }
        }
    }
}
