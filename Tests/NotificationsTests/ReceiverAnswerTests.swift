// SPDX-License-Identifier: Apache-2.0
import Foundation
import HookReceiver
import Notifications
import OwnThread
import RelayEngine
import RelayStore
import Testing

/// A receiver's answer is a yes, or a no that may be a 2xx.
@Suite(.ownThread) struct ReceiverAnswerTests {
    private static func refusal(_ body: String, _ format: NotificationFormat, status: Int = 200) -> String? {
        ReceiverAnswer.refusal(status, Array(body.utf8), format)
    }

    @Test(arguments: NotificationFormat.allCases)
    func `What means yes is taken so`(format: NotificationFormat) {
        for (status, body) in [
            (200, ""), (204, ""), (202, "{}"), (200, "ok"), (200, "OK\n"), (200, "\u{FEFF}ok"), (200, "1"),
            (201, #"{"id":7}"#),
            (200, #"{"ok":true}"#), (200, #"{"success":true}"#), (200, #"{"errcode":0,"errmsg":"ok"}"#),
            (200, #"{"code":0,"msg":"success"}"#), (200, #"{"code":200,"msg":"ok"}"#), (200, #"{"result":"success"}"#),
            (200, "[]"),
        ] { #expect(Self.refusal(body, format, status: status) == nil, "\(status) \(body)") }
    }

    @Test(arguments: NotificationFormat.allCases)
    func `A 2xx that means no is none`(format: NotificationFormat) throws {
        for body in [
            "<!DOCTYPE html><title>Sign in</title>", "\n <html lang=\"en\">", "\u{FEFF}<HTML>",
            #"{"ok":false,"error":"x"}"#,
            #"{"success":false}"#, #"{"errcode":40008,"errmsg":"invalid message type"}"#, #"{"StatusCode":19001}"#,
            #"{"code":19024,"msg":"Key Words Not Found"}"#, #"{"status":"error"}"#, #"{"result":"error","msg":"x"}"#,
            "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429",
        ] {
            let refusal = try #require(Self.refusal(body, format), "\(body) was taken for a yes")
            #expect(refusal.hasPrefix("HTTP 200") && refusal.utf8.count < 200, "\(refusal)")
        }
    }

    @Test func `In a chat's form a text is ok, or a no`() {
        #expect(Self.refusal("invalid_payload", .slack) == #"HTTP 200 with "invalid_payload" in the place of "ok""#)
        #expect(Self.refusal("no_service", .slack)?.contains("no_service") == true)
        // Any other text is not repeated.
        #expect(
            Self.refusal("the token whsec_geheim is wrong", .slack)
                == #"HTTP 200 with another text in the place of "ok""#)
        // A receiver of the operator's own may answer any text.
        #expect(Self.refusal("invalid_payload", .json) == nil && Self.refusal("thanks", .json) == nil)
    }

    @Test func `A no is sent again, and an endless yes is not`() throws {
        let bench = try NotifierLiveTests.Bench()
        let long = String(repeating: "x", count: 300_000)
        let receiver = try HookReceiver { _, before in
            let body = before == 0 ? "<html>Sign in</html>" : long
            return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body
        }
        defer { receiver.stop() }
        let target = try bench.target(receiver.url)
        try bench.store.adoptReceivers([target.receiver], at: bench.now)
        _ = try bench.announce("2.0.0")
        let notifier = bench.notifier()
        defer { notifier.stop() }
        try notifier.start([target])
        #expect(receiver.wait { $0.count >= 2 })
        let all = try bench.settled { $0.first?.state == .delivered }
        #expect(all.first?.state == .delivered)
        #expect(receiver.deliveries.count == 2, "an answer of 300,000 bytes is a yes")
    }
}
