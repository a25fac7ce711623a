// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A user of the system, as history and log show the peer of the control socket.
package enum SystemUser {
    /// "alice (uid 1000)"; "uid 1000" where the system has no name for it. The kernel vouches for the number alone.
    package static func shown(_ id: UInt32) -> String {
        name(id).map { "\($0) (uid \(id))" } ?? "uid \(id)"
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
