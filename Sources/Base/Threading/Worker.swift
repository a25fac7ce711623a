// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import Synchronization

/// A thread that takes turns: after each it rests for the time that the turn has returned, or until it is woken.
package final class Worker: Sendable {
    private let bell = DispatchSemaphore(value: 0)
    private let stopping = CancellationFlag()
    private let thread = Mutex<NativeThread?>(nil)

    package init() {}

    package var isStopping: Bool { stopping.isSet }

    /// Begins, with a turn at once. Call once.
    ///
    /// - Parameter turn: is passed whether the rest ended by itself, not by `wake`; returns how long to rest, nil: the thread
    ///   ends.
    /// - Throws: where the system has no thread left.
    package func start(_ name: String, _ turn: @escaping @Sendable (Bool) -> Duration?) throws(SystemError) {
        let thread = try NativeThread(name: name) { [self] in
            var isRestOver = false
            while !stopping.isSet, let rest = turn(isRestOver) {
                isRestOver = bell.wait(timeout: .now() + .milliseconds(Int(rest.milliseconds))) == .timedOut
            }
        }
        self.thread.withLock { $0 = thread }
    }

    package func wake() { bell.signal() }

    /// Does not wait for it.
    package func askToStop() {
        stopping.set()
        wake()
    }

    /// Returns when the thread has ended, after the turn that it is in.
    package func stop() {
        askToStop()
        thread.withLock { $0.take() }?.join()
    }
}
