// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Waits on the socket for the client's first TLS record. So TLS takes its memory, some 40 KiB until the handshake is done,
/// only for clients that have sent a whole record. Half a record costs no more than an idle connection.
struct ClientHello {
    /// The number of bytes that must have arrived before the socket is reported as readable (socket(7), SO_RCVLOWAT).
    private var awaited = 1

    /// The head of a TLS record: type, version, length (RFC 8446, section 5.1).
    private static let headSize = 5
    private static let handshake: UInt8 = 22
    /// The largest content of a record, in bytes.
    private static let longest = 16_384

    /// Looks for a whole record; call it when the socket is readable.
    ///
    /// - Returns: whether TLS should read now: the first record is complete; or it is no handshake, or the client has ended
    ///   too early, and TLS then finds the error.
    mutating func isWhole(on socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        let count = unsafe recv(socket, &buffer, Self.headSize + Self.longest, Int32(MSG_PEEK))
        guard count > 0 else { return !(count < 0 && (errno == EAGAIN || errno == EINTR)) }
        var wanted = Self.headSize
        if count >= wanted {
            guard buffer[0] == Self.handshake else { return true }
            wanted += min(Self.longest, Int(buffer[3]) << 8 | Int(buffer[4]))
        }
        // Reported as readable with fewer bytes than awaited: no more will come, or the kernel lacks room for them.
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
