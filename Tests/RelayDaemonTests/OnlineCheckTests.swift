// SPDX-License-Identifier: Apache-2.0
import Dispatch
import OwnThread
import PushProviders
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

@testable import Configuration
@testable import RelayDaemon

/// The findings of `check-config --online` from answers, and from none.
@Suite(.ownThread) struct OnlineCheckTests {
    private static let patience = Duration.milliseconds(300)

    private func check() throws -> OnlineCheck {
        let configuration = try ConfigurationFile.parse(Array("{}".utf8), path: "test")
        return OnlineCheck(configuration: configuration, environment: [:], patience: Self.patience)
    }

    private static func good(_ field: String) -> OnlineFinding {
        OnlineFinding(field: field, result: .good, answer: "good")
    }

    @Test func `Nobody is waited for longer than his time, and the others' answers stand`() throws {
        let never = DispatchSemaphore(value: 0)
        defer { never.signal() }
        let turns = [
            OnlineCheck.Turn(questions: [
                .init(field: "a", detail: "sandbox") {
                    never.wait()
                    return Self.good("a")
                }, .init(field: "b") { Self.good("b") },
            ]),
            OnlineCheck.Turn(questions: [.init(field: "c") { Self.good("c") }]),
        ]
        let findings = try check().ask(turns)
        #expect(findings.map(\.field) == ["a", "b", "c"])
        #expect(findings.map(\.result) == [.failed, .good, .good])
        #expect(findings[0].detail == "sandbox" && findings[0].answer.hasPrefix("no answer within"))
        #expect(findings[0].remedy != nil)
    }

    @Test func `Turns go side by side`() throws {
        // Each waits for the other: one after the other, neither would be done in time.
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let patient = OnlineCheck(configuration: try check().configuration, environment: [:], patience: .seconds(60))
        let findings = patient.ask([
            .init(questions: [
                .init(field: "a") {
                    first.signal()
                    second.wait()
                    return Self.good("a")
                }
            ]),
            .init(questions: [
                .init(field: "b") {
                    second.signal()
                    first.wait()
                    return Self.good("b")
                }
            ]),
        ])
        #expect(findings.map(\.result) == [.good, .good])
    }

    private static let (apns, fcm) = (TrialPush.apns(credential: "key"), TrialPush.fcm)

    private static let answers:
        [(trial: TrialPush, TestPushResult.State, reason: String?, Channel, OnlineFinding.Result)] = [
            (apns, .rejected, "BadDeviceToken", .production, .good),
            (apns, .unregistered, "Unregistered", .sandbox, .good),
            (apns, .rejected, "DeviceTokenNotForTopic", .production, .failed),
            (apns, .rejected, "INVALID_ARGUMENT", .production, .failed),
            (apns, .failed, "InvalidProviderToken", .sandbox, .failed),
            (apns, .failed, "BadEnvironmentKeyIdInToken", .sandbox, .limited),
            (apns, .failed, "BadEnvironmentKeyInToken", .sandbox, .limited),
            (apns, .failed, "CertificateEnvironment", .sandbox, .limited),
            (apns, .failed, "BadCertificateEnvironment", .sandbox, .limited),
            (apns, .failed, "BadEnvironmentKeyIdInToken", .production, .failed),
            (apns, .accepted, nil, .production, .failed),
            (fcm, .rejected, "INVALID_ARGUMENT", .production, .good),
            (fcm, .unregistered, "UNREGISTERED", .production, .good),
            // The message is refused, not the token.
            (fcm, .failed, "INVALID_ARGUMENT", .production, .failed),
            (fcm, .rejected, "SENDER_ID_MISMATCH", .production, .failed),
            (fcm, .accepted, nil, .production, .failed),
            // FCM beside APNs: each answer is judged as its service's.
            (fcm, .rejected, "INVALID_ARGUMENT", Channel(.fcm, on: .ios), .good),
            (fcm, .rejected, "BadDeviceToken", Channel(.fcm, on: .ios), .failed),
        ]

    @Test(arguments: answers.indices) func `Only an answer about the token proves all the rest`(number: Int) {
        let (trial, state, reason, channel, expected) = Self.answers[number]
        var result = TestPushResult(state: state, pushID: "1", server: "https://push")
        result.reason = reason
        result.remedy = "do this"
        let finding = OnlineCheck.finding(of: result, trial, channel, at: "field")
        #expect(finding.result == expected)
        #expect(finding.answer.contains("https://push"))
        #expect((finding.remedy == nil) == (expected == .good))
        if let reason { #expect(finding.answer.contains(reason)) }
    }
}
