// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushProviders
import RelayEngine
import Testing
import UpgradeRules
import WireFormat

/// etc/TROUBLESHOOTING.md explains every reason that the relay can record or show, and no other.
@Suite struct GuideTests {
    private static let page = "etc/TROUBLESHOOTING.md"

    private static func file(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func section(_ title: String) throws -> [Substring] {
        let lines = try file(page).split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0 == "## \(title)" }, "\(page) has no part \(title)")
        return Array(lines[(start + 1)...].prefix { !$0.hasPrefix("#") })
    }

    /// The names between backquotes in one column of the table.
    private static func names(_ title: String, column: Int) throws -> [String] {
        try section(title).filter { $0.hasPrefix("| ") }.dropFirst().flatMap { row in
            row.split(separator: "|")[column].matches(of: /`([^`]+)`/).map { String($0.output.1) }
        }
    }

    @Test func everyReasonOfAPushIsExplained() throws {
        let told = try Self.names("Push reasons", column: 0)
        let known = ProviderName.allCases.reduce(into: Set([MissingProvider.reason])) { $0.formUnion($1.kind.reasons) }
            .union(FilterReason.allCases.map(\.rawValue))
        // "HTTP 418" and its like: an answer without a known reason.
        #expect(Set(told).subtracting(["HTTP"]) == known)
        #expect(told.contains("HTTP"))
        #expect(told.count == Set(told).count, "one row for each")
    }

    /// Behind the fields of other answers (`AnswerFieldTests`). The fields are tried where they are read, as in
    /// `FCMReactionTests`.
    @Test func everyFieldThatIsCheckedIsExplained() throws {
        let part = try Self.file("etc/SOURCES.md").split(separator: "## Which answers are believed").last ?? ""
        let rows = part.split(separator: "\n").drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("|") }
        let right = ProviderName.allCases.flatMap { provider in
            provider.kind.answerFields.map { "| \(provider.text) | `\($0.field)` | \($0.check) |" }
        }
        #expect(rows.dropFirst(AnswerField.allCases.count).map(String.init) == right)
    }

    @Test func everyAlertHasAFirstLook() throws {
        let rules = try Self.file("etc/prometheus/upgrade-relay.rules.yml")
        let alerts = Set(rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) })
        let told = try Self.file(Self.page).matches(of: /\| `(UpgradeRelay\w+)` \|/).map { String($0.output.1) }
        #expect(alerts.count > 10)
        #expect(Set(told) == alerts)
        #expect(told.count == alerts.count)
    }

    @Test func everyStateOfACampaignIsExplained() throws {
        let told = try Self.names("Campaign reasons", column: 0)
        #expect(Set(told) == Set(CampaignState.allCases.map(\.rawValue)))
    }

    @Test func whatAWaitingCampaignSaysIsExplained() throws {
        let told = try Self.names("Campaign reasons", column: 1)
        let required = try Version("2.0.0")
        let rules = AvailabilityGate.Rules(hold: .seconds(3600), minimumFraction: 0.5)
        let now = Timestamp(seconds: 1_800_000_000)
        func lookup(_ version: Version?, ago: Duration) -> StoreEvidence {
            .appStore(LookupEvidence(askedAt: now, version: version, releasedAt: now - ago, firstShownAt: now - ago))
        }
        func connect(_ state: String, _ phase: AppStoreConnectEvidence.Phase? = nil) -> StoreEvidence {
            .appStoreConnect(
                .init(askedAt: now, releases: [.init(version: required, state: state, phase: phase)]))
        }
        func play(_ status: GooglePlayEvidence.Status, _ fraction: Double, _ version: Version?) -> StoreEvidence {
            .googlePlay(
                .init(
                    askedAt: now, track: "production",
                    releases: [.init(build: 200, version: version, status: status, fraction: fraction)]))
        }
        let cases: [(StoreKind, StoreEvidence?)] =
            StoreKind.allCases.map { ($0, nil) }
            + [
                lookup(nil, ago: .zero), lookup(required, ago: .seconds(60)), lookup(required, ago: .seconds(7200)),
                connect("IN_REVIEW"), connect("READY_FOR_DISTRIBUTION", .paused), connect("READY_FOR_DISTRIBUTION"),
                play(.draft, 0, required), play(.inProgress, 0.1, required), play(.inProgress, 0.1, nil),
                play(.halted, 0.1, required), play(.completed, 1, required),
            ].map { ($0.kind, $0) }
        for (kind, evidence) in cases {
            let reason = AvailabilityGate(GateQuestion(required), rules: rules)
                .verdict(of: kind, evidence, at: now) { "\($0.seconds)" }.reason
            let isNotified = told.contains { pattern in
                var rest = reason[...]
                for part in pattern.split(separator: "…") {
                    let words = part.trimmingCharacters(in: .whitespaces)
                    guard let place = rest.firstRange(of: words) else { return false }
                    rest = rest[place.upperBound...]
                }
                return true
            }
            #expect(isNotified, "\(reason)")
        }
    }
}
