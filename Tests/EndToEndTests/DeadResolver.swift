// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread

/// Names whose lookup never ends, as with a name server that is gone.
///
/// The C library looks for aliases of names without a dot in the file that HOSTALIASES names (hostname(7)). Here that is a FIFO
/// which is open for writing and stays empty, so its readers wait (fifo(7)).
final class DeadResolver {
    /// False unless DNS is asked right after the files: the FIFO may not be read otherwise.
    static let isPossible: Bool = {
        let lines = (try? String(contentsOfFile: "/etc/nsswitch.conf", encoding: .utf8)) ?? "hosts: files dns"
        let hosts = lines.split(separator: "\n").first { $0.hasPrefix("hosts:") } ?? ""
        return hosts.split(separator: " ").dropFirst() == ["files", "dns"]
    }()

    let path: String
    private let writer: Int32
    private let watch: Int32

    init(in folder: URL) throws {
        path = folder.appending(path: "aliases").path
        // Opening a FIFO for reading and writing does not wait for a peer (fifo(7)).
        guard mkfifo(path, 0o600) == 0, case let writer = open(path, O_RDWR | O_CLOEXEC), writer >= 0 else {
            throw Unexpected("no FIFO at \(path): error \(errno)")
        }
        self.writer = writer
        watch = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard inotify_add_watch(watch, path, UInt32(IN_OPEN)) >= 0 else {
            throw Unexpected("inotify on \(path): error \(errno)")
        }
    }

    deinit {
        close(writer)
        close(watch)
    }

    /// Waits until one more thread looks a name up; false when none does within a minute.
    func waitForQuestion() -> Bool {
        var request = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, Int32(60_000 * Patience.factor)) > 0 else { return false }
        // One event of 16 bytes: a watched file's events have no name in them (inotify(7)).
        var event = [UInt8](repeating: 0, count: MemoryLayout<inotify_event>.size)
        return read(watch, &event, event.count) > 0
    }
}
