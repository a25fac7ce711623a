// SPDX-License-Identifier: Apache-2.0
import HTTP2
import RelayEngine
import Testing

@testable import PushProviders

/// Answers as FCM gives them.
enum FCMAnswer {
    static let fcmError = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
    static let badRequest = "type.googleapis.com/google.rpc.BadRequest"
    static let errorInfo = "type.googleapis.com/google.rpc.ErrorInfo"
    static let badTokenText = "The registration token is not a valid FCM registration token"

    static func body(
        _ status: String, code: String? = nil, message: String = "said", fields: [String] = [], info: String? = nil
    ) -> String {
        var details: [String] = []
        if let code { details.append(#"{ "@type": "\#(fcmError)", "errorCode": "\#(code)" }"#) }
        if !fields.isEmpty {
            let list = fields.map { #"{"field":"\#($0)","description":"Invalid value at '\#($0)' (TYPE_STRING)"}"# }
            details.append(#"{"@type": "\#(badRequest)", "fieldViolations": [\#(list.joined(separator: ","))]}"#)
        }
        if let info {
            details.append(
                #"{"@type":"\#(errorInfo)","reason":"\#(info)","domain":"googleapis.com","metadata":{"service":"fcm.googleapis.com"}}"#
            )
        }
        return """
            {
              "error": {
                "code": 400,
                "message": "\(message)",
                "status": "\(status)",
                "details": [ \(details.joined(separator: ", ")) ]
              }
            }

            """
    }
}

/// PROTOCOLS 2.3, line by line, and answers that it does not have.
@Suite struct FCMReactionTests {
    typealias Push = FCMReaction.Push

    static let table: [(status: UInt16, body: String?, push: Push, reason: String)] = [
        (200, nil, .accepted, ""),
        (200, "{}", .accepted, ""),
        (200, #"{ "name": "projects/example-project/messages/0:1" }"#, .accepted, ""),
        // A good status does not outweigh the body: the push is not delivered, and no token is given up.
        (200, FCMAnswer.body("UNAVAILABLE", code: "UNAVAILABLE"), .unavailable, "UNAVAILABLE"),
        (200, FCMAnswer.body("NOT_FOUND", code: "UNREGISTERED"), .perhapsUnregistered, "UNREGISTERED"),
        (
            200, FCMAnswer.body("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.token"]), .rejected,
            "INVALID_ARGUMENT"
        ),
        (200, #"{"error":"down"}"#, .fault(.answer), "HTTP 200"),
        (200, #"{"name":"operations/1"}"#, .fault(.answer), "HTTP 200"),
        (200, "<html>Please sign in</html>", .fault(.answer), "HTTP 200"),
        // By errorCode, whatever the status is.
        (404, FCMAnswer.body("NOT_FOUND", code: "UNREGISTERED"), .unregistered, "UNREGISTERED"),
        (400, FCMAnswer.body("INVALID_ARGUMENT", code: "UNREGISTERED"), .unregistered, "UNREGISTERED"),
        (403, FCMAnswer.body("PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"), .rejected, "SENDER_ID_MISMATCH"),
        (
            401, FCMAnswer.body("UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"), .rejected, "THIRD_PARTY_AUTH_ERROR"
        ),
        (401, FCMAnswer.body("UNAUTHENTICATED", code: "APNS_AUTH_ERROR"), .rejected, "APNS_AUTH_ERROR"),
        (429, FCMAnswer.body("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED"), .quota, "QUOTA_EXCEEDED"),
        (503, FCMAnswer.body("UNAVAILABLE", code: "UNAVAILABLE"), .unavailable, "UNAVAILABLE"),
        (500, FCMAnswer.body("INTERNAL", code: "INTERNAL"), .unavailable, "INTERNAL"),
        // INVALID_ARGUMENT, which is two things.
        (
            400, FCMAnswer.body("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: FCMAnswer.badTokenText),
            .badToken,
            "INVALID_ARGUMENT"
        ),
        (
            400, FCMAnswer.body("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.token"]), .badToken,
            "INVALID_ARGUMENT"
        ),
        (400, FCMAnswer.body("INVALID_ARGUMENT", fields: ["message.fid"]), .badToken, "INVALID_ARGUMENT"),
        (
            400, FCMAnswer.body("INVALID_ARGUMENT", fields: ["message.data[0].value"]), .fault(.request),
            "INVALID_ARGUMENT"
        ),
        (
            400,
            FCMAnswer.body(
                "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: FCMAnswer.badTokenText,
                fields: ["message.token", "message.android.ttl"]), .fault(.request), "INVALID_ARGUMENT"
        ),
        (
            400, FCMAnswer.body("INVALID_ARGUMENT", code: "INVALID_ARGUMENT", message: "Android message is too big"),
            .rejected, "INVALID_ARGUMENT"
        ),
        (400, FCMAnswer.body("INVALID_ARGUMENT"), .fault(.request), "INVALID_ARGUMENT"),
        // Without FcmError: by the canonical code.
        (404, FCMAnswer.body("NOT_FOUND"), .perhapsUnregistered, "NOT_FOUND"),
        (403, FCMAnswer.body("PERMISSION_DENIED"), .fault(.forbidden), "PERMISSION_DENIED"),
        (403, FCMAnswer.body("PERMISSION_DENIED", info: "SERVICE_DISABLED"), .fault(.forbidden), "SERVICE_DISABLED"),
        (403, FCMAnswer.body("PERMISSION_DENIED", info: "CONSUMER_INVALID"), .fault(.topic), "CONSUMER_INVALID"),
        (403, FCMAnswer.body("PERMISSION_DENIED", info: "SOMETHING_NEW"), .fault(.forbidden), "PERMISSION_DENIED"),
        (401, FCMAnswer.body("UNAUTHENTICATED"), .renewCredential, "UNAUTHENTICATED"),
        (401, FCMAnswer.body("UNAUTHENTICATED", info: "ACCESS_TOKEN_EXPIRED"), .renewCredential, "UNAUTHENTICATED"),
        (429, FCMAnswer.body("RESOURCE_EXHAUSTED"), .quota, "RESOURCE_EXHAUSTED"),
        (503, FCMAnswer.body("UNAVAILABLE"), .unavailable, "UNAVAILABLE"),
        (504, FCMAnswer.body("DEADLINE_EXCEEDED"), .unavailable, "DEADLINE_EXCEEDED"),
        // Codes that Google may add: by the fields beside them.
        (400, FCMAnswer.body("INVALID_ARGUMENT", code: "SOMETHING_NEW"), .rejected, "INVALID_ARGUMENT"),
        (503, FCMAnswer.body("UNAVAILABLE", code: "SOMETHING_NEW"), .unavailable, "UNAVAILABLE"),
        (404, FCMAnswer.body("NOT_FOUND", code: "UNSPECIFIED_ERROR"), .perhapsUnregistered, "NOT_FOUND"),
        (418, FCMAnswer.body("TEAPOT", code: "SOMETHING_NEW"), .rejected, "HTTP 418"),
        // No JSON, or none of FCM's: by the HTTP status, and no token is touched.
        (404, "<html>404 Not Found</html>", .fault(.answer), "HTTP 404"),
        (404, nil, .fault(.answer), "HTTP 404"),
        (400, "", .rejected, "HTTP 400"),
        (401, "no", .renewCredential, "HTTP 401"),
        (403, "<html>", .fault(.unknown), "HTTP 403"),
        (429, nil, .quota, "HTTP 429"),
        (500, "[]", .unavailable, "HTTP 500"),
        (502, "upstream", .unavailable, "HTTP 502"),
        (503, #"{"error":"down"}"#, .unavailable, "HTTP 503"),
        (404, #"{"errorCode":"UNREGISTERED"}"#, .fault(.answer), "HTTP 404"),
        (404, #"{"error":{"message":"UNREGISTERED","details":"UNREGISTERED"}}"#, .fault(.answer), "HTTP 404"),
        (301, nil, .fault(.answer), "HTTP 301"),
        (204, nil, .fault(.answer), "HTTP 204"),
    ]

    @Test(arguments: table.indices) func everyLineOfTheTable(line: Int) {
        let (status, body, push, reason) = Self.table[line]
        let reaction = FCMReaction.to(status: status, body.map { FCMErrorBody(Array($0.utf8)) })
        #expect(reaction.push == push)
        #expect(reaction.reason == reason)
        let connection: AnswerVerdict = if case .fault = push { .doubt } else { .keep }
        #expect(reaction.connection == connection)
        let (verdict, reading) = FCMJudge().judge(status: status, body: Array((body ?? "").utf8))
        #expect(verdict == connection)
        // The lane's reading matches the bytes.
        #expect(FCMReaction.to(status: status, entry: reading.entry) == reaction)
        if !reason.isEmpty, !reason.hasPrefix("HTTP") { #expect(FCMProvider.reasons.contains(reason)) }
    }

    /// Judged by the first piece of a good answer's body, however short: a body that passes is not read again.
    @Test func theBeginningOfAGoodBodyIsEnough() {
        for body in [
            "{}", #"{"name":"projects/p/messages/1"}"#, "{\n  \"name\": \"projects/p", #"{"errors":1}"#, #"{"e":1"#,
        ] {
            let bytes = Array(body.utf8)
            let isGood = FCMJudge().isGood(bytes.span)
            #expect(isGood, "\(body)")
        }
        for body in [
            #"{"name":"x"}"#, #"{"name":"proj"#, #"{"na"#, "", "{", " {\n \"er", #"{"error": {"#,
            "<html>", "[]", "\"x\"",
        ] {
            let bytes = Array(body.utf8)
            let isGood = FCMJudge().isGood(bytes.span)
            #expect(!isGood, "\(body)")
        }
    }

    /// Only these end a token.
    @Test func nothingElseEndsAToken() {
        let now = Timestamp(seconds: 1_800_000_000)
        for (status, body, push, _) in Self.table {
            let outcome = FCMProvider.outcome(
                FCMReaction.to(status: status, body.map { FCMErrorBody(Array($0.utf8)) }), retryAfter: nil, at: now)
            if case .unregistered(_, let since) = outcome {
                #expect(since == (push == .unregistered ? now : nil))
                #expect(push == .unregistered || push == .perhapsUnregistered)
            } else {
                #expect(push != .unregistered && push != .perhapsUnregistered)
            }
        }
    }

    @Test func retryAfterIsHonoured() {
        let now = Timestamp(seconds: 1_800_000_000)
        let quota = Array(FCMAnswer.body("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED").utf8)
        #expect(
            FCMProvider.outcome(
                FCMReaction.to(status: 429, FCMErrorBody(quota)), retryAfter: .seconds(9), at: now)
                == .retry(.quota(FCMProvider.quotaBackoff, retryAfter: .seconds(9)), reason: "QUOTA_EXCEEDED"))
        #expect(
            FCMProvider.outcome(FCMReaction.to(status: 503, nil), retryAfter: nil, at: now)
                == .retry(.unavailable(FCMProvider.outageBackoff, retryAfter: nil), reason: "HTTP 503"))
    }

    /// Google's times, until the limit.
    @Test func delaysAreGoogles() {
        let times: [(RetrySchedule.Backoff, [Int64])] = [
            (FCMProvider.quotaBackoff, [60, 120, 240, 480, 960, 1920, 3600, 3600]),
            (FCMProvider.outageBackoff, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]),
        ]
        for (backoff, seconds) in times {
            for (number, delay) in seconds.enumerated() {
                let cause = RetrySchedule.Cause.unavailable(backoff, retryAfter: nil)
                #expect(RetrySchedule().delay(after: cause, attempt: number + 1, random: 0) == .seconds(delay))
            }
        }
    }

    // MARK: Bodies

    /// The lane keeps 4 KiB of a body: one that breaks off keeps the fields it had, and never becomes another answer.
    @Test func aBodyThatBreaksOffGivesWhatItHad() {
        let whole = Array(FCMAnswer.body("NOT_FOUND", code: "UNREGISTERED", fields: ["message.token"]).utf8)
        let full = FCMErrorBody(whole)
        #expect(full.errorCode == "UNREGISTERED" && full.status == "NOT_FOUND" && full.violatesTarget)
        for count in whole.indices {
            let cut = FCMErrorBody(Array(whole.prefix(count)))
            #expect(cut.status == nil || cut.status == full.status)
            #expect(cut.errorCode == nil || cut.errorCode == full.errorCode)
        }
        // The first detail is whole, the second is not.
        let cut = FCMErrorBody(Array(whole.prefix(whole.count - 60)))
        #expect(cut.errorCode == "UNREGISTERED" && cut.status == "NOT_FOUND")
    }

    @Test func detailsMayComeInAnyOrder() {
        let text = """
            {"error":{"details":[{"a":[1,{"b":null}],"errorCode":"UNREGISTERED","@type":"\(FCMAnswer.fcmError)"},7,"x"],
            "more":{"errorCode":"INTERNAL"},"status":"NOT_FOUND"},"errorCode":"INTERNAL"}
            """
        let body = FCMErrorBody(Array(text.utf8))
        #expect(body.errorCode == "UNREGISTERED" && body.status == "NOT_FOUND")
    }

    @Test(arguments: [
        String(repeating: "[", count: 5_000), String(repeating: #"{"error":"#, count: 500), #"{"error":{"status":"#,
        #"{"error":{"status":"a\"#, #"{"error":{"status":"\u0055NREGISTERED"}}"#, "{\"error\":{\"status\":\"\u{0}\"}}",
        #"{"error":{"details":[{"@type":"x","errorCode":"UNREGISTERED"}]}}"#, "{", "}", "\"", "null", "{,}",
        #"{"error":{"status":"NOT FOUND"}}"#,
    ])
    func anythingElseGivesNothing(text: String) {
        let body = FCMErrorBody(Array(text.utf8))
        #expect(body.status == nil && body.errorCode == nil)
    }
}
