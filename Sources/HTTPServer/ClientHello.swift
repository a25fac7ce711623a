// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waits on the socket for what a client says first, so that TLS takes its memory, some 40 KiB until the handshake is done,
/// for those alone who have said it. Half of it costs what an idle connection does.
struct ClientHello {
    /// What the socket waits for before it is announced (socket(7), SO_RCVLOWAT).
    private var awaited = 1

    /// RFC 8446, 5.1: type, version, length.
    private static let headSize = 5
    private static let handshake: UInt8 = 22
    /// Of a record's content.
    private static let longest = 16_384

    /// To be asked when the socket can be read.
    ///
    /// - Returns: whether the first record is there, or TLS has to see for itself why not: it is no hello, or the client has
    ///   ended before it was whole.
    mutating func isWhole(on socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        let count = unsafe recv(socket, &buffer, Self.headSize + Self.longest, Int32(MSG_PEEK))
        guard count > 0 else { return !(count < 0 && (errno == EAGAIN || errno == EINTR)) }
        var wanted = Self.headSize
        if count >= wanted {
            guard buffer[0] == Self.handshake else { return true }
            wanted += min(Self.longest, Int(buffer[3]) << 8 | Int(buffer[4]))
        }
        // Announced with less than it waits for: no more will come, or the kernel lacks room for it.
        let isWhole = count >= wanted || count < awaited
        wait(for: isWhole ? 1 : wanted, on: socket)
        return isWhole
    }

    private mutating func wait(for count: Int, on socket: Int32) {
        guard count != awaited else { return }
        awaited = count
        var value = Int32(count)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
