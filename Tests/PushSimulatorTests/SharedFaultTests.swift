// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import SimulatorTools
import Testing

/// A script's `shares`: faults for a share of all requests.
@Suite(.serialized, .ownThread) struct SharedFaultTests {
    private let fixture: Fixture
    private let journal = FaultJournal()

    init() throws {
        fixture = try Fixture()
    }

    private func server(_ change: (inout FaultScript) -> Void) throws -> RunningSimulator {
        var configuration = fixture.configuration()
        configuration.witness = journal
        change(&configuration.faults)
        return try RunningSimulator(configuration)
    }

    private func push(_ server: RunningSimulator) throws -> String {
        try server.curl(fixture.headers(jwt: fixture.jwt())).output
    }

    @Test func inJSONAShareGoesByItsName() throws {
        let text = #"{"shares": {"BadDeviceToken": 0.02, "refusedStream": 0.1}, "sharedRetryAfter": 1, "delayMs": 20}"#
        let script = try FaultScript(json: Array(text.utf8))
        #expect(script.shares == [.rejection(.badDeviceToken): 0.02, .refusedStream: 0.1])
        #expect(script.problem(for: .apns) == nil)
        #expect(try FaultScript(json: Array(JSONEncoder().encode(script))) == script)
        #expect(throws: DecodingError.self) {
            try FaultScript(json: Array(#"{"shares": {"BadWeather": 0.1}}"#.utf8))
        }
        for fault in RequestFault.all(of: .apns) + RequestFault.all(of: .fcm) {
            #expect(RequestFault(rawValue: fault.rawValue) == fault)
        }
    }

    @Test func whatMakesNoSenseIsSaid() {
        var script = FaultScript()
        script.shares = [.cut: 1.5]
        #expect(script.problem(for: .apns)?.field == "shares.cut")
        script.shares = [.cut: 0.6, .reset: 0.6]
        #expect(script.problem(for: .apns)?.field == "shares")
        script.shares = [:]
        script.sharesSeed = 0
        #expect(script.problem(for: .apns)?.field == "sharesSeed")
    }

    @Test func everySecondRequestIsRefusedAndFollowedUntilItIsAccepted() throws {
        let server = try server {
            $0.shares = [.rejection(.serviceUnavailable): 0.5]
            $0.sharedRetryAfter = 7
        }
        var refused = 0
        for _ in 0..<20 {
            let answer = try push(server)
            guard answer.hasPrefix("HTTP/2 503") else { continue }
            refused += 1
            #expect(answer.contains("retry-after: 7\r\n"))
        }
        // One in each two, early or late.
        #expect(refused == 10)
        let figures = try #require(journal.figures[.rejection(.serviceUnavailable)])
        #expect(figures.times == 10)
        #expect(figures.pushes == 10)
        // All of one id: refused twice in a row, it is accepted once after both.
        #expect((5...10).contains(figures.acceptedLater))
        #expect(figures.acceptedAgain == 0, "a refusal loses no answer")
        #expect(server.simulator.figures.accepted == 10)
    }

    @Test(arguments: [RequestFault.reset, .cut]) func aLostAnswerIsFollowedToTheSecondAcceptance(
        fault: RequestFault
    ) throws {
        let server = try server { $0.shares = [fault: 1] }
        #expect(try push(server).isEmpty)
        #expect(server.simulator.figures.accepted == 1)
        #expect(journal.openFault(ofID: Fixture.id) == fault)
        #expect(server.simulator.accepted().contains(id: Fixture.id))
        #expect(try push(server).isEmpty)
        #expect(server.simulator.figures.duplicates == 1)
        let figures = try #require(journal.figures[fault])
        #expect(figures.times == 2)
        #expect(figures.acceptedAgain == 1)
    }

    @Test func noAnswerLeavesTheConnectionAlive() throws {
        let server = try server { $0.shares = [.noAnswer: 1] }
        let answer = try server.curl(
            fixture.headers(jwt: fixture.jwt()), options: ["--http2", "--max-time", "5"])
        #expect(answer.status == 28, "curl's time-out, which counts from before the handshake: \(answer)")
        #expect(server.simulator.figures.accepted == 1)
        #expect(server.simulator.figures.cuts == 0)
    }

    @Test func aDelayedAnswerComesLate() throws {
        let server = try server {
            $0.shares = [.delay: 1]
            $0.delayMs = 300
        }
        let began = ContinuousClock.now
        #expect(try push(server).hasPrefix("HTTP/2 200"))
        #expect(ContinuousClock.now - began >= .milliseconds(300))
    }

    @Test func everyReasonOfApplesTableCanBeGiven() throws {
        for reason in [RejectionReason.idleTimeout, .forbidden, .expiredToken, .shutdown] {
            let server = try server { $0.shares = [.rejection(reason): 1] }
            let answer = try push(server)
            #expect(answer.hasPrefix("HTTP/2 \(reason.status)"))
            #expect(answer.contains(#"{"reason":"\#(reason.rawValue)""#))
            #expect(answer.contains("timestamp") == (reason.status == 410))
        }
    }
}
