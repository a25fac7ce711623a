// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import Synchronization

/// A thread that runs a function, its turn, repeatedly: after each turn it rests for the time that the turn has returned, or
/// until it is woken.
package final class Worker: Sendable {
    private let bell = DispatchSemaphore(value: 0)
    private let stopping = CancellationFlag()
    private let thread = Mutex<NativeThread?>(nil)

    package init() {}

    package var isStopping: Bool { stopping.isSet }

    /// Starts the thread, whose first turn begins at once. Call it once.
    ///
    /// - Parameter turn: receives whether the rest ended by itself, not by `wake`; returns how long to rest, or nil, which
    ///   ends the thread.
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

    /// Asks the thread to end, without waiting for it.
    package func askToStop() {
        stopping.set()
        wake()
    }

    /// Ends the thread after its current turn, and waits for that.
    package func stop() {
        askToStop()
        thread.withLock { $0.take() }?.join()
    }
}
