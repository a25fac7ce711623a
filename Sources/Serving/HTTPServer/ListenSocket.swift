// SPDX-License-Identifier: Apache-2.0
import Glibc
import Threading

/// Makes the sockets that the API listens on, and explains a failure.
package enum ListenSocket {
    /// As many as the system allows: "silently capped" to net.core.somaxconn (listen(2)).
    private static let backlog = Int32.max
    private static let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

    // MARK: TCP

    package static func network(_ address: ListenAddress) throws(ServerStartError) -> Int32 {
        let descriptor = try bound(address)
        guard listen(descriptor, backlog) == 0 else {
            let code = errno
            close(descriptor)
            throw failure(address, code)
        }
        return descriptor
    }

    /// A socket that has an address and does not listen: `network` may take the same address, the system gives it to no
    /// program that asks for any port (SO_REUSEADDR, socket(7)), and a client is refused.
    package static func bound(_ address: ListenAddress) throws(ServerStartError) -> Int32 {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let host: String? = address.host.isEmpty ? nil : address.host
        let status = unsafe getaddrinfo(host, String(address.port), &hints, &found)
        guard status == 0, let first = unsafe found else {
            let reason = unsafe gai_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
            throw ServerStartError(
                .badAddress, "cannot listen on \(address): \(reason)",
                hint: "Give an address of this machine and a port, such as 127.0.0.1:8480")
        }
        defer { unsafe freeaddrinfo(first) }
        let descriptor = unsafe socket(first.pointee.ai_family, flags, 0)
        guard descriptor >= 0 else { throw failure(address, errno) }
        var yes: Int32 = 1
        // A restart must not wait for the old connections' TIME_WAIT (tcp(7), socket(7)).
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else {
            let code = errno
            close(descriptor)
            throw failure(address, code)
        }
        return descriptor
    }

    private static func failure(_ address: ListenAddress, _ code: Int32) -> ServerStartError {
        let context = "cannot listen on \(address): \(SystemError.text(code))"
        switch code {
        case EADDRINUSE:
            return ServerStartError(.inUse, context, hint: "Another program has the port; \"ss -ltnp\" shows which")
        case EADDRNOTAVAIL, EAFNOSUPPORT:
            return ServerStartError(.badAddress, context, hint: "The address must be one of this machine")
        case EACCES:
            return ServerStartError(.notPermitted, context, hint: "Ports below 1024 need CAP_NET_BIND_SERVICE")
        default:
            return ServerStartError(.failed, context)
        }
    }

    /// The port that the system chose.
    package static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bigEndian: UInt16? = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let status = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
            guard status == 0 else { return nil }
            // The port is at the same place in both: ip(7), ipv6(7).
            return unsafe pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { unsafe $0.pointee.sin_port }
        }
        return bigEndian.map { UInt16(bigEndian: $0) }
    }

    // MARK: Unix

    /// A bound control socket, recognised by its inode.
    struct Control {
        var descriptor: Int32
        var path: String
        var device: dev_t
        var inode: ino_t
    }

    /// - Parameter group: the group that gets the socket, with the mode 0660 instead of `mode`.
    static func control(path: String, mode: UInt32, group: UInt32? = nil) throws(ServerStartError) -> Control {
        try clear(path)
        let descriptor = socket(AF_UNIX, flags, 0)
        guard descriptor >= 0 else { throw failure(path, errno) }
        // On Linux the file takes its permissions from the socket's own (less the umask), so at no moment can another user
        // connect; the second call undoes the umask.
        _ = fchmod(descriptor, mode_t(mode))
        var status = stat()
        guard try unsafe connected(path, { unsafe bind(descriptor, $0, $1) }) == 0,
            unsafe chmod(path, mode_t(mode)) == 0,
            listen(descriptor, backlog) == 0, unsafe lstat(path, &status) == 0
        else {
            let code = errno
            close(descriptor)
            throw failure(path, code)
        }
        // The group first: until the chmod, `mode` still keeps its members out.
        if let group, unsafe (chown(path, uid_t.max, group) != 0 || chmod(path, 0o660) != 0) {
            let code = errno
            close(descriptor)
            _ = unsafe unlink(path)
            throw ServerStartError(
                .notPermitted, "cannot give the control socket \(path) to group \(group): \(SystemError.text(code))",
                hint: "The relay's own user must be in it (chown(2)): with systemd, SupplementaryGroups=")
        }
        return Control(descriptor: descriptor, path: path, device: status.st_dev, inode: status.st_ino)
    }

    /// The file that a socket is bound to; nil where it is bound to none.
    static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let bytes = unsafe withUnsafeBytes(of: address.sun_path) { unsafe Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Removes the socket file if it is still the one that `control` made.
    static func remove(_ control: Control) {
        var status = stat()
        guard unsafe lstat(control.path, &status) == 0, status.st_dev == control.device,
            status.st_ino == control.inode
        else { return }
        _ = unsafe unlink(control.path)
    }

    /// Makes room for the socket. Deletes only a socket that no program answers on.
    private static func clear(_ path: String) throws(ServerStartError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw failure(path, errno)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ServerStartError(
                .inUse, "cannot make the control socket \(path): something that is no socket is there",
                hint: "Move it away, or choose another path for listen.controlSocket")
        }
        let probe = socket(AF_UNIX, flags, 0)
        guard probe >= 0 else { throw failure(path, errno) }
        defer { close(probe) }
        let answered = try unsafe connected(path) { unsafe connect(probe, $0, $1) }
        let code = errno
        // EAGAIN: a program listens on it, and its backlog is full (unix(7)).
        if answered == 0 || code == EAGAIN {
            throw ServerStartError(
                .inUse, "cannot make the control socket \(path): another daemon answers on it",
                hint: "Stop it first, or choose another path for listen.controlSocket")
        }
        guard code == ECONNREFUSED else { throw failure(path, code) }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw failure(path, errno) }
    }

    private static func connected(
        _ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(ServerStartError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        // unix(7): a null byte ends the path.
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else {
            throw ServerStartError(
                .badAddress,
                "the control socket's path must have 1 to \(room - 1) bytes; \(path) has \(bytes.count)")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> ServerStartError {
        ServerStartError(
            code == ENOENT ? .badAddress : code == EACCES ? .notPermitted : .failed,
            "cannot make the control socket \(path): \(SystemError.text(code))",
            hint: code == ENOENT ? "Make its directory first" : nil)
    }
}
