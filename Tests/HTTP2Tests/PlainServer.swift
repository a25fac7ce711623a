// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestPeers
import Threading

/// An HTTP/1.1 server on loopback or on a local socket that answers each connection's one request with the test's bytes.
final class PlainServer: Sendable {
    struct State {
        var requests: [String] = []
        var isStopping = false
    }

    let state = Watched(State())
    let port: UInt16
    private let listener: Int32
    private let thread: NativeThread

    /// - Parameter answer: takes the request as text and returns the answer's bytes; "" sends nothing until the client closes.
    init(path: String? = nil, answer: @escaping @Sendable (String) -> String) throws {
        let listener = socket(
            path == nil ? AF_INET : AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var port: UInt16 = 0
        var isBound = false
        if let path {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(100)) }
            isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
                }
            }
            port = UInt16(bigEndian: address.sin_port)
        }
        guard isBound, listen(listener, 16) == 0 else { throw PeerError("bind") }
        self.listener = listener
        self.port = port
        thread = try NativeThread(name: "plain") { [state] in
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0, !state.now.isStopping else {
                    if socket >= 0 { close(socket) }
                    return
                }
                Self.serve(socket, state, answer)
                close(socket)
            }
        }
    }

    private static func serve(_ socket: Int32, _ state: Watched<State>, _ answer: (String) -> String) {
        var seen: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isWhole(String(decoding: seen, as: UTF8.self)) {
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { return }
            seen += buffer[0..<count]
        }
        let request = String(decoding: seen, as: UTF8.self)
        state.change { $0.requests.append(request) }
        let bytes = Array(answer(request).utf8)
        if bytes.isEmpty {
            // Sends nothing until the client closes.
            while read(socket, &buffer, buffer.count) > 0 {}
            return
        }
        _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func isWhole(_ text: String) -> Bool {
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        let head = parts[0].lowercased()
        if head.contains("transfer-encoding: chunked") { return parts[1].hasSuffix("0\r\n\r\n") }
        guard let length = head.split(separator: "\r\n").first(where: { $0.hasPrefix("content-length:") }) else {
            return true
        }
        return parts[1].utf8.count >= Int(length.drop { !$0.isNumber }) ?? 0
    }

    func stop() {
        state.change { $0.isStopping = true }
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }
}
