// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A name for this process that is unique across machines: the machine's boot, the process's namespace, its number, and its
/// start time. Another process on the same machine can see whether it has ended; one elsewhere cannot.
package enum ProcessName {
    package static let own: String = {
        // Without /proc, the name is random at each start, and no other process can check it.
        guard let place, case .began(let began) = look(at: getpid()) else {
            return "\(UInt64.random(in: .min ... .max))"
        }
        return "\(place)/\(getpid())/\(began)"
    }()

    /// Whether the process of this name has certainly ended.
    package static func isEnded(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let place, "\(parts[0])/\(parts[1])" == place, let number = Int32(parts[2]) else {
            return false
        }
        return Self.isEnded(look(at: number), beganAt: parts[3])
    }

    /// The result of a look at a process by its number.
    enum Look: Equatable {
        /// It runs; its start time in ticks since the boot.
        case began(String)
        /// There is none, or its parent has not waited for it yet.
        case ended
        /// There is one, and /proc does not show it: it is mounted with hidepid (proc(5)), and another user runs the process.
        case hidden
    }

    /// - Parameter start: the start time that the name has.
    static func isEnded(_ look: Look, beganAt start: String) -> Bool {
        switch look {
        case .began(let began): began != start
        case .ended: true
        case .hidden: false
        }
    }

    /// The boot and the namespace: proc_sys_kernel(5), random/boot_id; pid_namespaces(7).
    private static let place: String? = {
        guard let boot = text("/proc/sys/kernel/random/boot_id")?.prefix(36), boot.count == 36 else { return nil }
        var status = stat()
        guard unsafe stat("/proc/self/ns/pid", &status) == 0 else { return nil }
        return "\(boot)/\(status.st_ino)"
    }()

    static func look(at process: Int32) -> Look {
        guard let stat = text("/proc/\(process)/stat") else {
            // A signal that may not be sent shows that the process is there (kill(2), EPERM).
            return kill(process, 0) == 0 || errno == EPERM ? .hidden : .ended
        }
        // The process's own name, in brackets, may hold blanks and brackets. Field 3 is the state (Z: a zombie, X: dead), field 22 the
        // start time (proc_pid_stat(5)).
        guard let end = stat.lastIndex(of: ")") else { return .hidden }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 19 else { return .hidden }
        return ["Z", "X"].contains(fields[0]) ? .ended : .began(String(fields[19]))
    }

    private static func text(_ path: String) -> String? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe fread(&bytes, 1, bytes.count, file)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
