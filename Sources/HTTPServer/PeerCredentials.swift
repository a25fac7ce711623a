// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Who is at the other end of a control socket (unix(7), SO_PEERCRED): as they were when they connected.
struct PeerCredentials: Hashable, Sendable {
    var user: UInt32
    /// The primary group and the supplementary ones.
    var groups: Set<UInt32>
    var process: Int32

    /// nil where the system does not say.
    static func of(_ socket: Int32) -> PeerCredentials? {
        var (user, group, process): (UInt32, UInt32, Int32) = (0, 0, 0)
        guard unsafe relay_peer_credentials(socket, &user, &group, &process) == 0 else { return nil }
        // NGROUPS_MAX is 65536; who is in more than a thousand groups is known by the first thousand.
        var groups = [UInt32](repeating: 0, count: 1024)
        let count = unsafe relay_peer_groups(socket, &groups, UInt32(groups.count))
        return PeerCredentials(
            user: user, groups: Set(groups.prefix(Int(max(0, count)))).union([group]), process: process)
    }
}

/// Whom the control socket lets in. Pure.
///
/// The file's permissions are the first guard and the kernel keeps them (unix(7): connecting needs write permission); this
/// is the second, for the day on which somebody chmods the socket or puts it where others write.
struct ControlAccess: Hashable, Sendable {
    /// The daemon's own user; with systemd's DynamicUser= that is nobody's login.
    var user: UInt32
    /// The socket's group, where its mode lets the group in.
    var group: UInt32?
    /// The mode lets everybody in. Then the group counts for nothing: in a user namespace (systemd's PrivateUsers=) this
    /// group and all of a stranger's have one and the same number, the overflow id (user_namespaces(7)), so that nobody but
    /// the kernel can tell its members, by a mode that is for them.
    var isOpenToAll = false

    /// As the socket's file says at this moment, whoever made it; nil: it has none.
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

/// Somebody who has no business on the control socket.
package struct PeerRefusal: Hashable, Sendable {
    /// nil: the system did not say who it is.
    package var user: UInt32?
    package var process: Int32?
    /// The group that would be let in.
    package var group: UInt32?
    /// The socket's mode lets everybody in, so that the group is not.
    package var isOpenToAll = false
}
