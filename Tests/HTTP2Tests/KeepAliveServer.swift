// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestPeers
import Threading

/// A server on loopback that speaks HTTP/1.1 over TLS, keeps its connections, and answers as the test says: one thread for each
/// connection.
final class KeepAliveServer: Sendable {
    struct Request: Sendable {
        /// Connections count from 0, in the order in which they came; requests of a connection from 1.
        var connection: Int
        var number: Int
        /// The request line and the fields, in lines.
        var head: [String]
        var body: String
    }

    enum Answer: Sendable {
        /// Status, fields, body.
        case answer(Int, [String] = [], String = "")
        /// Ends the connection without an answer.
        case end
        /// Neither answers nor ends it until the server stops.
        case silence
    }

    struct State {
        var requests: [Request] = []
        var connections = 0
        var isStopping = false
    }

    let state = Watched(State())
    let port: UInt16
    private let listener: Int32
    private let thread: NativeThread

    init(_ identity: TestIdentity, answer: @escaping @Sendable (Request) -> Answer) throws {
        let tls = try ServerSocket.Identity(identity)
        (listener, port) = try Loopback.listen()
        thread = try NativeThread(name: "server") { [listener, state] in
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0, !state.now.isStopping else {
                    if socket >= 0 { close(socket) }
                    return
                }
                var number = 0
                state.change {
                    number = $0.connections
                    $0.connections += 1
                }
                let connection = number
                (try? NativeThread(name: "connection") {
                    if let socket = ServerSocket(socket, tls) { Self.serve(socket, connection, state, answer) }
                })?.detach()
            }
        }
    }

    private static func serve(
        _ socket: ServerSocket, _ connection: Int, _ state: Watched<State>, _ answer: (Request) -> Answer
    ) {
        var seen: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        var number = 0
        while true {
            guard let (head, body, rest) = split(seen) else {
                let count = socket.read(into: &buffer)
                guard count > 0 else { return }
                seen += buffer[0..<count]
                continue
            }
            seen = rest
            number += 1
            let request = Request(connection: connection, number: number, head: head, body: body)
            state.change { $0.requests.append(request) }
            switch answer(request) {
            case .answer(let status, let fields, let text):
                let lines = ["HTTP/1.1 \(status) OK"] + fields + ["content-length: \(text.utf8.count)", "", text]
                socket.write(lines.joined(separator: "\r\n"), isLast: false)
            case .end:
                return
            case .silence:
                _ = state.wait(seconds: 60) { $0.isStopping }
                return
            }
        }
    }

    /// The first request, and what follows it; nil while it is not whole.
    private static func split(_ bytes: [UInt8]) -> (head: [String], body: String, rest: [UInt8])? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let head = text[..<end.lowerBound].split(separator: "\r\n").map(String.init)
        let length = head.compactMap { $0.lowercased().hasPrefix("content-length: ") ? Int($0.dropFirst(16)) : nil }
            .first
        let start = text[..<end.upperBound].utf8.count
        guard bytes.count >= start + (length ?? 0) else { return nil }
        let body = bytes[start..<start + (length ?? 0)]
        return (head, String(decoding: body, as: UTF8.self), Array(bytes[(start + body.count)...]))
    }

    func stop() {
        state.change { $0.isStopping = true }
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }
}
