// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RelayEngine
package import Signing
import Synchronization
package import TestPeers
import Threading

/// A receiver of webhooks on loopback that verifies every request with the project's own `WebhookVerifier` before it gives the
/// test's answer. Keeps all deliveries.
package final class HookReceiver: Sendable {
    package struct Delivery: Sendable {
        /// By name in lower case.
        package var headers: [String: String]
        package var body: [UInt8]
        package var verdict: WebhookVerdict

        /// Whether the signature is right, and for the id that came with it.
        package var isVerified: Bool { verdict == .verified(receiptID: id) }
        package var id: String { headers["webhook-id"] ?? "" }
        package var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]) ?? [:]
        }
        package var type: String { json["type"] as? String ?? "" }
        package var data: [String: Any] { json["data"] as? [String: Any] ?? [:] }
    }

    package static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    package let port: UInt16
    package var url: String { "\(isSecure ? "https" : "http")://127.0.0.1:\(port)/hook?key=k" }
    private let isSecure: Bool
    private let listener: Int32
    private let thread: NativeThread
    private let inbox: Inbox

    /// The state that the server's thread and the test share.
    private final class Inbox: Sendable {
        let deliveries = Mutex<[Delivery]>([])
        let isStopping = Atomic(false)
        let news = NSCondition()
    }

    /// - Parameters:
    ///   - port: 0: any free one.
    ///   - identity: the certificate for TLS; nil: plain HTTP.
    ///   - answer: gets the delivery and the number of earlier ones; nil closes the connection without an answer.
    package init(
        port: UInt16 = 0, identity: TestIdentity? = nil,
        answer: @escaping @Sendable (Delivery, Int) -> String? = { _, _ in response("204 No Content") }
    ) throws {
        let verifier = WebhookVerifier(secrets: [try WebhookSecret(Self.secret)])
        let (listener, port) = try Loopback.listen(port: port)
        let inbox = Inbox()
        let secure = try identity.map(ServerSocket.Identity.init)
        isSecure = secure != nil
        self.inbox = inbox
        self.listener = listener
        self.port = port
        thread = try NativeThread(name: "receiver") {
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0, !inbox.isStopping.load(ordering: .sequentiallyConsistent) else {
                    if socket >= 0 { close(socket) }
                    return
                }
                guard let socket = ServerSocket(socket, secure) else { continue }
                if let delivery = Self.read(socket, verifier) {
                    let before = inbox.deliveries.withLock { deliveries in
                        deliveries.append(delivery)
                        return deliveries.count - 1
                    }
                    if let text = answer(delivery, before) { socket.write(text) }
                    inbox.news.lock()
                    inbox.news.broadcast()
                    inbox.news.unlock()
                }
            }
        }
    }

    package var deliveries: [Delivery] { inbox.deliveries.withLock { $0 } }

    /// Waits until `condition` holds for the deliveries so far; false after the deadline.
    package func wait(_ deadline: Double = 60, until condition: ([Delivery]) -> Bool) -> Bool {
        let end = Date(timeIntervalSinceNow: deadline)
        inbox.news.lock()
        defer { inbox.news.unlock() }
        while !condition(deliveries) {
            guard inbox.news.wait(until: end) else { return condition(deliveries) }
        }
        return true
    }

    package func stop() {
        inbox.isStopping.store(true, ordering: .sequentiallyConsistent)
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }

    package static func response(_ status: String, headers: [String] = []) -> String {
        (["HTTP/1.1 \(status)", "Content-Length: 0", "Connection: close"] + headers).joined(separator: "\r\n")
            + "\r\n\r\n"
    }

    private static func read(_ socket: ServerSocket, _ verifier: WebhookVerifier) -> Delivery? {
        var seen: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let split = seen.firstRange(of: end) {
                let head = String(decoding: seen[..<split.lowerBound], as: UTF8.self)
                var headers: [String: String] = [:]
                for line in head.split(separator: "\r\n").dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
                }
                let body = Array(seen[split.upperBound...])
                if body.count >= Int(headers["content-length"] ?? "0") ?? 0 {
                    let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
                    let verdict = verifier.verify(WebhookHeaders(headers), body: body, at: now)
                    return Delivery(headers: headers, body: body, verdict: verdict)
                }
            }
            let count = socket.read(into: &buffer)
            guard count > 0 else { return nil }
            seen += buffer[0..<count]
        }
    }
}
