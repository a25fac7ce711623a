// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

@testable import RelayAPI
@testable import Requirements
@testable import StatusPage

/// A page in Chinese has no reason in English. The reasons are read out of the sources that make them.
@Suite("Reasons in Chinese") struct ReasonTextTests {
    /// The sources of the reasons that the page shows.
    private static let sources = [
        "Rules/RelayEngine/Gate", "Rules/RelayEngine/WaveRules.swift", "Rules/Requirements/RequirementWait.swift",
        "Rules/Requirements/RequirementTrouble.swift", "Rules/Requirements/KnownVersions.swift",
        "Rules/Requirements/BumpRules.swift", "Rules/Requirements/RequirementMachine",
        "Rules/Requirements/Campaigns/Rollout.swift", "Rules/UpgradeRules/LaunchGateAdvice.swift",
        "Running/RelayDaemon/Requirements/CampaignReason.swift", "Running/RelayDaemon/Requirements/HoursText.swift",
        "Running/RelayDaemon/Requirements/RequirementControl.swift",
        "Running/RelayDaemon/Requirements/RequirementControl+Campaigns.swift",
        "Running/RelayDaemon/Requirements/RequirementControl+Versions.swift",
        "Running/RelayDaemon/Fleet/NodeKeeper.swift", "Running/RelayDaemon/CertificateWatch.swift",
        "Running/RelayDaemon/ReloadRequests.swift", "Push/FanOut/PushService+Faults.swift",
        "Push/FanOut/Dispatcher+Conflicts.swift", "Push/PushProviders/PushProvider.swift",
        "Push/PushProviders/APNs/APNsRemedy", "Push/PushProviders/FCM/FCMRemedy.swift",
        "Serving/RelayAPI/Operations/ReadinessFault.swift", "Serving/RelayAPI/Operations/ReadinessCheck.swift",
        "Serving/RelayAPI/Versions/VersionCache+Troubles.swift", "Serving/RelayAPI/Devices/UserExplanation.swift",
        "Serving/RelayAPI/Devices/UserExplanation+Words.swift",
        "Store/RelayStore/StoreError+Refusal.swift", "Store/RelayStore/Past/StoreMark.swift",
    ]

    /// Sentences that no page shows, or that are shown as they are.
    private static let others: Set = [
        // Answers of the login check, in the app's own languages.
        "A new version is required.", "Version % is available.", "A new version is available.",
        // Names, and commands.
        "% of % (%)",
        "version release", "version set --latest % --yes", "systemctl % upgrade-relay && ",
    ]

    private static func sentences() throws -> [(file: String, text: String)] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
            .filter { path in path.hasSuffix(".swift") && sources.contains { path.hasPrefix($0) } }
            .flatMap { path in
                SourceSentences.of(try String(contentsOf: root.appending(path: path), encoding: .utf8)).map {
                    (path, $0)
                }
            }
    }

    @Test func `Every reason of the sources has its Chinese`() throws {
        let found = try Self.sentences()
        #expect(found.count > 200)
        for (file, text) in found where !Self.others.contains(text) {
            let said = text.replacing("%", with: "7")
            #expect(ReasonText.chinese(said) != nil, "\(file): \(text)")
        }
    }

    @Test func `Places and values agree`() {
        for (english, chinese) in ReasonText.patterns {
            let places = english.count { $0 == "%" }
            for digit in chinese.matches(of: /%([1-9])/) {
                #expect(Int(digit.output.1).map { $0 <= places } == true, "\(chinese)")
            }
            #expect(chinese.contains(/%[1-9]/) || chinese.count { $0 == "%" } <= places, "\(chinese)")
        }
    }

    @Test(arguments: [
        (
            "wave 1 of 3 is done; the next begins at 2026-01-31T09:05:07.250Z",
            "第 1 批（共 3 批）已完成；下一批开始于 2026-01-31T09:05:07.250Z"
        ),
        (
            "WaveDone: wave 1 of 3 is done and the next waits for approval; approve begins wave 2, which takes it to 30 percent of the audience",
            "第 1 批（共 3 批）已完成，下一批等待批准；“批准”开始第 2 批，累计达到目标设备的 30％"
        ),
        (
            "paused by ada at 2026-01-31T09:05:07.250Z; \"campaigns resume 1f0c\" goes on",
            "已由 ada 于 2026-01-31T09:05:07.250Z 暂停；“campaigns resume 1f0c”继续"
        ),
        (
            "waiting until the App Store offers 2.0.0; it shows 1.9.0, last asked at 2026-01-31T09:05:07.250Z",
            "等待 App Store 提供 2.0.0；目前显示 1.9.0，上次查询于 2026-01-31T09:05:07.250Z"
        ),
        (
            "waiting until Google Play offers 2.0.0; the track \"production\" is empty, last asked at 2026-01-31T09:05:07.250Z",
            "等待 Google Play 提供 2.0.0；轨道“production”为空，上次查询于 2026-01-31T09:05:07.250Z"
        ),
        (
            "the canary of 2 phone numbers is done; \"campaigns approve 1f0c\" sends to 5 % of the users",
            "灰度（2 个手机号）已完成；“campaigns approve 1f0c”将发送给 5 % 的用户"
        ),
        ("1.9.0 is below 2.0.0, which is required of everybody", "1.9.0 低于 2.0.0，而所有人必须升级到它"),
        (
            "the campaign is completed and cannot be resumed", "推送活动的状态为“已完成”，不能执行该操作（恢复）"
        ),
    ])
    func `A reason is translated with the reasons in it`(english: String, chinese: String) {
        #expect(ReasonText.chinese(english) == chinese)
    }

    @Test(arguments: ["", "2.0.0", "<script>alert(1)</script>", "升级", String(repeating: "the x; ", count: 900)])
    func `A text of another program stays as it is`(text: String) {
        #expect(PageLanguage.chinese.reason(text).text == text)
        #expect(PageLanguage.english.reason(text) == (text, false))
    }

    @Test func `Every refusal, fault and remedy has its Chinese`() throws {
        let version = try Version("2.0.0")
        let moment = Timestamp(seconds: 1_800_000_000)
        let app = AppKey(app: "com.example.app", platform: .ios)
        let refusals: [RequirementRefusal] = [
            .versionWouldFall(field: "latest", current: version, proposed: version), .noDownloadURL(version),
            .notACanary(version), .inForceAlready(version), .momentPassed(moment, now: moment),
            .momentTooFar(moment, latest: moment), .nothingWaits, .notRequired(version, now: nil), .isBlocked(version),
            .notBlocked(version), .nothingAbove(version), .deadEnd(version), .wrongState(.completed),
            .wasWithdrawn(version, .required), .wasWithdrawn(version, .blocked),
            .implausible(field: "required", proposed: version, known: version),
        ]
        for refusal in refusals {
            let problem = ProblemDetails.of(StoreError(refusal, of: app)).detail
            #expect(ReasonText.chinese(problem) != nil, "\(problem)")
        }
        let parts = [
            "store", "past", "watcher", "gates", "evidence", "app:x", "apns:x", "outage:x", "credential:x", "quota:x",
            "pause:x", "stopped:x", "environment:x", "certificate:x", "node", "claims", "relays", "configuration",
            "source:x", "listen", "version:x", "other",
        ]
        for part in parts {
            let remedy = ReadinessFault(part: part, reason: "").remedy
            #expect(ReasonText.chinese(remedy) != nil, "\(part): \(remedy)")
        }
        for kind in Wait.Kind.allCases {
            if let remedy = kind.remedy { #expect(PageLanguage.chineseText(remedy.description) != nil) }
        }
    }
}
