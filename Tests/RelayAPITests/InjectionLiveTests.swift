// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import RelayAPI
import RelayEngine
import Telemetry
import TestPeers
import Testing

/// A client that writes a part of a request must not write a part of an answer's head.
@Suite(.ownThread) struct InjectionLiveTests {
    private static let requests: [(target: String, headers: String)] = [
        ("GET /v1/apps/a%0d%0aX-Evil:%201/ios/version", ""), ("GET /v1/apps/a%0d%0aX-Evil:%201/launchgate.json", ""),
        ("GET /v1/apps/com.example.app/%0d%0aX-Evil:%201/version", ""), ("DELETE /v1/tokens/%0aX-Evil:1", ""),
        ("POST /v1/campaigns/x%1b%5b2J%0aX-Evil:1/pause", ""),
        ("GET /v1/campaigns/%0d%0a%0d%0aHTTP/1.1%20200/events", ""),
        ("GET /v1/check?app=%0d%0aX-Evil:1&platform=%0d%0aX-Evil:1&version=%0d%0aX-Evil:1&x%0d%0aX-Evil:1=1", ""),
        ("GET /v1/check?app=com.example.app&platform=ios&version=1&telephone=%0d%0aX-Evil:1&token=%0d%0aX-Evil:1", ""),
        ("GET /v1/apps/%00/launchgate.json", ""), ("GET /%0d%0aX-Evil:1", ""), ("GET /\u{9B}2J", ""),
        ("X-EVIL%0d%0a /healthz", ""), ("EVIL\u{1B}[2J /healthz", ""),
        ("GET /v1/campaigns", "authorization: Bearer a\rX-Evil: 1\r\n"),
        ("GET /v1/campaigns", "authorization: Bearer \u{1B}[2J\u{85}\r\n"),
        ("GET /v1/campaigns", "authorization: Bearer a\u{0}X-Evil: 1\r\n"),
        ("GET /v1/apps/com.example.app/launchgate.json", "if-none-match: \"\rX-Evil: 1\", *\r\n"),
        ("GET /v1/apps/com.example.app/launchgate.json", "if-none-match: a\r\n X-Evil: 1\r\n"),
        (
            "POST /v1/webhooks/version",
            "webhook-id: a\rX-Evil: 1\r\nwebhook-timestamp: 1\rX-Evil: 1\r\nwebhook-signature: v1,\rX\r\n"
        ),
        (
            "POST /v1/webhooks/github/com.example.app/ios",
            "x-hub-signature-256: sha256=\rX-Evil: 1\r\nx-github-event: \rX-Evil: 1\r\n"
        ),
        (
            "POST /v1/webhooks/gitlab/com.example.app/ios",
            "x-gitlab-token: \u{1B}]0;x\u{7}\r\nidempotency-key: \rX-Evil: 1\r\n"
        ),
        ("POST /v1/webhooks/app-store-connect/x%0d%0aX-Evil:1", "x-apple-signature: hmacsha256=\rX-Evil: 1\r\n"),
        ("GET /healthz", "user-agent: \u{1B}[2J\rX-Evil: 1\r\nexpect: 100-continue\rX-Evil: 1\r\n"),
    ]

    @Test func `No request writes a header of its answer`() throws {
        let bench = try Bench()
        let known: Set = [
            "date", "connection", "content-length", "content-type", "www-authenticate", "allow", "cache-control",
            "etag",
            "retry-after", "transfer-encoding", "x-content-type-options", "x-request-id",
        ]
        for (target, headers) in Self.requests {
            let client = try RawClient(port: bench.server.port ?? 0)
            try client.send("\(target) HTTP/1.1\r\nhost: a\r\n\(headers)content-length: 0\r\nconnection: close\r\n\r\n")
            let answer = try client.receiveHead()
            // Where the library itself finds the request malformed, it may close the connection without an answer.
            guard !answer.isEmpty else { continue }
            let end = answer.range(of: "\r\n\r\n")?.lowerBound ?? answer.endIndex
            let lines = answer[..<end].split(separator: "\r\n")
            let status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
            #expect((200..<500).contains(status), "\(target.debugDescription): \(answer)")
            for line in lines.dropFirst() {
                let name = line.prefix { $0 != ":" }.lowercased()
                #expect(
                    known.contains(name),
                    "\(target.debugDescription) \(headers.debugDescription): \(line.debugDescription)")
            }
            let head = answer[..<end].unicodeScalars
            #expect(
                head.allSatisfy { (0x20..<0x7F).contains($0.value) || $0 == "\r" || $0 == "\n" },
                "\(target.debugDescription) \(headers.debugDescription): \(answer.debugDescription)")
        }
    }

    @Test func `A message writes no event of its own`() throws {
        let bench = try Bench()
        let message = #"a\n\nevent: forged\ndata: {\"counts\":1}\n\u200d"#
        let answer = try bench.ask(
            "PUT", "/v1/apps/com.example.app/ios/version", "{\"required\":\"2.0.0\",\"message\":\"\(message)\"}")
        let id = try #require(answer.text("campaign", "id"))
        var request = HTTPRequest("GET", "http://relay/v1/campaigns/\(id)/events")
        request.timeout = .seconds(60)
        let lines = LogLines()
        _ = try? bench.client.lines(request) { line in
            lines.log(.info, "line", [("text", String(decoding: line, as: UTF8.self))])
            return lines.all.count < 3
        }
        let texts = lines.all.map { String($0.dropFirst("info line text=".count)) }
        #expect(texts.count >= 2, "\(texts)")
        for text in texts where !text.isEmpty {
            #expect(["data: {\"id\"", "event: campaign"].contains { text.hasPrefix($0) }, "\(text)")
        }
    }
}
