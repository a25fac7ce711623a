// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HTTPServer
import OwnThread
import RelayStore
import TestPeers
import Testing
import WireFormat

@testable import RelayAPI

/// The bytes around the answers; the shapes of requests are `HTTPServerTests`.
@Suite("Framing, live", .ownThread)
struct FramingLiveTests {
    private static let host = "Host: relay\r\n"

    /// Everything that the server sends until it ends the connection.
    private static func ask(_ bench: Bench, _ parts: String...) throws -> String {
        let client = try RawClient(port: bench.server.port ?? 0)
        // A refusal may come while the rest is still being sent; the test is that it is received.
        for part in parts { do { try client.send(part) } catch { break } }
        return try client.receiveAll()
    }

    @Test(
        "what is no request is answered once, as a problem, and ends the connection",
        arguments: [
            ("\(host)Host: relay\r\n", 400), ("\(host)X: a\0b\r\n", 400), ("\(host)X : y\r\n", 400),
            ("\(host)Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400),
            ("\(host)Content-Length: 3\r\nContent-Length: 4\r\n", 400), ("\(host)Transfer-Encoding: gzip\r\n", 501),
            ("\(host)Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", 400), ("", 400),
            ("\(host)Expect: more\r\n", 417), ("\(host)X: \(String(repeating: "x", count: 20_000))\r\n", 431),
        ])
    func refusals(fields: String, status: Int) throws {
        let bench = try Bench()
        let rest = "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: relay\r\n\r\n"
        let text = try Self.ask(bench, "POST /v1/webhooks/version HTTP/1.1\r\n\(fields)\r\n\(rest)")
        #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
        #expect(text.components(separatedBy: "HTTP/1.1 ").count == 2, "\(text)")
        #expect(text.contains("\r\nContent-Type: application/problem+json\r\n"))
        #expect(text.contains("\r\nConnection: close\r\n") && text.contains("\r\nX-Request-Id: "))
        let body = try #require(text.components(separatedBy: "\r\n\r\n").last)
        guard case .object(let members) = try JSONReader.read(Array(body.utf8)) else {
            Issue.record("\(body)")
            return
        }
        #expect(members.first { $0.name == "status" }?.value == .number("\(status)"))
        #expect(members.contains { $0.name == "detail" } && members.contains { $0.name == "request" })
        // It is counted like any other.
        let metrics = try bench.ask("GET", "/metrics").body
        #expect(
            metrics.contains(
                #"requests_total{method="other",route="none",status="\#(status / 100)xx"} 1"#), "\(metrics)")
    }

    @Test("a body that is refused, chunked and longer than anybody waits for, does not drown the answer")
    func longRefusal() throws {
        let bench = try Bench()
        let chunk = "10000\r\n\(String(repeating: " ", count: 65_536))\r\n"
        let body = String(repeating: chunk, count: 64) + "0\r\n\r\n"
        for (path, status) in [(ResourceLiveTests.devices, 401), ("/v1/webhooks/version", 413)] {
            let head = "POST \(path) HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
            let text = try Self.ask(bench, head, body)
            #expect(text.hasPrefix("HTTP/1.1 \(status) ") && text.contains("problem+json"), "\(text)")
        }
    }

    @Test("a request that does not come to its end is told so")
    func timeOut() throws {
        let bench = try Bench(limits: HostileClientTests.limits { $0.server.requestTime = 300 })
        for rest in ["", "Content-Length: 10\r\n\r\nhalf"] {
            let text = try Self.ask(bench, "POST /v1/webhooks/version HTTP/1.1\r\n\(Self.host)\(rest)")
            #expect(text.hasPrefix("HTTP/1.1 408 ") && text.contains("problem+json"), "\(text)")
        }
        #expect(bench.logged.wait(for: "connections were cut off door=network tooSlow=1"))
    }

    @Test("who waits for a word before the body gets it, or the refusal, and never both")
    func expectation() throws {
        let bench = try Bench()
        let body = #"{"required":"9"}"#
        let token = try bench.newToken(.versions)
        let head =
            "POST /v1/apps/com.example.app/ios/plan HTTP/1.1\r\n\(Self.host)Expect: 100-continue\r\n"
            + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n"
        let client = try RawClient(port: bench.server.port ?? 0)
        try client.send("\(head)Authorization: Bearer \(token)\r\n\r\n")
        #expect(try client.receiveHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        try client.send(body)
        #expect(try client.receiveAll().hasPrefix("HTTP/1.1 200 "))
        #expect(try Self.ask(bench, head + "\r\n").hasPrefix("HTTP/1.1 401 "))
    }

    @Test("HTTP/1.0 gets a stream without chunks, to the end of the connection")
    func oldStream() throws {
        let bench = try Bench()
        #expect(try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd", "{}").status == 201)
        let token = try bench.newToken(.devices)
        let text = try Self.ask(
            bench, "GET \(ResourceLiveTests.devices) HTTP/1.0\r\nAuthorization: Bearer \(token)\r\n\r\n")
        let parts = text.components(separatedBy: "\r\n\r\n")
        #expect(!parts[0].contains("Transfer-Encoding") && parts[0].contains("Connection: close"))
        #expect(parts.last?.hasPrefix("{\"app\"") == true && parts.last?.hasSuffix("}\n") == true, "\(text)")
    }

    @Test("350 parameters are refused as too many, 350 cookies are not, and the absolute form is taken")
    func odd() throws {
        let bench = try Bench()
        let many = String(repeating: "a=b&", count: 350)
        #expect(try bench.askNetwork("GET", "/v1/apps?\(many)").status == 400)
        #expect(try bench.askNetwork("GET", "/healthz?\(many)").status == 400)
        let cookies = [("Cookie", String(repeating: "a=b; ", count: 350))]
        #expect(try bench.askNetwork("GET", "/healthz", headers: cookies).status == 200)
        let text = try Self.ask(
            bench, "GET http://relay/healthz HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
        #expect(text.hasPrefix("HTTP/1.1 200 "))
    }

    @Test("the OpenAPI document has a tag for each of its forms, and goes out in gzip to who takes it")
    func document() throws {
        let bench = try Bench()
        func ask(_ encoding: String, _ tag: String? = nil) throws -> HTTPResponse {
            var request = HTTPRequest("GET", "http://127.0.0.1:\(bench.server.port ?? 0)/openapi.json")
            request.headers = [("Accept-Encoding", encoding)] + (tag.map { [("If-None-Match", $0)] } ?? [])
            return try HTTPClient().send(request)
        }
        let (plain, packed) = (try ask("gzip;q=0"), try ask("br, gzip;q=0.5"))
        #expect(plain.body == OpenAPIDocument.bytes && plain["content-encoding"] == nil)
        #expect(plain["vary"] == "Accept-Encoding")
        #expect(packed["content-encoding"] == "gzip")
        #expect(packed.body.count < plain.body.count / 5, "\(packed.body.count)")
        #expect(packed["etag"] != plain["etag"])
        #expect(try Self.unpacked(packed.body) == plain.body)
        for (answer, encoding) in [(plain, "gzip;q=0"), (packed, "gzip")] {
            let again = try ask(encoding, answer["etag"])
            #expect(again.status == 304 && again.body.isEmpty)
            // RFC 9110, section 8.6: it would be the length of a 200's body.
            #expect(again["content-length"] == nil)
        }
    }

    private static func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).gz")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/gzip")
        process.arguments = ["-dc", file.path]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return [UInt8](data)
    }
}
