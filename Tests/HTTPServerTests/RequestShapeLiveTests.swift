// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Telemetry
import Testing

@testable import HTTPServer

/// The same shapes, sent to a server over a socket.
@Suite("Requests over a socket, live", .serialized, .ownThread)
struct RequestShapeLiveTests {
    /// Answers with the request's method, target and body.
    private final class Echo: RequestHandler {
        let headerNames = ["authorization", "if-none-match"]

        func handle(_ head: RequestHead) -> any HandledRequest { Request(head) }

        func refuse(_ refusal: RequestRefusal) -> Response {
            Response(status: refusal.status, headers: [], body: .bytes(Array(refusal.detail.utf8)))
        }

        func refused(_ refusal: PeerRefusal) {}

        private final class Request: HandledRequest {
            let id = "1"
            private let head: RequestHead

            init(_ head: RequestHead) { self.head = head }

            func open() -> Opening {
                // Some are answered by the thread that serves the connection, others by one that may wait.
                if head.method == "GET", head.body == .none { return .answer(answer([])) }
                return .work(.reads) { [self] in .collect(limit: 1 << 20) { [self] in answer($0) } }
            }

            func answer(_ body: [UInt8]) -> Response {
                Response(status: 200, headers: [], body: .bytes(Array("\(head.method) \(head.target) ".utf8) + body))
            }

            func refuse(_ refusal: RequestRefusal) -> Response { Echo().refuse(refusal) }

            func failed(_ error: any Error) {}

            func conclude(_ response: Response) -> Response { response }
        }
    }

    /// All answers to `bytes`, until the server ends the connection.
    private static func ask(_ path: String, _ bytes: [UInt8]) throws -> [(status: Int, head: String, body: String)] {
        let client = try Client(path)
        client.send(bytes)
        var rest = Data(client.receiveAll())
        var answers: [(Int, String, String)] = []
        while !rest.isEmpty {
            let end = try #require(rest.range(of: Data("\r\n\r\n".utf8)), "\(String(decoding: rest, as: UTF8.self))")
            let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            let status = try #require(Int(head.dropFirst("HTTP/1.1 ".count).prefix(3)), "\(head)")
            rest = rest[end.upperBound...]
            guard status != 100 else { continue }
            let lengths = head.split(separator: "\r\n").filter { $0.hasPrefix("Content-Length: ") }
            let length = try #require(lengths.first.flatMap { Int($0.dropFirst(16)) })
            #expect(lengths.count == 1)
            // The body of an answer to HEAD does not come.
            let body = rest.prefix(min(length, rest.count))
            answers.append((status, head, String(decoding: body, as: UTF8.self)))
            rest = rest.dropFirst(length)
        }
        return answers
    }

    @Test("every shape has its answers, each once and in order, and nothing behind them")
    func shapes() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "shapes-\(UUID().uuidString).sock").path
        var settings = ServerSettings(listen: nil, controlSocket: path, log: .discarding)
        settings.limits.idleTime = 60_000
        let service = HTTPService(settings)
        try service.start(Echo())
        defer { service.stop() }
        for shape in RequestShape.all {
            let answers = try Self.ask(path, shape.bytes)
            let expected =
                shape.requests.map { ($0.hasPrefix("HEAD") ? "" : $0, 200) }
                + (shape.refusal.map { [($0.detail, $0.status)] } ?? [])
            #expect(answers.map(\.body) == expected.map(\.0), "\(shape)")
            #expect(answers.map(\.status) == expected.map(\.1), "\(shape)")
            let closing = answers.map { $0.head.contains("\r\nConnection: close") }
            #expect(closing == answers.indices.map { shape.ends && $0 == answers.count - 1 }, "\(shape)")
        }
    }
}

/// A client that sends all its bytes, and then reads.
private final class Client {
    private let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)

    init(_ path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends until the server takes no more.
    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            sent += count
        }
        shutdown(descriptor, Int32(SHUT_WR))
    }

    func receiveAll() -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return all }
            all.append(contentsOf: buffer[..<count])
        }
    }
}
