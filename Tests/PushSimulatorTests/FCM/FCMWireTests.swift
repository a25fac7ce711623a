// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Signing
import SimulatorTools
import Testing
import WireFormat

@testable import PushSimulator

/// End to end with Debian's curl: the token endpoint, then the sending.
@Suite(.serialized, .ownThread) struct FCMWireTests {
    private let fixture: FCMFixture

    init() throws {
        fixture = try FCMFixture()
    }

    private func server(record: Bool = false, _ change: (inout SimulatorConfiguration) -> Void = { _ in }) throws
        -> RunningSimulator
    {
        var configuration = SimulatorConfiguration(fixture.project)
        change(&configuration)
        return try RunningSimulator(configuration, record: record)
    }

    @Test func aPushIsAcceptedAndNamed() throws {
        let server = try server(record: true)
        let access = try server.accessToken()
        let answer = try server.push(access: access)
        #expect(answer.head == "HTTP/2 200 \r\ncontent-type: application/json; charset=UTF-8")
        let name = try #require(answer.json?["name"]?.string)
        #expect(name.wholeMatch(of: /projects\/test-project\/messages\/0:[0-9]+%[0-9a-f]+/) != nil, "\(name)")
        // FCM has no idempotency key: the same push again is delivered again, under another name.
        let second = try server.push(access: access)
        #expect(second.code == 200 && second.json?["name"]?.string != name)
        _ = try server.push(FCMFixture.message(token: "other", pushID: "42"), access: access)
        let figures = server.simulator.figures
        #expect(figures.requests == 3 && figures.accepted == 3 && figures.rejected == 0)
        #expect(figures.distinctTokens == 2 && figures.distinctIDs == 2 && figures.duplicates == 1)
        #expect(figures.tokenRequests == 1 && figures.providerTokens == 1 && figures.tokenRefusals == 0)
        #expect(server.simulator.accepted().contains(id: Fixture.id) && server.simulator.accepted().contains(id: "42"))
        #expect(server.simulator.accepted().count(ofToken: FCMFixture.token) == 2)
        let line = try JSONReader.read(Array(try server.record()[0].utf8))
        #expect(line["name"]?.string == name)
        #expect(line["pushId"]?.string == Fixture.id)
        #expect(line["token"]?.string == FCMFixture.token)
        #expect(line["payload"]?.find(["message", "data", "page"])?.string == FCMFixture.page)
    }

    @Test func aDryRunReachesNobody() throws {
        let server = try server { $0.faults.deadTokens = ["gone"] }
        let access = try server.accessToken()
        func dryRun(_ token: String) throws -> Answer {
            guard case .object(let members) = FCMFixture.message(token: token) else {
                throw SimulatorError("no object")
            }
            let flag = JSONMember(name: "validate_only", value: .bool(true))
            return try server.push(.object(members + [flag]), access: access)
        }
        #expect(try dryRun("here").json?["name"]?.string == "projects/test-project/messages/fake_message_id")
        #expect(try dryRun("gone").errorCode == "UNREGISTERED")
        let figures = server.simulator.figures
        #expect(figures.requests == 2 && figures.validated == 1 && figures.accepted == 0 && figures.distinctTokens == 0)
    }

    // MARK: Access

    @Test func withoutAnAccessTokenNothingIsSent() throws {
        let server = try server()
        let access = try server.accessToken()
        let none = try server.push(access: nil)
        #expect(none.code == 401 && none.json?["error"]?["status"]?.string == "UNAUTHENTICATED")
        #expect(none.detail("google.rpc.ErrorInfo")?["reason"]?.string == "CREDENTIALS_MISSING")
        #expect(none.errorCode == nil, "FCM has not seen it")
        #expect(try server.push(access: "ya29.c.foreign").code == 401)
        let scope = try server.push(access: try server.accessToken(scope: GoogleAccount.Scope.androidPublisher))
        #expect(scope.code == 403)
        #expect(scope.detail("google.rpc.ErrorInfo")?["reason"]?.string == "ACCESS_TOKEN_SCOPE_INSUFFICIENT")
        let foreign = try server.push(access: access, project: "another-project")
        #expect(foreign.code == 403 && foreign.json?["error"]?["status"]?.string == "PERMISSION_DENIED")
        #expect(foreign.errorCode == nil)
        let figures = server.simulator.figures
        #expect(figures.accepted == 0)
        #expect(
            figures.rejectedBy == [
                "UNAUTHENTICATED": 2, "ACCESS_TOKEN_SCOPE_INSUFFICIENT": 1, "PERMISSION_DENIED": 1,
            ])
    }

    @Test func anAccessTokenEndsWithItsTime() throws {
        let server = try server()
        let access = try server.accessToken()
        var script = FaultScript()
        script.clockAhead = 3599 - 60
        try server.simulator.play(script)
        #expect(try server.push(access: access).code == 200)
        script.clockAhead = 3600
        try server.simulator.play(script)
        #expect(try server.push(access: access).code == 401)
        // And an assertion from the future is refused: here the simulator's clock is behind.
        script.clockAhead = -60
        try server.simulator.play(script)
        let refused = try server.askForToken()
        #expect(refused.code == 400 && refused.json?["error"]?.string == "invalid_grant", "\(refused)")
        #expect(server.simulator.figures.tokenRefusals == 1)
    }

    @Test func accessIsRevokedInMidRun() throws {
        let server = try server { $0.faults.accessRevokedAfter = 2 }
        let old = try server.accessToken()
        #expect(try (0..<4).map { _ in try server.push(access: old).code } == [200, 200, 401, 401])
        #expect(try server.push(access: try server.accessToken()).code == 200)
    }

    @Test func aDeletedKeyGetsNoAccessButWhatItGotLasts() throws {
        let server = try server { $0.faults.revokedKey = .init(keyID: fixture.project.keyID, afterN: 1) }
        let access = try server.accessToken()
        #expect(try (0..<3).map { _ in try server.push(access: access).code } == [200, 200, 200])
        let answer = try server.askForToken()
        #expect(answer.code == 400)
        #expect(
            answer.json == ["error": .string("invalid_grant"), "error_description": .string("Invalid JWT Signature.")])
    }

    @Test func theTokenEndpointFails() throws {
        let server = try server {
            $0.faults.tokenEndpoint = .init(afterN: 1, count: 2, status: 503)
        }
        #expect(try (0..<4).map { _ in try server.askForToken().code } == [200, 503, 503, 200])
        var script = FaultScript()
        script.tokenEndpoint = .init(
            count: 1, status: 401, error: "disabled_client", description: "The account is disabled.")
        try server.simulator.play(script)
        let refused = try server.askForToken()
        #expect(refused.code == 401 && refused.json?["error"]?.string == "disabled_client")
        script.tokenEndpoint = .init(count: 1, status: nil)
        try server.simulator.play(script)
        #expect(try server.askForToken().code == 0, "curl gives up")
        #expect(try server.askForToken().code == 200)
        #expect(server.simulator.figures.tokenRequests == 7)
        #expect(server.simulator.figures.requests == 0, "no request of these is a push")
    }

    // MARK: Refusals

    @Test func aDeadTokenToTheLetter() throws {
        let server = try server { $0.faults.deadTokens = [FCMFixture.token] }
        let answer = try server.push(access: try server.accessToken())
        #expect(answer.code == 404)
        #expect(
            answer.json == [
                "error": [
                    "code": .integer(404), "message": .string("Requested entity was not found."),
                    "status": .string("NOT_FOUND"),
                    "details": .array([
                        [
                            "@type": .string("type.googleapis.com/google.firebase.fcm.v1.FcmError"),
                            "errorCode": .string("UNREGISTERED"),
                        ]
                    ]),
                ]
            ])
    }

    /// The two examples of Google's page error-codes: one status, two meanings.
    @Test func aBadTokenAndABadPayloadDifferInTheirDetails() throws {
        let server = try server { $0.faults.badTokens = ["bad"] }
        let access = try server.accessToken()
        for token in ["bad", "no token at all"] {
            let answer = try server.push(FCMFixture.message(token: token), access: access)
            #expect(answer.code == 400 && answer.errorCode == "INVALID_ARGUMENT" && answer.violation == nil)
        }
        let payload = try server.push(
            ["message": ["token": .string("a"), "data": ["n": .integer(12)]]], access: access)
        #expect(payload.code == 400 && payload.errorCode == nil)
        #expect(payload.violation?["field"]?.string == "message.data[0].value")
        let message = try #require(payload.json?["error"]?["message"]?.string)
        #expect(message == "Invalid value at 'message.data[0].value' (TYPE_STRING), 12")
        #expect(payload.violation?["description"]?.string == message)
        let reserved = try server.push(
            ["message": ["token": .string("a"), "data": ["from": .string("x")]]], access: access)
        #expect(reserved.errorCode == "INVALID_ARGUMENT" && reserved.violation?["field"]?.string == "message.data")
        #expect(try server.push(access: access, type: "text/plain").violation != nil)
        #expect(try server.push(.string("no object"), access: access).code == 400)
        #expect(server.simulator.figures.rejectedBy == ["INVALID_ARGUMENT": 2, "BadRequest": 4])
    }

    @Test func anotherPathIsAPage() throws {
        let server = try server()
        let answer = Answer(try server.curl([(":path", "/v1/projects/test-project/messages")], payload: "{}"))
        #expect(answer.code == 404)
        #expect(answer.head.contains("content-type: text/html; charset=UTF-8"))
        #expect(answer.body.hasPrefix("<!DOCTYPE html>"))
        let got = try server.curl([(":path", "/v1/projects/test-project/messages:send"), (":method", "GET")])
        #expect(got.output.hasPrefix("HTTP/2 404"))
        #expect(try server.curl([(":path", "/token"), (":method", "GET")]).output.hasPrefix("HTTP/2 404"))
    }

    @Test(arguments: ServiceKind.fcm.reasons) func everyRefusalCanBeGiven(reason: RejectionReason) throws {
        let server = try server { $0.faults.shares = [.rejection(reason): 1] }
        let answer = try server.push(access: try server.accessToken())
        #expect(answer.code == Int(reason.status))
        switch reason {
        case .fcmNoSuchPage, .fcmBadGateway: #expect(answer.json == nil && answer.head.contains("text/html"))
        case .fcmBadRequest: #expect(answer.errorCode == nil && answer.violation != nil)
        case .fcmPermissionDenied, .fcmServiceDisabled, .fcmScopeInsufficient, .fcmUnauthenticated:
            #expect(answer.errorCode == nil && answer.detail("google.rpc.ErrorInfo") != nil)
        default: #expect(answer.errorCode == reason.rawValue)
        }
        #expect(server.simulator.figures.rejectedBy == [reason.rawValue: 1])
    }

    @Test func aNamedTokenGetsWhatTheScriptSays() throws {
        let server = try server {
            $0.faults.tokenReasons = ["apple": .fcmThirdPartyAuth, "other": .fcmSenderMismatch]
            $0.faults.otherTopicTokens = ["foreign"]
        }
        let access = try server.accessToken()
        func code(_ token: String) throws -> String? {
            try server.push(FCMFixture.message(token: token), access: access).errorCode
        }
        #expect(try code("apple") == "THIRD_PARTY_AUTH_ERROR")
        #expect(try code("other") == "SENDER_ID_MISMATCH")
        #expect(try code("foreign") == "SENDER_ID_MISMATCH")
        #expect(try code("healthy") == nil)
    }

    // MARK: Waiting

    @Test func retryAfterInBothForms() throws {
        let server = try server {
            $0.faults.busyShare = 1
            $0.faults.busyTries = 1
            $0.faults.busyRetryAfter = 30
        }
        let access = try server.accessToken()
        let seconds = try server.push(access: access)
        #expect(seconds.code == 429 && seconds.errorCode == "QUOTA_EXCEEDED")
        #expect(seconds.head.hasSuffix("\r\nretry-after: 30"))
        #expect(try server.push(access: access).code == 200)
        var script = FaultScript()
        script.serviceErrors = .init(afterN: 0, count: 1, retryAfter: 30)
        script.retryAfterDate = true
        try server.simulator.play(script)
        let before = Fixture.now
        let dated = try server.push(access: access)
        #expect(dated.code == 503 && dated.errorCode == "UNAVAILABLE")
        let match = try #require(dated.head.firstMatch(of: /retry-after: (.*GMT)/))
        let wait = try #require(RetryAfter.seconds(match.1.utf8, now: before))
        #expect((30...33).contains(wait), "\(match.1)")
    }

    @Test func theQuotaIsReachedAndFullAgain() throws {
        let server = try server { $0.faults.quota = .init(requests: 3, seconds: 2, retryAfter: 2) }
        let access = try server.accessToken()
        let began = ContinuousClock.now
        let codes = try (0..<5).map { _ in try server.push(access: access).code }
        // Each curl is a process: on a slow machine the window may be over before the fifth.
        if ContinuousClock.now - began < .seconds(2) { #expect(codes == [200, 200, 200, 429, 429]) }
        let deadline = ContinuousClock.now + .seconds(30)
        while try server.push(access: access).code != 200 { try #require(ContinuousClock.now < deadline) }
        #expect(server.simulator.figures.accepted >= 4)
    }

    // MARK: HTTP/2

    @Test func aConnectionStartsWithAHundredStreams() throws {
        let server = try server()
        let client = try RawClient(server)
        try client.read { $0.contains { $0.maximumStreams != nil } }
        #expect(client.frames.compactMap(\.maximumStreams) == [100])
        client.close()
    }

    @Test func aGoAwaySaysItInPlainText() throws {
        let server = try server {
            $0.faults.goAwayAfter = 1
            $0.faults.goAwayReason = "max_age"
        }
        let access = try server.accessToken()
        let client = try RawClient(server)
        let headers = [
            (":method", "POST"), (":scheme", "https"), (":path", "/v1/projects/test-project/messages:send"),
            (":authority", "localhost"), ("authorization", "Bearer \(access)"), ("content-type", "application/json"),
        ]
        try client.send(client.request(1, headers, payload: FCMFixture.text(FCMFixture.message())))
        try client.read { $0.contains { $0.type == RawClient.Frame.goAway } }
        let frame = try #require(client.frames.first { $0.type == RawClient.Frame.goAway })
        #expect(String(decoding: frame.payload.dropFirst(8), as: UTF8.self) == "max_age")
        #expect(server.simulator.figures.accepted == 1 && server.simulator.figures.goAways == 1)
    }

    @Test(arguments: [RequestFault.reset, .cut]) func aLostAnswerIsFollowedByItsPushID(fault: RequestFault) throws {
        let journal = FaultJournal()
        let server = try server {
            $0.faults.shares = [fault: 1]
            $0.witness = journal
        }
        let access = try server.accessToken()
        #expect(try server.push(access: access).code == 0)
        #expect(journal.openFault(ofID: Fixture.id) == fault)
        #expect(try server.push(access: access).code == 0)
        #expect(server.simulator.figures.duplicates == 1)
        #expect(journal.figures[fault]?.acceptedAgain == 1)
    }

    @Test func aBareSimulatorGivesAccessAndAcceptsWhateverComes() throws {
        let server = try server { BareSession.answer(&$0) }
        let access = try server.accessToken()
        #expect(access == "bare")
        // Two on one connection: the first answer of a connection is an access token too.
        let address = "https://localhost:\(server.simulator.port)/v1/projects/test-project/messages:send"
        let answer = try server.curl([(":path", "/")], payload: "no json", options: ["--http2", address])
        let answers = answer.output.components(separatedBy: "HTTP/2 200 \r\n").dropFirst().map {
            $0.components(separatedBy: "\r\n\r\n").last.flatMap { try? JSONReader.read(Array($0.utf8)) }
        }
        #expect(answers.count == 2, "\(answer)")
        #expect(answers.allSatisfy { $0?["name"]?.string?.hasPrefix("projects/test-project/messages/") == true })
        #expect(answers.map { $0?["access_token"]?.string } == ["bare", nil])
        #expect(server.simulator.figures.accepted == 3)
    }

    // MARK: Scripts

    @Test func aScriptAsJSON() throws {
        let text = #"""
            {"shares": {"UNREGISTERED": 0.02, "INTERNAL": 0.1}, "tokenReasons": {"a": "SENDER_ID_MISMATCH"},
             "tokenEndpoint": {"status": 503, "count": 2}, "quota": {"requests": 600000}, "retryAfterDate": true,
             "accessRevokedAfter": 7, "busyRetryAfter": 1}
            """#
        let script = try FaultScript(json: Array(text.utf8))
        #expect(script.shares == [.rejection(.fcmUnregistered): 0.02, .rejection(.fcmInternal): 0.1])
        #expect(script.tokenReasons == ["a": .fcmSenderMismatch])
        #expect(script.tokenEndpoint == .init(count: 2, status: 503))
        #expect(script.quota == .init(requests: 600_000))
        #expect(script.retryAfterDate && script.accessRevokedAfter == 7 && script.busyRetryAfter == 1)
        #expect(script.problem(for: .fcm) == nil)
        #expect(try FaultScript(json: Array(JSONEncoder().encode(script))) == script)
    }

    @Test func anotherServicesWordMakesNoSense() {
        func problem(_ service: ServiceKind, _ change: (inout FaultScript) -> Void) -> String? {
            var script = FaultScript()
            change(&script)
            return script.problem(for: service)?.field
        }
        #expect(problem(.fcm) { $0.shares = [.rejection(.unregistered): 0.1] } == "shares.Unregistered")
        #expect(problem(.apns) { $0.shares = [.rejection(.fcmInternal): 0.1] } == "shares.INTERNAL")
        #expect(problem(.fcm) { $0.refusals = .init(reason: "Forbidden") } == "refusals.reason")
        #expect(problem(.fcm) { $0.refusals = .init(reason: "PERMISSION_DENIED") } == nil)
        #expect(problem(.fcm) { $0.tokenReasons = ["a": .badDeviceToken] } == "tokenReasons.a")
        #expect(problem(.apns) { $0.tokenEndpoint = .init(status: 503) } == "tokenEndpoint")
        #expect(problem(.apns) { $0.accessRevokedAfter = 1 } == "accessRevokedAfter")
        #expect(problem(.fcm) { $0.tokenEndpoint = .init(status: 200) } == "tokenEndpoint.status")
        #expect(problem(.fcm) { $0.quota = .init(requests: -1) } == "quota.requests")
        #expect(problem(.fcm) { $0.quota = .init(requests: 1, seconds: 0) } == "quota.seconds")
    }
}
