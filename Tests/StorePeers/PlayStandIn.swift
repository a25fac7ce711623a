// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
package import Signing
import Synchronization
package import TestPeers
import Threading
import WireFormat

/// Google's token endpoint and its Play Developer API on loopback, over TLS. It checks assertions as strictly as Google does,
/// keeps edits as Google does (a new one ends the others), and counts requests.
package final class PlayStandIn: Sendable {
    package enum Route: Hashable, Sendable {
        case token, list, open, track, delete
    }

    package struct Answer: Sendable {
        package var status = "200 OK"
        package var headers: [String] = []
        package var body = ""

        package init(status: String = "200 OK", headers: [String] = [], body: String = "") {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }

    package struct State: Sendable {
        package var list = Answer(body: "{}")
        package var track = Answer(body: "{}")
        /// Answers that replace the usual one of a route while they are set.
        package var instead: [Route: Answer] = [:]
        package var lifetime = 3599
        package var counts: [Route: Int] = [:]
        package var tokens: Set<String> = []
        package var openEdits: Set<String> = []
        /// Requests that a strict server does not know.
        package var complaints: [String] = []
    }

    /// Made once, because making a key takes a moment.
    package static let key = Result { try RS256PrivateKey.generate() }
    package static let email = "relay@example-project.iam.gserviceaccount.com"

    package let port: UInt16
    package let identity: TestIdentity
    private let tokenHost: String
    private let listener: Int32
    private let thread: NativeThread
    private let box: Box

    private final class Box: Sendable {
        let state = Mutex(State())
        let isStopping = Atomic(false)
    }

    /// - Parameters:
    ///   - identity: default one of its own.
    ///   - host: the host name of its token endpoint.
    ///   - news: called after each answer.
    package init(
        identity: TestIdentity? = nil, host: String = "127.0.0.1", news: @escaping @Sendable () -> Void = {}
    ) throws {
        let identity = try identity ?? TestIdentity()
        tokenHost = host
        let secure = try ServerSocket.Identity(identity)
        let key = try Self.key.get()
        let (listener, port) = try Loopback.listen()
        let box = Box()
        (self.identity, self.listener, self.port, self.box) = (identity, listener, port, box)
        thread = try NativeThread(name: "play") {
            while true {
                let socket = Loopback.accept(listener)
                guard socket >= 0, !box.isStopping.load(ordering: .sequentiallyConsistent) else {
                    if socket >= 0 { close(socket) }
                    return
                }
                guard let socket = ServerSocket(socket, secure), let request = Request(socket) else { continue }
                let answer = box.state.withLock { Self.answer(request, key, "https://\(host):\(port)/token", &$0) }
                var head =
                    "HTTP/1.1 \(answer.status)\r\nContent-Length: \(answer.body.utf8.count)\r\nConnection: close\r\n"
                for header in answer.headers { head += header + "\r\n" }
                socket.write(head + "\r\n" + answer.body)
                news()
            }
        }
    }

    package func stop() {
        box.isStopping.store(true, ordering: .sequentiallyConsistent)
        shutdown(listener, Int32(SHUT_RDWR))
        thread.join()
        close(listener)
    }

    package var now: State { box.state.withLock { $0 } }
    package func change(_ body: (inout State) -> Void) { box.state.withLock { body(&$0) } }
    package func count(_ route: Route) -> Int { now.counts[route] ?? 0 }

    /// The key file of an account that may ask here.
    ///
    /// - Parameter keyID: another one makes another account.
    package func accountFile(keyID: String = "k1", key: RS256PrivateKey? = nil) throws -> [UInt8] {
        let pem = String(decoding: try (key ?? Self.key.get()).pem, as: UTF8.self)
        let file: JSONValue = [
            "type": .string("service_account"), "project_id": .string("example-project"),
            "private_key_id": .string(keyID),
            "private_key": .string(pem), "client_email": .string(Self.email),
            "token_uri": .string("https://\(tokenHost):\(port)/token"),
        ]
        return file.bytes()
    }

    // MARK: Answers

    private static let app = "/androidpublisher/v3/applications/com.example.app"

    private static func answer(_ request: Request, _ key: RS256PrivateKey, _ audience: String, _ state: inout State)
        -> Answer
    {
        let editPath = "\(app)/edits/"
        let edit =
            request.path.hasPrefix(editPath) ? String(request.path.dropFirst(editPath.count).prefix { $0 != "/" }) : ""
        let route: Route
        switch (request.method, request.path) {
        case ("POST", "/token"): route = .token
        case ("GET", "\(app)/tracks/production/releases"): route = .list
        case ("POST", "\(app)/edits"): route = .open
        case ("GET", "\(editPath)\(edit)/tracks/production"): route = .track
        case ("DELETE", "\(editPath)\(edit)"): route = .delete
        default:
            state.complaints.append("\(request.method) \(request.path)")
            return Answer(status: "404 Not Found")
        }
        state.counts[route, default: 0] += 1
        if let instead = state.instead[route] { return instead }
        if route == .token { return token(request, key, audience, &state) }
        guard let bearer = request.headers["authorization"], state.tokens.contains(bearer) else {
            return Answer(
                status: "401 Unauthorized",
                body: PlaySample.error(
                    401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", reason: "authError"))
        }
        switch route {
        case .list: return state.list
        case .open:
            // "If a user creates a new edit for an app, any active edits by the same user for that app are invalidated" (Google).
            state.openEdits = ["edit-\(state.counts[.open] ?? 0)"]
            return Answer(
                body: "{ \"id\": \"edit-\(state.counts[.open] ?? 0)\", \"expiryTimeSeconds\": \"1800000000\" }")
        case .track: return state.openEdits.contains(edit) ? state.track : Answer(status: "404 Not Found")
        default: return Answer(status: state.openEdits.remove(edit) == nil ? "404 Not Found" : "204 No Content")
        }
    }

    private static func token(_ request: Request, _ key: RS256PrivateKey, _ audience: String, _ state: inout State)
        -> Answer
    {
        func refused(_ what: String, _ error: String = "invalid_grant") -> Answer {
            Answer(status: "400 Bad Request", body: "{ \"error\": \"\(error)\", \"error_description\": \"\(what)\" }")
        }
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        guard request.headers["content-type"] == "application/x-www-form-urlencoded", request.body.hasPrefix(grant)
        else {
            return refused("Bad Request", "invalid_request")
        }
        let parts = request.body.dropFirst(grant.count).split(separator: ".").map(String.init)
        guard parts.count == 3, let header = try? JSONReader.read(Base64URL.decode(parts[0]) ?? []),
            let claims = try? JSONReader.read(Base64URL.decode(parts[1]) ?? []),
            let signature = Base64URL.decode(parts[2])
        else { return refused("Invalid JWT: Failed audience check.") }
        guard header["alg"]?.string == "RS256", key.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
        else {
            return refused("Invalid JWT Signature.")
        }
        let now = Int64(Date().timeIntervalSince1970)
        guard let issued = claims["iat"]?.integer, let ends = claims["exp"]?.integer, issued <= now, issued > now - 300,
            ends > now, ends - issued <= 3600
        else {
            return refused("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.")
        }
        guard claims["iss"]?.string == email, claims["aud"]?.string == audience else {
            return refused("Invalid grant: account not found")
        }
        guard claims["scope"]?.string == "https://www.googleapis.com/auth/androidpublisher" else {
            return refused("Bad scope", "invalid_scope")
        }
        let text = "token-\(state.counts[.token] ?? 0)"
        state.tokens.insert("Bearer \(text)")
        return Answer(
            body: "{ \"access_token\": \"\(text)\", \"expires_in\": \(state.lifetime), \"token_type\": \"Bearer\" }")
    }

    private struct Request {
        var method = ""
        var path = ""
        var headers: [String: String] = [:]
        var body = ""

        init?(_ socket: ServerSocket) {
            var seen: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let parts = String(decoding: seen, as: UTF8.self).split(
                    separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 {
                    let lines = parts[0].split(separator: "\r\n")
                    let words = lines[0].split(separator: " ").map(String.init)
                    (method, path) = (words[0], words[1])
                    for line in lines.dropFirst() {
                        let field = line.split(separator: ":", maxSplits: 1)
                        headers[field[0].lowercased()] = field.count > 1 ? String(field[1].drop { $0 == " " }) : ""
                    }
                    body = String(parts[1])
                    if body.utf8.count >= Int(headers["content-length"] ?? "0") ?? 0 { return }
                }
                let count = socket.read(into: &buffer)
                guard count > 0 else { return nil }
                seen += buffer[0..<count]
            }
        }
    }
}
