// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization

/// A program that this process starts and waits for. Usable from any thread.
///
/// It has a process group of its own, so that a terminal's Ctrl-C does not reach it. It inherits only the descriptors in
/// `Streams`, and no signal is blocked in it.
package final class ChildProcess: Sendable {
    package enum End: Sendable, Hashable {
        /// By itself, with a code.
        case exited(Int32)
        /// By a signal.
        case killed(Int32)
    }

    /// The descriptors that become its standard streams.
    package struct Streams: Sendable {
        package var input = STDIN_FILENO
        package var output = STDOUT_FILENO
        package var error = STDERR_FILENO

        package init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, error: Int32 = STDERR_FILENO) {
            (self.input, self.output, self.error) = (input, output, error)
        }
    }

    private let number: pid_t
    /// The end that waitpid(2) has returned: from then on `number` may belong to another process.
    private let known = Mutex<End?>(nil)

    /// - Parameters:
    ///   - path: the path of the program.
    ///   - folder: its working directory.
    ///   - streams: the caller keeps the descriptors, and closes those that it no longer needs.
    /// - Throws: where it cannot be started.
    package init(_ path: String, _ arguments: [String], in folder: String, _ streams: Streams) throws(SystemError) {
        var number = pid_t()
        let result = unsafe Self.spawn(&number, path, arguments, folder, streams)
        guard result == 0 else { throw SystemError(path, errno: result) }
        self.number = number
    }

    private static func spawn(
        _ number: UnsafeMutablePointer<pid_t>, _ path: String, _ arguments: [String], _ folder: String,
        _ streams: Streams
    ) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // A descriptor that is passed for 0 to 2 may be one of them already: dup2(2) keeps it, and clears its FD_CLOEXEC
        // (posix_spawn(3)).
        unsafe posix_spawn_file_actions_adddup2(&actions, streams.input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, streams.output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, streams.error, STDERR_FILENO)
        let result = unsafe relay_spawn_limits(&actions, folder)
        guard result == 0 else { return result }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        return unsafe posix_spawn(number, path, &actions, &attributes, &words, relay_environment())
    }

    deinit {
        // A child that has ended would stay a zombie.
        _ = end
    }

    /// How it has ended; nil while it runs.
    package var end: End? {
        known.withLock { known in
            if known == nil { known = ended() }
            return known
        }
    }

    package var isRunning: Bool { end == nil }

    /// Sends it a signal; does nothing where it has ended.
    package func send(_ signal: Int32) {
        known.withLock { known in
            if known == nil { known = ended() }
            if known == nil { kill(number, signal) }
        }
    }

    /// Returns when it has ended.
    @discardableResult
    package func wait() -> End {
        while true {
            if let end { return end }
            // WNOWAIT keeps the status available: the thread that takes the lock first collects it.
            var information = unsafe siginfo_t()
            _ = unsafe waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT)
        }
    }

    /// Asks the system for the end, without waiting; nil while the child runs. Called under the lock.
    private func ended() -> End? {
        var status: Int32 = 0
        let answer = unsafe waitpid(number, &status, WNOHANG)
        guard answer != 0 else { return nil }
        // No other code waits for children here; if it did, the exit code would be unknown.
        guard answer == number else { return errno == EINTR ? nil : .exited(-1) }
        // The same as WIFEXITED, WEXITSTATUS and WTERMSIG compute (bits/waitstatus.h).
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
    }
}
