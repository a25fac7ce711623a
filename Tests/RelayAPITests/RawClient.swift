// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A connection for bytes that a well-behaved client would not send.
final class RawClient {
    struct Failure: Error {
        var code: Int32
    }

    private let descriptor: Int32

    /// - Parameter receiveBuffer: the bytes that the kernel takes in for a client that does not read.
    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try connect(to: &address)
    }

    /// Data that is sent on a Unix socket has arrived when `send` returns (af_unix.c, `unix_stream_sendmsg`).
    init(unixSocket path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try connect(to: &address)
    }

    /// Connects; each read may take a minute from then on.
    private func connect<Address>(to address: inout Address) throws {
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard status == 0 else { throw Failure(code: errno) }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Whether the server has ended the connection, or does so within so many milliseconds.
    func isOver(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) <= 0
    }

    /// Reads the rest of a body; `text` is what `receiveHead` returned: its head, and perhaps a part of it.
    func receiveBody(after text: String) throws {
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let line = parts[0].split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        var missing = (line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0) - (parts.last?.utf8.count ?? 0)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while missing > 0 {
            let count = recv(descriptor, &buffer, min(missing, buffer.count), 0)
            guard count > 0 else { throw Failure(code: errno) }
            missing -= count
        }
    }

    /// Reads up to the end of the connection.
    func receiveAll() throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure(code: errno) }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Reads up to the end of the connection; an event stream, which has none, until it is silent for so many milliseconds.
    func receive(silence: Int32) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, silence) == 0 {
                let text = String(decoding: bytes, as: UTF8.self)
                if text.contains("text/event-stream") { return text }
                continue
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure(code: errno) }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// Reads up to the end of the first head, or of the connection.
    func receiveHead() throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure(code: errno) }
            bytes.append(contentsOf: buffer[..<count])
            let text = String(decoding: bytes, as: UTF8.self)
            if count == 0 || text.contains("\r\n\r\n") { return text }
        }
    }
}
