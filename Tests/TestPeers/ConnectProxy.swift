// SPDX-License-Identifier: Apache-2.0
import Glibc
import Threading

/// An HTTP proxy on loopback that knows CONNECT (RFC 9110, 9.3.6) and nothing else.
package final class ConnectProxy: Sendable {
    package struct State: Sendable {
        /// The first line of each request.
        package var requests: [String] = []
        package var isStopping = false
    }

    package let state = Watched(State())
    package let port: UInt16
    private let listener: Int32
    private let thread: NativeThread

    /// - Parameter refusal: the status with which it answers instead of connecting, for example "407 Proxy Authentication
    ///   Required".
    package init(refusal: String? = nil) throws {
        (listener, port) = try Loopback.listen()
        thread = try NativeThread(name: "proxy") { [listener, state] in
            while true {
                let socket = Loopback.accept(listener)
                if socket < 0 || state.now.isStopping {
                    if socket >= 0 { close(socket) }
                    return
                }
                (try? NativeThread(name: "tunnel") {
                    Self.serve(socket, state, refusal)
                    close(socket)
                })?.detach()
            }
        }
    }

    private static func serve(_ client: Int32, _ state: Watched<State>, _ refusal: String?) {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        // Byte by byte, so that no byte for the server is read here.
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard head.count < 8192, read(client, &byte, 1) == 1 else { return }
            head.append(byte)
        }
        let line = String(decoding: head.prefix { $0 != 13 }, as: UTF8.self)
        state.change { $0.requests.append(line) }
        let words = line.split(separator: " ")
        guard refusal == nil, words.count == 3, words[0] == "CONNECT", let colon = words[1].lastIndex(of: ":"),
            let port = UInt16(words[1][words[1].index(after: colon)...]),
            let server = try? Loopback.connect(
                String(words[1][..<colon].filter { $0 != "[" && $0 != "]" }), port: port)
        else {
            say("HTTP/1.1 \(refusal ?? "502 Bad Gateway")\r\ncontent-length: 0\r\n\r\n", to: client)
            return
        }
        defer { close(server) }
        say("HTTP/1.1 200 Connection established\r\n\r\n", to: client)
        var buffer = [UInt8](repeating: 0, count: 65536)
        // Until either side has closed its end.
        while true {
            var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&ends, 2, -1)
            for (from, to) in [(0, server), (1, client)] where ends[from].revents != 0 {
                let count = read(ends[from].fd, &buffer, buffer.count)
                guard count > 0, send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
            }
        }
    }

    private static func say(_ text: String, to socket: Int32) {
        let bytes = Array(text.utf8)
        _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    package func stop() {
        state.change { $0.isStopping = true }
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }
}
