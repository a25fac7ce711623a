// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TestPeers
import Threading

/// An HTTP/1.1 server on loopback that gives each request the test's answer.
final class LocalServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let thread: NativeThread
    private let isStopping: Flag

    var address: String { "http://127.0.0.1:\(port)" }

    /// - Parameter answer: takes the request's head, and returns the whole answer, head and body.
    init(answer: @escaping @Sendable (String) -> String) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isBound, listen(listener, 16) == 0 else { throw LocalServerError() }
        let flag = Flag()
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        isStopping = flag
        thread = try NativeThread(name: "server") {
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0, !flag.isSet else {
                    if socket >= 0 { close(socket) }
                    return
                }
                Self.serve(socket, answer)
                close(socket)
            }
        }
    }

    private static func serve(_ socket: Int32, _ answer: (String) -> String) {
        var seen: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while !String(decoding: seen, as: UTF8.self).contains("\r\n\r\n") {
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { return }
            seen += buffer[0..<count]
        }
        let bytes = Array(answer(String(decoding: seen, as: UTF8.self)).utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // The client has closed.
            guard count > 0 else { return }
            sent += count
        }
    }

    func stop() {
        isStopping.set()
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }

    /// An answer with its length.
    static func response(_ status: String, headers: [String] = [], body: String = "") -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers)
            .joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    struct LocalServerError: Error {}

    final class Flag: Sendable {
        private let flag = Atomic(false)
        var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }
        func set() { flag.store(true, ordering: .sequentiallyConsistent) }
    }
}
