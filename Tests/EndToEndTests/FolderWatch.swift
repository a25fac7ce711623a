// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Tells when files come into a folder (inotify(7)). Of one thread.
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

    /// Returns at once where something came since it was asked last; false when nothing comes within `time`.
    @discardableResult
    func wait(for time: Duration) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Int32(time / .milliseconds(1))) > 0 else { return false }
        var events = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &events, events.count) > 0 {}
        return true
    }
}
