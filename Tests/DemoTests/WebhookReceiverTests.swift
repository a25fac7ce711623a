// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import RelayEngine
import Signing
import Testing
import Threading
import WireFormat

@testable import Demo

/// `simulate-receiver` accepts signed webhooks and nothing else.
@Suite struct WebhookReceiverTests {
    private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func answer(
        _ receiver: WebhookReceiver, method: String = "POST", body: String, signed: String? = nil
    ) throws -> Int {
        let now = WallClock.now().seconds
        let key = try #require(Base64.decode(String(secret.dropFirst("whsec_".count))))
        let code = HMACSHA256.code(Array("msg_1.\(now).\(signed ?? body)".utf8), key: key)
        let text = """
            \(method) /hooks HTTP/1.1\r\nHost: x\r\nwebhook-id: msg_1\r\nwebhook-timestamp: \(now)\r
            webhook-signature: v1,\(Base64.encode(code))\r\n\r\n
            """
        var reader = RequestReader(RequestRules(target: 100, head: 1000, handed: receiver.headerNames))
        let bytes = Array(text.utf8)
        var rest = bytes.indices
        guard case .head(let head) = reader.next(bytes, &rest) else { throw Failed() }
        switch receiver.handle(head).open() {
        case .answer(let response): return response.status
        case .work(_, let decide):
            guard case .collect(_, let finish) = decide() else { throw Failed() }
            return finish(Array(body.utf8)).status
        }
    }

    private struct Failed: Error {}

    @Test func aSignedOneIsTakenAnotherOneIsNotAndTheFirstAreRefusedAsAsked() throws {
        let record = FileManager.default.temporaryDirectory.appending(path: "hooks-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: record) }
        let receiver = try WebhookReceiver(secret: WebhookSecret(Array(secret.utf8)), refused: 1, record: record.path)
        #expect(try answer(receiver, body: #"{"n":1}"#) == 503)
        #expect(try answer(receiver, body: #"{"n":1}"#) == 204)
        #expect(try answer(receiver, body: #"{"n":2}"#, signed: #"{"n":1}"#) == 401)
        #expect(try answer(receiver, method: "GET", body: "") == 405)
        let figures = receiver.figures
        #expect(figures.verified == 1 && figures.unverified == 1 && figures.refused == 1)
        let lines = try String(contentsOf: record, encoding: .utf8).split(separator: "\n")
            .map { try JSONReader.read(Array($0.utf8)) }
        #expect(lines.map { $0["status"]?.integer } == [503, 204, 401])
        #expect(lines.allSatisfy { $0["id"]?.string == "msg_1" && $0["path"]?.string == "/hooks" })
        #expect(lines.first?["body"]?.string == #"{"n":1}"#)
    }
}
