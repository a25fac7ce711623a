// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Synchronization
import TestPeers
import Testing

@testable import CurlTransport
@testable import HTTPServer
@testable import RelayAPI

@Suite("The server itself, live", .ownThread)
struct ServerLiveTests {
    @Test("every route with every scope over TCP", arguments: Scope.allCases)
    func scopes(scope: Scope) throws {
        let bench = try Bench()
        let token = try bench.newToken(scope)
        #expect(token.hasPrefix("urt_"))
        #expect(token.utf8.count == 47)
        for entry in RouterTests.table where entry.right != .signature {
            // This stream lasts for as long as its reader stays.
            if entry.path == "/v1/events", scope == .status { continue }
            // The ids exist nowhere: a caller with the right gets 404 or 422, one without it 401 or 403.
            let body: [UInt8]? = ["PUT", "POST"].contains(entry.method) ? Array("{}".utf8) : nil
            let without = try bench.askNetwork(entry.method, entry.path, body)
            let with = try bench.askNetwork(
                entry.method, entry.path, body, headers: [("Authorization", "Bearer \(token)")])
            if entry.right == .nothing {
                #expect([200, 204].contains(without.status))
                continue
            }
            #expect(without.status == 401, "\(entry.method) \(entry.path)")
            #expect(without[header: "www-authenticate"] == "Bearer realm=\"upgrade-relay\"")
            let isAllowed =
                if case .scope(let needed) = entry.right { scope.covers(needed) } else { entry.right == .signedIn }
            if isAllowed {
                #expect(![401, 403, 405, 500].contains(with.status), "\(entry.method) \(entry.path): \(with.body)")
            } else {
                #expect(with.status == 403, "\(entry.method) \(entry.path)")
            }
            if case .scope(let needed) = entry.right, !isAllowed {
                #expect(with.text("detail")?.contains("\"\(needed.rawValue)\"") == true)
            }
        }
    }

    @Test("a token is shown once, listed without its secret, and worthless when revoked")
    func tokens() throws {
        let bench = try Bench()
        let made = try bench.ask("POST", "/v1/tokens", #"{"name":"ci","scopes":["status","devices"]}"#)
        #expect(made.status == 201)
        let secret = try #require(made.text("token"))
        let authorization = [("Authorization", "Bearer \(secret)")]
        #expect(try bench.askNetwork("GET", "/v1/campaigns", headers: authorization).status == 200)
        let list = try bench.ask("GET", "/v1/tokens")
        #expect(list.text("items", "0", "name") == "ci")
        #expect(list.count("items", "0", "scopes") == 2)
        #expect(!list.body.contains(secret))
        #expect(try bench.ask("POST", "/v1/tokens", #"{"name":"ci","scopes":["status"]}"#).status == 409)
        let bad = try bench.ask("POST", "/v1/tokens", #"{"name":"a b","scopes":["root"]}"#)
        #expect(bad.count("errors") == 2)
        #expect(try bench.ask("DELETE", "/v1/tokens/ci").status == 204)
        #expect(try bench.ask("DELETE", "/v1/tokens/ci").status == 404)
        #expect(try bench.askNetwork("GET", "/v1/campaigns", headers: authorization).status == 401)
    }

    @Test("404, 405 with Allow, HEAD, and a target that does not decode")
    func paths() throws {
        let bench = try Bench()
        #expect(try bench.ask("GET", "/v1/nothing").status == 404)
        let wrong = try bench.ask("DELETE", "/v1/campaigns")
        #expect(wrong.status == 405)
        #expect(wrong[header: "allow"] == "GET, HEAD, OPTIONS")
        #expect(wrong.text("title") == "Method Not Allowed")
        #expect(try bench.ask("GET", "/v1/campaigns/%FF").status == 400)
        let raw = try RawClient(port: bench.server.port ?? 0)
        try raw.send("HEAD /healthz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        let head = try raw.receiveHead()
        #expect(head.hasPrefix("HTTP/1.1 200"))
        #expect(head.hasSuffix("\r\n\r\n"))
    }

    @Test("a connection serves one request after the other, whoever answers it")
    func keepAlive() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status)
        let raw = try RawClient(port: bench.server.port ?? 0)
        let paths = ["/healthz", CheckLiveTests.path("1.0"), "/v1/apps", "/readyz", "/v1/nothing", "/healthz?x=1"]
        for (path, status) in zip(paths, [200, 200, 200, 200, 404, 422]) {
            try raw.send("GET \(path) HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(token)\r\n\r\n")
            let answer = try raw.receiveHead()
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(path): \(answer)")
            #expect(!answer.lowercased().contains("connection: close"), "\(path)")
            try raw.receiveBody(after: answer)
        }
        // A body that was collected, and one that was refused after it was read.
        for (body, status) in [(#"{"required":"9"}"#, 200), ("{", 403)] {
            let path = status == 200 ? "/v1/apps/com.example.app/ios/plan" : ResourceLiveTests.version
            let right = try status == 200 ? bench.newToken(.versions) : token
            let method = status == 200 ? "POST" : "PUT"
            try raw.send(
                "\(method) \(path) HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(right)\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let answer = try raw.receiveHead()
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
            #expect(!answer.lowercased().contains("connection: close"))
            try raw.receiveBody(after: answer)
        }
    }

    @Test("clients that send half a request hold nobody up")
    func slowClients() throws {
        let bench = try Bench()
        let slow = try (0..<20).map { _ in try RawClient(port: bench.server.port ?? 0) }
        for (index, client) in slow.enumerated() {
            try client.send("POST /v1/webhooks/version HTTP/1.1\r\nHost: relay\r\n")
            if index.isMultiple(of: 2) { try client.send("Content-Length: 1000\r\n\r\nhalf") }
        }
        for _ in 0..<5 { #expect(try bench.askNetwork("GET", "/healthz").status == 200) }
        // The slow one is served, too, once its request is whole.
        try #require(slow.last).send("\r\n")
        #expect(try #require(slow.last).receiveHead().hasPrefix("HTTP/1.1 401"))
    }

    @Test("a body that nobody wants is read, so that the answer is heard")
    func unwantedBody() throws {
        let bench = try Bench()
        let body = [UInt8](repeating: 0x20, count: 900_000)
        #expect(
            try bench.askNetwork("POST", "/v1/apps/com.example.app/ios/devices", body, headers: [("Expect", "")]).status
                == 401)
        #expect(
            try bench.askNetwork(
                "POST", "/v1/apps/com.example.app/ios/devices", body + body + body,
                headers: [("Expect", "100-continue")]
            ).status == 401)
    }

    // MARK: Event streams

    @Test("events come while it moves and at each change, and end with the final state")
    func events() throws {
        let bench = try Bench()
        let id = try bench.campaign(required: "2.0")
        var states: [String] = []
        var request = HTTPRequest("GET", "http://relay/v1/campaigns/\(id)/events")
        request.timeout = .seconds(60)
        let response = try bench.client.lines(request) { line in
            guard line.starts(with: Array("data: ".utf8)) else { return true }
            let answer = Answer(HTTPResponse(status: 200, headers: [], body: Array(line.dropFirst(6))))
            let state = answer.text("state") ?? "?"
            states.append(state)
            if states.count == 2 { _ = try bench.ask("POST", "/v1/campaigns/\(id)/pause") }
            if state == "paused" { _ = try bench.ask("POST", "/v1/campaigns/\(id)/cancel") }
            return true
        }
        #expect(response.status == 200)
        #expect(response["content-type"] == "text/event-stream")
        // The next second's event may be on its way while the pause is asked for.
        #expect(states.count { $0 == "running" } >= 2)
        #expect(states.drop { $0 == "running" } == ["paused", "cancelled"])
        // The stream of an ended campaign has one event.
        let after = try bench.ask("GET", "/v1/campaigns/\(id)/events")
        #expect(after.body.hasPrefix("event: campaign\ndata: {\"id\":\"\(id)\""))
        #expect(after.body.hasSuffix("}\n\n"))
    }

    @Test("stop ends an event stream at once")
    func stopEndsEvents() throws {
        let bench = try Bench()
        let id = try bench.campaign(required: "2.0")
        var request = HTTPRequest("GET", "http://relay/v1/campaigns/\(id)/events")
        request.timeout = .seconds(60)
        var lines = 0
        var stopped = ContinuousClock.now
        _ = try? bench.client.lines(request) { _ in
            lines += 1
            if lines == 1 {
                stopped = .now
                Thread.detachNewThread { bench.server.stop() }
            }
            return true
        }
        #expect(lines >= 1)
        #expect(ContinuousClock.now - stopped < .seconds(9), "whoever does not go by himself is cut off after ten")
        bench.server.stop()
        #expect(throws: TransportError.self) { try bench.ask("GET", "/healthz") }
        #expect(!FileManager.default.fileExists(atPath: bench.socketPath))
    }

    @Test("stop survives requests that are refused at that moment")
    func stopDuringRefusals() throws {
        let head = "GET / HTTP/1.1\r\nHost: relay\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n"
        for _ in 0..<40 {
            let bench = try Bench()
            let clients = try (0..<24).map { _ in try RawClient(port: bench.server.port ?? 0) }
            for client in clients { try client.send(head) }
            bench.server.stop()
            #expect(bench.server.port == nil)
        }
    }

    @Test("event streams are bounded, so that watchers lock nobody out")
    func streamLimit() throws {
        var limits = APILimits()
        limits.eventStreams = 1
        let bench = try Bench(limits: limits)
        let id = try bench.campaign(required: "2.0")
        let watcher = try RawClient(port: bench.server.port ?? 0)
        let token = try bench.newToken(.status)
        try watcher.send(
            "GET /v1/campaigns/\(id)/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(try watcher.receiveHead().hasPrefix("HTTP/1.1 200"))
        let other = try bench.newToken(.status)
        let second = try bench.askNetwork(
            "GET", "/v1/campaigns/\(id)/events", headers: [("Authorization", "Bearer \(other)")])
        #expect(second.status == 503)
        #expect(second[header: "retry-after"] == "5")
        // The control socket still gets a stream.
        let local = try RawClient(unixSocket: bench.socketPath)
        try local.send("GET /v1/campaigns/\(id)/events HTTP/1.1\r\nHost: relay\r\n\r\n")
        #expect(try local.receiveHead().hasPrefix("HTTP/1.1 200"))
    }

    // MARK: Sockets

    static func settings(listen: ListenAddress? = nil, socket: String? = nil) -> APISettings {
        APISettings(listen: listen, controlSocket: socket, webhookSecrets: { [] }, clock: { Bench.now })
    }

    @Test("each reason for not starting is told")
    func startErrors() throws {
        let bench = try Bench()
        func refuses(_ settings: APISettings, _ text: String) -> Bool {
            do {
                try APIServer(store: bench.store, control: bench.control, settings: settings).start()
                return false
            } catch {
                return "\(error)".contains(text)
            }
        }
        let port = bench.server.port ?? 0
        let taken = ListenAddress(host: "127.0.0.1", port: port)
        #expect(refuses(Self.settings(listen: taken), "Another program has the port"))
        let foreign = ListenAddress(host: "192.0.2.1", port: 0)
        #expect(refuses(Self.settings(listen: foreign), "The address must be one of this machine"))
        #expect(refuses(Self.settings(socket: bench.socketPath), "another daemon answers on it"))
        #expect(try bench.ask("GET", "/healthz").status == 200)

        let file = bench.directory.appending(path: "a-file").path
        try "precious".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(refuses(Self.settings(socket: file), "something that is no socket is there"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        #expect(refuses(Self.settings(socket: bench.directory.path + "/none/control.sock"), "Make its directory first"))
        let long = "/tmp/" + String(repeating: "x", count: 200)
        #expect(refuses(Self.settings(socket: long), "must have 1 to 107 bytes"))
    }

    @Test("the control socket has its mode, and one that a crash left behind is replaced")
    func staleSocket() throws {
        let bench = try Bench()
        let path = bench.directory.appending(path: "stale.sock").path
        let left = try ListenSocket.control(path: path, mode: 0o600)
        close(left.descriptor)
        #expect(FileManager.default.fileExists(atPath: path))
        var settings = Self.settings(socket: path)
        settings.server.controlSocketMode = 0o660
        let server = APIServer(store: bench.store, control: bench.control, settings: settings)
        try server.start()
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o660)
        #expect(try HTTPClient(unixSocket: path).send(HTTPRequest("GET", "http://relay/healthz")).status == 200)
        server.stop()
        server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "listen addresses", arguments: [("127.0.0.1:8480", "127.0.0.1"), ("[::1]:1", "::1"), ("0.0.0.0:80", "0.0.0.0")])
    func addresses(text: String, host: String) {
        #expect(ListenAddress(text)?.host == host)
        #expect(ListenAddress(text)?.description == text)
        let bad = [
            "127.0.0.1", "::1:80", ":80", "localhost:80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
            "127.0.0.1:+1", "",
        ]
        for text in bad { #expect(ListenAddress(text) == nil, "\(text)") }
    }
}
