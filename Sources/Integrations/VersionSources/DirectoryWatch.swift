// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Reports when something happens in the directories of watched files, by inotify.
///
/// It watches directories, not files: a watch on a file would stay with the old inode when another file is renamed over it
/// (inotify(7), "Limitations"), and every editor renames. The name in an event does not matter, since the file itself is always
/// read. Used by one thread.
final class DirectoryWatch {
    /// Readable when something happened; -1 where the system provides none (the files are only polled then).
    let descriptor: Int32
    private var watches: [String: Int32] = [:]

    init() {
        descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Watches exactly these directories, as far as they exist.
    ///
    /// A repeated call keeps the watch of an unchanged directory and renews that of a replaced one.
    func watch(_ directories: Set<String>) {
        guard descriptor >= 0 else { return }
        let mask =
            UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
            | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
            | UInt32(IN_ONLYDIR)
        var present: [String: Int32] = [:]
        for directory in directories {
            let watch = unsafe inotify_add_watch(descriptor, directory, mask)
            if watch >= 0 { present[directory] = watch }
        }
        for old in Set(watches.values).subtracting(present.values) { inotify_rm_watch(descriptor, old) }
        watches = present
    }

    /// Takes all events that wait, and returns whether there were any.
    func drain() -> Bool {
        guard descriptor >= 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var any = false
        while unsafe read(descriptor, &buffer, buffer.count) > 0 { any = true }
        return any
    }
}
