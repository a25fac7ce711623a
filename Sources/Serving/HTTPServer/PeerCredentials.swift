// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The process at the other end of a control socket, as it was when it connected (unix(7), SO_PEERCRED).
struct PeerCredentials: Hashable, Sendable {
    var user: UInt32
    /// The primary group and the supplementary ones.
    var groups: Set<UInt32>
    var process: Int32

    /// nil where the system does not report it.
    static func of(_ socket: Int32) -> PeerCredentials? {
        var (user, group, process): (UInt32, UInt32, Int32) = (0, 0, 0)
        guard unsafe relay_peer_credentials(socket, &user, &group, &process) == 0 else { return nil }
        // NGROUPS_MAX is 65536; only the first 1024 groups of a user are read.
        var groups = [UInt32](repeating: 0, count: 1024)
        let count = unsafe relay_peer_groups(socket, &groups, UInt32(groups.count))
        return PeerCredentials(
            user: user, groups: Set(groups.prefix(Int(max(0, count)))).union([group]), process: process)
    }
}

/// Decides which peers the control socket lets in. Pure.
///
/// The file's permissions are the first guard, enforced by the kernel (unix(7): connecting needs write permission). This is
/// the second, in case an operator chmods the socket or puts it where other users can write.
struct ControlAccess: Hashable, Sendable {
    /// The daemon's own user; with systemd's DynamicUser= no person logs in as it.
    var user: UInt32
    /// The socket's group, where its mode lets the group in.
    var group: UInt32?
    /// The mode lets every user in. Then the group counts for nothing: in a user namespace (systemd's PrivateUsers=) this
    /// group and all groups of a stranger appear as the same number, the overflow id (user_namespaces(7)). Only the kernel
    /// can recognise the group's members, by a mode that lets only them in.
    var isOpenToAll = false

    /// Reads the socket file's present mode and group; nil: it has no file.
    static func of(file: String?) -> ControlAccess {
        var status = stat()
        let isThere = file.map { path in unsafe lstat(path, &status) == 0 } ?? false
        return ControlAccess(
            user: geteuid(), group: isThere && status.st_mode & S_IWGRP != 0 ? status.st_gid : nil,
            isOpenToAll: isThere && status.st_mode & S_IWOTH != 0)
    }

    func refusal(of peer: PeerCredentials?) -> PeerRefusal? {
        if let peer {
            if peer.user == 0 || peer.user == user { return nil }
            if let group, !isOpenToAll, peer.groups.contains(group) { return nil }
        }
        return PeerRefusal(user: peer?.user, process: peer?.process, group: group, isOpenToAll: isOpenToAll)
    }
}

/// A peer that may not use the control socket.
package struct PeerRefusal: Hashable, Sendable {
    /// nil: the system did not report the user.
    package var user: UInt32?
    package var process: Int32?
    /// The group that would be let in.
    package var group: UInt32?
    /// The socket's mode lets every user in, so the group does not count.
    package var isOpenToAll = false
}
