// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A POSIX thread of its own, for calls that block and loops that never end: neither belongs on Swift's cooperative pool.
///
/// All signals are blocked in it, so that they reach the main thread, and so that SIGPIPE cannot end the process.
package struct NativeThread: Sendable {
    private let identifier: pthread_t

    /// Starts `body`. Every thread started must be `join`ed or `detach`ed, once.
    /// - Parameter name: shown by top and perf; cut to 15 bytes, as Linux does.
    /// - Throws: when the system has no thread left (EAGAIN).
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let box = unsafe Unmanaged.passRetained(Body(name: name, run: body))
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        // A thread inherits its creator's mask: blocked during the creation, no signal reaches the thread at its start.
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        var made = pthread_t()
        let result = unsafe pthread_create(
            &made, nil,
            { argument in
                if let argument = unsafe argument {
                    let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                    _ = unsafe relay_thread_set_name(body.name)
                    body.run()
                }
                return nil
            }, box.toOpaque())
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        guard result == 0 else {
            unsafe box.release()
            throw SystemError(
                "thread \"\(name)\"", errno: result, hint: "the limit on tasks (TasksMax) may be too low")
        }
        identifier = made
    }

    /// Waits until the thread's body has returned.
    package func join() { _ = pthread_join(identifier, nil) }

    /// Lets the thread end by itself.
    package func detach() { pthread_detach(identifier) }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }
}
