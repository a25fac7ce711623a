// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Threading

/// Something that happens once, and that threads can wait for: the server's stop, say.
package final class Signal: Sendable {
    /// Readable from the moment of `set` on: nobody ever reads it.
    private let event: Int32

    package init() throws(ServerStartError) {
        event = eventfd(0, Int32(EFD_CLOEXEC))
        guard event >= 0 else { throw ServerStartError(.failed, "eventfd failed: \(SystemError.text(errno))") }
    }

    deinit {
        close(event)
    }

    package func set() {
        // Adding 1 to an eventfd's counter fails only near 2^64.
        _ = eventfd_write(event, 1)
    }

    package var isSet: Bool { wait(milliseconds: 0) }

    /// Returns early, and true, when it has happened.
    @discardableResult
    package func wait(milliseconds: Int64) -> Bool {
        var poll = pollfd(fd: event, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, Int32(milliseconds)) > 0
    }

    /// Waits until `descriptor` can be read or the signal is set, without a limit.
    ///
    /// - Returns: whether it may be read; false when the signal is set.
    func waitUnlessReadable(_ descriptor: Int32) -> Bool {
        var polls = (
            pollfd(fd: event, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        )
        unsafe withUnsafeMutableBytes(of: &polls) { bytes in
            _ = unsafe Glibc.poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, -1)
        }
        return polls.0.revents == 0
    }
}

enum SystemError {
    /// The system's own words for an errno. glibc's strerror keeps its buffer per thread since 2.32.
    static func text(_ code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
