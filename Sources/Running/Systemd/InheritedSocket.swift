// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// A descriptor that the service manager opened for this process (sd_listen_fds(3)).
package struct InheritedSocket: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A stream socket that listens on IPv4 or IPv6.
        case network
        /// A stream socket that listens in the file system.
        case local
        /// Anything else: a datagram socket, a FIFO, a stored connection.
        case other
    }

    /// `FileDescriptorName=` of its socket unit.
    package var name: String
    package var descriptor: Int32
    package var kind: Kind
    /// "127.0.0.1:8480", "[::1]:8480" or a path.
    package var address: String

    /// Takes the sockets that were handed over. Works once: it unsets the variables, so that no child takes them for its
    /// own, and a second call finds nothing. The descriptors are closed on exec and do not block. The caller must close
    /// them, and never `shutdown` them, because the manager listens on a duplicate.
    ///
    /// Call it before other threads read the environment (unsetenv(3)).
    package static func takeAll() -> [InheritedSocket] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0, let names = unsafe names else { return [] }
        var sockets: [InheritedSocket] = []
        for index in 0..<Int(count) {
            let name = unsafe names[index].map { unsafe String(cString: $0) } ?? "unknown"
            unsafe free(names[index])
            let descriptor = SD_LISTEN_FDS_START + Int32(index)
            // The flag is shared with the manager's duplicate, which the manager never accepts on.
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            sockets.append(
                InheritedSocket(
                    name: name, descriptor: descriptor, kind: kind(of: descriptor), address: address(of: descriptor)))
        }
        unsafe free(names)
        return sockets
    }

    private static func address(of descriptor: Int32) -> String {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getsockname(descriptor, address, &length) == 0 else { return "?" }
                if unsafe Int32(address.pointee.sa_family) == AF_UNIX { return unsafe path(address, length) }
                var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
                let numeric = NI_NUMERICHOST | NI_NUMERICSERV
                let status = unsafe getnameinfo(
                    address, length, &host, socklen_t(host.count), &port, socklen_t(port.count), numeric)
                guard status == 0 else { return "?" }
                let name = text(host)
                return name.contains(":") ? "[\(name)]:\(text(port))" : "\(name):\(text(port))"
            }
        }
    }

    private static func path(_ address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t) -> String {
        unsafe address.withMemoryRebound(to: sockaddr_un.self, capacity: 1) { local in
            unsafe withUnsafeBytes(of: &local.pointee.sun_path) { bytes in
                // The name ends at the given length or at a null byte (unix(7)).
                let count = max(0, Int(length) - MemoryLayout<sa_family_t>.size)
                return unsafe String(decoding: bytes.prefix(count).prefix { $0 != 0 }, as: UTF8.self)
            }
        }
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func kind(of descriptor: Int32) -> Kind {
        let stream = Int32(SOCK_STREAM.rawValue)
        // The argument 1: only sockets that listen.
        if sd_is_socket_inet(descriptor, AF_INET, stream, 1, 0) > 0
            || sd_is_socket_inet(descriptor, AF_INET6, stream, 1, 0) > 0
        {
            return .network
        }
        return sd_is_socket_unix(descriptor, stream, 1, nil, 0) > 0 ? .local : .other
    }
}
