// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A user of the system, as history and log show the peer of the control socket.
package enum SystemUser {
    /// "alice (uid 1000)"; "uid 1000" where the system has no name for it. The kernel vouches for the number alone.
    package static func shown(_ id: UInt32) -> String {
        name(id).map { "\($0) (uid \(id))" } ?? "uid \(id)"
    }

    /// The user who logged in, whatever user this process became by sudo or su since then (proc_pid_loginuid(5)). nil: the process
    /// comes from no login, as systemd's services do.
    package static var login: UInt32? {
        guard let bytes = try? WholeFile.read("/proc/self/loginuid", limit: 64) else { return nil }
        return login(String(decoding: bytes, as: UTF8.self))
    }

    /// - Parameter text: what the file holds; "4294967295", which is -1, where there was no login.
    static func login(_ text: String) -> UInt32? {
        guard let id = UInt32(text.prefix { $0.isNumber }), id != .max else { return nil }
        return id
    }

    private static func name(_ id: UInt32) -> String? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var room = [CChar](repeating: 0, count: 16 * 1024)
        guard unsafe getpwuid_r(id, &entry, &room, room.count, &found) == 0, unsafe found != nil,
            let name = unsafe entry.pw_name
        else { return nil }
        let text = unsafe String(cString: name)
        return text.isEmpty ? nil : text
    }
}
