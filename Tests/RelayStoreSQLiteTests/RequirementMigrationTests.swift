// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

/// A store that the release binary of ace1025 made: an app in each state that a requirement and its campaign could be in then.
/// The expected values are the answers of that binary's own login check, `/v1/enforce`, launch document and campaign list
/// before it ended.
@Suite("The step to one record of what is required", .ownThread)
struct RequirementMigrationTests {
    private typealias Said = (
        state: String, forced: String?, forcedOnCanary: String?, latest: String?, campaigns: [String]
    )

    /// Campaigns newest first: required version, state, accepted, cancelled, pending.
    private static let before: [Said] = [
        ("running", "2.0", "2.0", "2.0", ["2.0 completed 8 0 0"]),
        ("withdrawn", nil, nil, nil, ["2.0 completed 8 0 0"]),
        ("againRequired", "2.0", "2.0", "2.0", ["2.0 completed 8 0 0", "2.0 completed 8 0 0"]),
        ("canary", nil, "2.0", nil, ["2.0 running 2 0 6"]),
        ("canaryReleased", "2.0", "2.0", "2.0", ["2.0 completed 8 0 0"]),
        ("paused", "2.0", "2.0", "2.0", ["2.0 paused 4 0 4"]),
        ("cancelled", "2.0", "2.0", "2.0", ["2.0 cancelled 4 4 0"]),
        ("superseded", "3.0", "3.0", "3.0", ["3.0 running 5 0 3", "2.0 superseded 4 4 0"]),
        ("waves", "2.0", "2.0", "2.0", ["2.0 suspended 2 0 6"]),
        ("twoWait", nil, nil, nil, ["3.0 waiting 0 0 8", "2.0 waiting 0 0 8"]),
        ("waitingCancelled", nil, nil, nil, ["2.0 cancelled 0 8 0"]),
        ("waitingReleased", "2.0", "2.0", "2.0", ["2.0 completed 8 0 0"]),
        ("completed", "2.0", "2.0", "2.0", ["2.0 completed 8 0 0"]),
        ("outside", "2.0", "2.0", "2.0", ["2.0 completed 8 0 0"]),
        ("latestOnly", nil, nil, "2.0", []),
        ("suspended", "2.0", "2.0", "2.0", ["2.0 suspended 0 0 0"]),
        ("canaryCancelled", nil, nil, nil, ["2.0 cancelled 2 6 0"]),
        ("canaryWithdrawn", nil, nil, nil, ["2.0 cancelled 2 6 0"]),
    ]

    private func open(_ name: String = "ace1025") throws -> (TemporaryDirectory, SQLiteStore) {
        let directory = try TemporaryDirectory()
        let path = directory.file("relay.db")
        let dump = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Stores/\(name).sql")
        try StoreFile.create(path)
        do {
            let old = try SQLiteConnection(path: path)
            try old.execute(SQL(typed: String(contentsOf: dump, encoding: .utf8)))
        }
        return (directory, try SQLiteStore(path: path))
    }

    @Test("Every channel says what it said, and every campaign stands where it stood")
    func everyState() throws {
        let (directory, store) = try open()
        defer { store.close() }
        try compare(Self.before, .ios, with: store)
        withExtendedLifetime(directory) {}
    }

    private func compare(_ before: [Said], _ platform: Platform, with store: SQLiteStore) throws {
        let campaigns = try store.campaigns(before: nil, limit: 99)
        for said in before {
            let app = AppKey(app: "com.example.\(said.state)", platform: platform)
            let inForce = try store.version(of: app)?.inForce ?? InForce()
            #expect(inForce.required?.text == said.forced, "\(said.state)")
            let staged = try store.version(of: app)?.requirements.staged
            let isNamed = staged?.canary?.contains("13800000001") ?? false
            #expect((isNamed ? staged?.version : inForce.required)?.text == said.forcedOnCanary, "\(said.state)")
            #expect(inForce.latest?.text == said.latest, "\(said.state)")
            let own = campaigns.filter { $0.app == app }.map {
                "\($0.requirement.version) \($0.state.rawValue) \($0.figures.counts.accepted) \($0.figures.counts.cancelled) \($0.figures.counts.pending)"
            }
            #expect(own == said.campaigns, "\(said.state)")
        }
        #expect(try store.check { _ in true } == [])
    }

    @Test(
        "What was superseded goes on where it stood when its successor is taken back, and nobody settled is pushed again"
    )
    func goesOn() throws {
        let (directory, store) = try open()
        defer { store.close() }
        let app = AppKey(app: "com.example.superseded", platform: .ios)
        let old = try #require(try store.campaigns(before: nil, limit: 99).last { $0.app == app })
        #expect(old.state == .superseded)
        let now = Timestamp(seconds: 2_000_000_000)
        _ = try #require(try store.withdraw(try Version("3.0"), of: app, by: .operator("ann"), reason: nil, at: now))
        let again = try #require(try store.campaign(old.key))
        #expect(again.state == .running && again.figures.counts.accepted == old.figures.counts.accepted)
        #expect(again.figures.counts.cancelled == 0 && again.figures.counts.audience == old.figures.counts.audience)
        #expect(again.facts.expiresAt > now)
        #expect(try store.check { _ in true } == [])
        withExtendedLifetime(directory) {}
    }

    @Test("What was taken back, or asked for by another program, has its row")
    func rows() throws {
        let (directory, store) = try open()
        defer { store.close() }
        func states(_ name: String) throws -> [String] {
            try store.version(of: AppKey(app: "com.example.\(name)", platform: .ios))?.requirements.rows
                .map { "\($0.version) \($0.state.rawValue) \($0.reach)" } ?? []
        }
        #expect(try states("withdrawn") == ["2.0 withdrawn 10000"])
        #expect(try states("againRequired") == ["2.0 withdrawn 10000", "2.0 in_force 10000"])
        #expect(try states("twoWait") == ["2.0 waiting 10000", "3.0 waiting 10000"])
        #expect(try states("waitingCancelled") == ["2.0 withdrawn 10000"])
        #expect(try states("canary") == ["2.0 in_force 0"])
        #expect(try states("canaryCancelled") == ["2.0 withdrawn 0"])
        #expect(try states("latestOnly") == ["2.0 announced 10000"])
        #expect(try states("outside") == ["2.0 in_force 10000"])
        withExtendedLifetime(directory) {}
    }

    /// Made by the store of ace1025 itself, because no rollout of Google's can be halted by hand. A suspended campaign waits
    /// now, like every requirement that its store does not offer, even if an operator had resumed it against the other
    /// channels' reports.
    private static let halts: [Said] = [
        ("halted", nil, nil, nil, ["2.0 waiting 4 0 4"]),
        ("haltedCancelled", nil, nil, nil, ["2.0 cancelled 4 4 0"]),
        ("haltedCompleted", nil, nil, nil, ["2.0 completed 8 0 0"]),
        ("haltedEarlier", "1.9", "1.9", "1.9", ["2.0 waiting 4 0 4", "1.9 completed 8 0 0"]),
        ("haltedOpenAgain", "2.0", "2.0", "2.0", ["2.0 running 4 0 4"]),
        ("haltedResumed", nil, nil, nil, ["2.0 waiting 4 0 4"]),
    ]

    @Test("What a store had stopped to offer stays out of force, and what was cancelled meanwhile stays so")
    func standsStill() throws {
        let (directory, store) = try open("ace1025-halted")
        defer { store.close() }
        try compare(Self.halts, .android, with: store)
        let campaigns = try store.campaigns(before: nil, limit: 99)
        for name in ["halted", "haltedEarlier"] {
            #expect(
                campaigns.first { $0.app.app == "com.example.\(name)" }?.facts.reason
                    == "the rollout of 2.0 is halted in Google Play, at 50 % of users")
        }
        let cancelled = AppKey(app: "com.example.haltedCancelled", platform: .android)
        #expect(
            try store.version(of: cancelled)?.requirements.rows.map(\.state) == [.withdrawn],
            "no gate that opens brings it back")
        withExtendedLifetime(directory) {}
    }
}
