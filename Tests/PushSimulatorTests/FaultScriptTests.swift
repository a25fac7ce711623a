// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import PushSimulator

@Suite struct FaultScriptTests {
    @Test func sharesAreMetAndRepeatable() {
        var script = FaultScript()
        script.deadShare = 0.05
        script.badShare = 0.01
        script.busyShare = 0.1
        var counts: [FaultScript.Fate: Int] = [:]
        for number in 0..<20_000 {
            let fate = FaultScript.fate(ofToken: Fixture.token(number), script: script)
            #expect(fate == FaultScript.fate(ofToken: Fixture.token(number).uppercased(), script: script))
            counts[fate, default: 0] += 1
        }
        // Five standard deviations of a binomial distribution.
        #expect(abs(counts[.dead, default: 0] - 1000) < 155)
        #expect(abs(counts[.bad, default: 0] - 200) < 71)
        #expect(abs(counts[.busy, default: 0] - 2000) < 213)
        #expect(counts[.otherTopic] == nil)
    }

    @Test func listedTokensComeFirst() {
        var script = FaultScript()
        script.deadShare = 1
        script.badTokens = ["AB"]
        script.busyTokens = ["cd"]
        script.otherTopicTokens = ["ef"]
        #expect(FaultScript.fate(ofToken: "ab", script: script) == .bad)
        #expect(FaultScript.fate(ofToken: "CD", script: script) == .busy)
        #expect(FaultScript.fate(ofToken: "ef", script: script) == .otherTopic)
        #expect(FaultScript.fate(ofToken: "00", script: script) == .dead)
        #expect(FaultScript.fate(ofToken: "00", script: FaultScript()) == .healthy)
    }

    @Test func asJSON() throws {
        let text = #"""
            {"deadShare": 0.02, "goAwayAfter": 500, "goAwayTimes": 2, "deadTokens": ["00"],
             "serviceErrors": {"afterN": 10, "count": 5, "status": 500, "retryAfter": 3},
             "shrinkSettings": {"afterN": 100, "to": 10}, "latencyMs": 20}
            """#
        let script = try FaultScript(json: Array(text.utf8))
        #expect(script.deadShare == 0.02)
        #expect(script.badShare == 0)
        #expect(script.busyTries == 2)
        #expect(script.goAwayAfter == 500)
        #expect(script.goAwayTimes == 2)
        #expect(script.deadTokens == ["00"])
        #expect(script.serviceErrors == .init(afterN: 10, count: 5, status: 500, retryAfter: 3))
        #expect(script.shrinkSettings == .init(afterN: 100, to: 10))
        #expect(script.latencyMs == 20)
        #expect(script.problem(for: .apns) == nil)
        #expect(try FaultScript(json: Array(JSONEncoder().encode(script))) == script)
    }

    @Test func whatGoesWrongWithACredentialAsJSON() throws {
        let text = #"""
            {"refusals": {"afterN": 5, "count": 7, "reason": "Forbidden", "retryAfter": 3}, "clockAhead": -3600,
             "revokedKey": {"keyID": "KEY1234567", "afterN": 9}, "deadWithoutTimestamp": true}
            """#
        let script = try FaultScript(json: Array(text.utf8))
        #expect(script.refusals == .init(afterN: 5, count: 7, reason: "Forbidden", retryAfter: 3))
        #expect(script.clockAhead == -3600)
        #expect(script.revokedKey == .init(keyID: "KEY1234567", afterN: 9))
        #expect(script.deadWithoutTimestamp)
        #expect(script.problem(for: .apns) == nil)
        #expect(try FaultScript(json: Array(JSONEncoder().encode(script))) == script)
        var wrong = script
        wrong.refusals?.reason = "Forbiden"
        #expect(wrong.problem(for: .apns)?.field == "refusals.reason")
    }

    @Test func anUnknownFieldIsAnError() {
        #expect(throws: SimulatorError.self) {
            try FaultScript(json: Array(#"{"deadshare": 0.5}"#.utf8))
        }
    }

    @Test func problemsAreNamed() {
        func problem(_ change: (inout FaultScript) -> Void) -> String? {
            var script = FaultScript()
            change(&script)
            return script.problem(for: .apns)?.field
        }
        #expect(problem { $0.deadShare = 1.5 } == "deadShare")
        #expect(problem { $0.badShare = -1 } == "badShare")
        #expect(problem { $0.busyShare = .nan } == "busyShare")
        #expect(
            problem {
                $0.deadShare = 0.6
                $0.badShare = 0.6
            } == "deadShare, badShare, busyShare")
        #expect(problem { $0.cutAfter = 0 } == "cutAfter")
        #expect(problem { $0.serviceErrors = .init(afterN: 0, count: 1, status: 404) } == "serviceErrors.status")
        #expect(problem { $0.shrinkSettings = .init(afterN: 0, to: 0) } == "shrinkSettings.to")
        #expect(problem { $0.latencyMs = -1 } == "latencyMs")
    }
}
