// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
package import Signing
import Synchronization
package import TestPeers
import Threading
import WireFormat

/// App Store Connect on loopback, over real TLS: it verifies each token by Apple's published rules, and then gives the test's
/// answer.
package final class ConnectStandIn: Sendable {
    package struct Question: Sendable {
        package var target: String
        package var token: String
        /// The fault of the token; nil: it is good.
        package var refusal: String?
    }

    package struct Answer: Sendable {
        package var status: String
        package var headers: [String]
        package var body: String

        package init(status: String = "200 OK", headers: [String] = [], body: String) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }

    private struct State {
        /// The public keys of the accepted signatures, by key id.
        var keys: [String: ES256PublicKey]
        var answer: @Sendable (_ target: String) -> Answer
        package var questions: [Question] = []
    }

    package let address: String
    package let authority: String
    private let listener: Int32
    private let thread: NativeThread
    private let shared: Shared

    private final class Shared: Sendable {
        let state: Mutex<State>
        let isStopping = Atomic(false)
        let news = NSCondition()

        init(_ state: State) { self.state = Mutex(state) }
    }

    /// - Parameters:
    ///   - identity: default one of its own.
    ///   - host: its name in `address`.
    package init(
        keys: [String: ES256PublicKey], identity: TestIdentity? = nil, host: String = "127.0.0.1",
        answer: @escaping @Sendable (_ target: String) -> Answer
    ) throws {
        let identity = try identity ?? TestIdentity()
        let secure = try ServerSocket.Identity(identity)
        let (listener, port) = try Loopback.listen()
        let shared = Shared(State(keys: keys, answer: answer))
        (self.listener, self.shared) = (listener, shared)
        authority = identity.authorityPath
        address = "https://\(host):\(port)"
        thread = try NativeThread(name: "connect") {
            // A client that gives up closes the connection: this thread's write then fails, and the process lives on.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0, !shared.isStopping.load(ordering: .sequentiallyConsistent) else {
                    if socket >= 0 { close(socket) }
                    return
                }
                guard let socket = ServerSocket(socket, secure) else { continue }
                Self.serve(socket, shared)
            }
        }
    }

    package var questions: [Question] { shared.state.withLock { $0.questions } }

    /// Waits up to a minute for `count` requests. Returns whether they came.
    package func wait(for count: Int) -> Bool {
        let end = Date(timeIntervalSinceNow: 60)
        shared.news.lock()
        defer { shared.news.unlock() }
        while questions.count < count {
            guard shared.news.wait(until: end) else { return questions.count >= count }
        }
        return true
    }

    package func set(_ answer: @escaping @Sendable (_ target: String) -> Answer) {
        shared.state.withLock { $0.answer = answer }
    }

    package func set(keys: [String: ES256PublicKey]) {
        shared.state.withLock { $0.keys = keys }
    }

    package func stop() {
        shared.isStopping.store(true, ordering: .sequentiallyConsistent)
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }

    private static func serve(_ socket: ServerSocket, _ shared: Shared) {
        var seen: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while seen.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
            let count = socket.read(into: &buffer)
            guard count > 0 else { return }
            seen += buffer[0..<count]
        }
        let lines = String(decoding: seen, as: UTF8.self).split(separator: "\r\n")
        let target = lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let prefix = "authorization: bearer "
        let token = lines.first { $0.lowercased().hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) } ?? ""
        let now = Int64(Date().timeIntervalSince1970)
        let answer = shared.state.withLock { state in
            let refusal = refusal(of: token, state.keys, now)
            state.questions.append(Question(target: target, token: token, refusal: refusal))
            guard let refusal else { return state.answer(target) }
            return Answer(
                status: "401 Unauthorized",
                body: ConnectSample.error(
                    401, "NOT_AUTHORIZED", "Authentication credentials are missing or invalid.", refusal))
        }
        shared.news.lock()
        shared.news.broadcast()
        shared.news.unlock()
        let head = ["HTTP/1.1 \(answer.status)", "Content-Length: \(answer.body.utf8.count)", "Connection: close"]
        socket.write((head + answer.headers).joined(separator: "\r\n") + "\r\n\r\n" + answer.body)
    }

    /// The rules of Apple's "Generating Tokens for API Requests".
    private static func refusal(of token: String, _ keys: [String: ES256PublicKey], _ now: Int64) -> String? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]).flatMap({ try? JSONReader.read($0) }),
            let claims = Base64URL.decode(parts[1]).flatMap({ try? JSONReader.read($0) }),
            let signature = Base64URL.decode(parts[2])
        else { return "no JWT" }
        guard header["alg"]?.string == "ES256", header["typ"]?.string == "JWT" else { return "the header" }
        guard let id = header["kid"]?.string, let key = keys[id] else { return "the key id" }
        guard key.isValid(signature, for: Array((parts[0] + "." + parts[1]).utf8)) else { return "the signature" }
        guard claims["aud"]?.string == "appstoreconnect-v1" else { return "aud" }
        guard (claims["iss"]?.string == ConnectSample.issuer) != (claims["sub"]?.string == "user") else { return "iss" }
        guard let issued = claims["iat"]?.integer, let end = claims["exp"]?.integer, issued <= now, end > now,
            end <= now + 1200
        else { return "iat or exp" }
        return nil
    }
}
