// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Reports when files come into a folder (inotify(7)). For use by one thread.
final class FolderWatch {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard inotify_add_watch(descriptor, path, UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB)) >= 0 else {
            let code = errno
            close(descriptor)
            throw Unexpected("inotify on \(path): error \(code)")
        }
    }

    deinit { close(descriptor) }

    /// Waits for a file to come; returns at once if one came since the last call, and false when none comes within `time`.
    @discardableResult
    func wait(for time: Duration) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Int32(time / .milliseconds(1))) > 0 else { return false }
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &events, events.count) > 0 {}
        return true
    }
}
