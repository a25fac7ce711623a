// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Reports signals on a thread in place of their default actions. None is lost: a handler writes each into a pipe, as
/// signal-safety(7) allows (the "self-pipe trick", D. J. Bernstein). libdispatch requires that a signal is ignored before
/// it is watched (dispatch_source_create(3)), and a signal between these two steps is lost.
package final class SignalWatch: Sendable {
    private let numbers: [CInt]
    private let received: @Sendable (CInt) -> Void

    private static let watches = Mutex<[SignalWatch]>([])
    /// One for the process: a handler must find the writing end without a lookup.
    private static let pipe = Result { () throws(SystemError) -> PipeEnds in
        let ends = try PipeEnds()
        try NativeThread(name: "signals") { report(from: ends.reading) }.detach()
        return ends
    }

    /// - Parameter received: called on the thread "signals", once for each signal that comes from now on.
    package init(_ numbers: [CInt], _ received: @escaping @Sendable (CInt) -> Void) throws(SystemError) {
        (self.numbers, self.received) = (numbers, received)
        _ = try Self.pipe.get()
        Self.watches.withLock { $0.append(self) }
        for number in numbers {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                if case .success(let ends) = SignalWatch.pipe { _ = unsafe write(ends.writing, &byte, 1) }
                errno = before
            }
            action.sa_flags = SA_RESTART
            unsafe sigaction(number, &action, nil)
        }
    }

    /// Restores the signals' default actions.
    package func cancel() {
        Self.watches.withLock { $0.removeAll { $0 === self } }
        for number in numbers { signal(number, SIG_DFL) }
    }

    private static func report(from end: CInt) {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(end, &byte, 1)
            guard count == 1 || errno == EINTR else { return }
            guard count == 1 else { continue }
            let number = CInt(byte)
            for watch in watches.withLock({ $0 }) where watch.numbers.contains(number) { watch.received(number) }
        }
    }
}
