// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Advice for a user who may not open the control socket.
enum SocketAccess {
    static let ways =
        "become a member of the group that the socket belongs to, or use --url with --token (an operator makes one with "
        + "\"upgrade-relay tokens create\"), or use sudo"

    static func hint(_ path: String) -> String { hint(path, group: group(of: path)) }

    /// - Parameter group: the group that may use the socket; nil: there is none, or it cannot be seen.
    static func hint(_ path: String, group: String?) -> String {
        guard let group else { return "the control socket \(path) is not yours to use; \(ways)" }
        return "the control socket \(path) is open to members of the group \(group) (an administrator adds you with "
            + "\"usermod -aG \(group) NAME\"; log in again), or use --url with --token, or sudo"
    }

    private static func group(of path: String) -> String? {
        var information = stat()
        guard unsafe stat(path, &information) == 0, information.st_mode & S_IWGRP != 0, information.st_gid != 0,
            let entry = unsafe getgrgid(information.st_gid)
        else { return nil }
        return unsafe String(cString: entry.pointee.gr_name)
    }
}
