// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization
import Threading

/// An operator's signals: SIGHUP reloads, SIGTERM and SIGINT stop the daemon in order, and a second SIGTERM or SIGINT ends
/// the process at once.
final class DaemonSignals: Sendable {
    enum Order: Sendable {
        case reload
        case stop
    }

    private let orders = Mutex<[Order]>([])
    private let arrived = DispatchSemaphore(value: 0)
    private let stops = Atomic<Int>(0)

    /// - Parameter stopsWithInput: whether the end of standard input stops the daemon as SIGTERM does.
    init(stopsWithInput: Bool = false) throws {
        // A write to a socket that the peer has closed fails, and must not end the process (libcurl, threadsafe(3)).
        _ = signal(SIGPIPE, SIG_IGN)
        // Likewise a write to a file at its size limit: then "the system call fails with the error EFBIG" (setrlimit(2)).
        _ = signal(SIGXFSZ, SIG_IGN)
        // The watch lives as long as the process.
        _ = try SignalWatch([SIGHUP, SIGTERM, SIGINT]) { self.received($0) }
        if stopsWithInput { watchInput() }
    }

    /// Not PR_SET_PDEATHSIG: that follows the thread that started the process (prctl(2)), and threads of a pool come and go.
    ///
    /// A thread that reads, not a dispatch source: a source that is cancelled at the end of input is freed while epoll may
    /// still deliver its event. A daemon that stopped at once ended with SIGSEGV from this (seen under Thread Sanitizer).
    private func watchInput() {
        DispatchQueue(label: "input").async {
            var bytes = [UInt8](repeating: 0, count: 256)
            while true {
                // The program that started the daemon may have made the input non-blocking.
                var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&input, 1, -1)
                let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
                guard count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN)) else { break }
            }
            self.received(SIGTERM)
        }
    }

    private func received(_ number: Int32) {
        if number != SIGHUP, stops.add(1, ordering: .relaxed).newValue > 1 { _exit(128 + number) }
        orders.withLock { $0.append(number == SIGHUP ? .reload : .stop) }
        arrived.signal()
    }

    /// Acts like SIGHUP.
    func askForReload() {
        orders.withLock { $0.append(.reload) }
        arrived.signal()
    }

    /// Acts like the first SIGTERM.
    func askToStop() {
        orders.withLock { $0.append(.stop) }
        arrived.signal()
    }

    /// Blocks until the next order, in the order of the signals.
    func next() -> Order {
        while true {
            arrived.wait()
            if let order = orders.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return order }
        }
    }
}
