// SPDX-License-Identifier: Apache-2.0
import CLinux
import Foundation

/// A service manager's ear: hears the moment at which the daemon says that it is ready (sd_notify(3)), so that nobody has to
/// ask again and again and slow down what is measured.
final class ReadyListener {
    private let socket: Int32
    let path: String

    /// - Parameter path: where the socket is made; shorter than 108 bytes (unix(7)).
    init(path: String) throws {
        self.path = path
        unsafe unlink(path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isShort = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            unsafe room.copyBytes(from: bytes)
            return true
        }
        guard isShort else { throw BenchError("the socket's path is too long: \(path)") }
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isBound = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(socket, address, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound else {
            throw BenchError("\(path) cannot be listened on: \(unsafe String(cString: strerror(errno)))")
        }
    }

    deinit {
        close(socket)
        unsafe unlink(path)
    }

    /// - Throws: where nothing is said for a minute.
    func wait() throws {
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var room = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(socket, &room, room.count, 0)
            guard count >= 0 else { throw BenchError("the daemon did not become ready within a minute") }
            if String(decoding: room[..<count], as: UTF8.self).split(separator: "\n").contains("READY=1") { return }
        }
    }
}
