// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import TestPeers
import Testing

/// Two real relays on one real database, undisturbed and under faults.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct RelayFleetTests {
    /// Each of these tests waits for seconds, most of the time idle: `make test-fleet` runs them all.
    static let inFull = ConditionTrait.enabled(
        if: ProcessInfo.processInfo.environment["FLEET"] == "all", "make test-fleet")

    /// The promise: 6 s of a lease, a second until another relay looks, and a second for a session that holds on.
    static let takeOver = Duration.seconds(8)

    /// Devices registered at both, the version raised at one: one campaign, one owner, one provider token.
    @Test func twoRelaysAreOne() throws {
        let trial = try RelayTrial(seconds: 2)
        try trial.startAll()
        let half = trial.fleet.devices.count / 2
        try trial.register(Array(trial.fleet.devices.prefix(half)), by: 0)
        try trial.register(Array(trial.fleet.devices.dropFirst(half)), by: 1)
        #expect(try trial.leader() == 0, "who came first")
        let campaign = try trial.bump(by: 1)
        #expect(try trial.finish(campaign, by: 0).state == "completed")
        try trial.judge(
            "two relays, nothing happens", [(campaign, trial.fleet.devices)], by: 1, interruptions: 0)
        #expect(trial.bench.simulator.figures.duplicates == 0)
        #expect(trial.bench.simulator.figures.providerTokens == 1)
        // Both relays answer with the version that one of them was given.
        for number in 0...1 {
            let version = try trial.api(number, "GET", "/v1/apps/\(Workbench.app)/ios/version").json
            #expect(version["required"] as? String == "2.0.0", "\(version)")
            #expect(try trial.api(number, "GET", "/readyz").status == 200)
        }
    }

    /// Two apps' campaigns are sent by two relays.
    @Test(Self.inFull) func campaignsSpread() throws {
        let trial = try RelayTrial(devices: 1_000, seconds: 4)
        try trial.startAll()
        for app in [Workbench.app, RelayTrial.other] { try trial.register(trial.fleet.devices, app: app) }
        let first = try trial.bump()
        let owner = try trial.awaitOwner(of: first)
        let second = try trial.bump(app: RelayTrial.other)
        #expect(try trial.awaitOwner(of: second) != owner, "the other one sends nothing yet")
        // Each relay reports the rates of both campaigns.
        for campaign in [first, second] {
            for number in 0...1 {
                try trial.until("relay-\(number) knows no rate of \(campaign)") {
                    let rate = try trial.api(number, "GET", "/v1/campaigns/\(campaign)").json["ratePerSecond"]
                    return (rate as? Double ?? 0) > 1 ? () : nil
                }
            }
        }
        for campaign in [first, second] { #expect(try trial.finish(campaign, by: 1).state == "completed") }
        let devices = trial.fleet.devices.count
        #expect(trial.bench.simulator.figures.accepted == 2 * devices)
        #expect(trial.bench.simulator.figures.providerTokens == 1, "one for both")
    }

    @Test func anOwnerThatIsKilledIsFollowed() throws {
        let plan = CrashPlan()
        let trial = try RelayTrial(devices: plan.devices, seconds: 14)
        let (campaign, owner) = try trial.beginCampaign()
        let killed = ContinuousClock.now
        trial.kill(owner)
        let next = try trial.awaitOwner(of: campaign, after: owner)
        let before = trial.bench.simulator.figures.requests
        try #require(trial.bench.simulator.wait(forRequests: before + 1, deadline: .seconds(60)))
        let took = ContinuousClock.now - killed
        #expect(took < Self.takeOver, "\(took)")
        // The killed relay comes again under its name while the other one sends.
        try trial.start(owner)
        #expect(try trial.awaitOwner(of: campaign) == next, "nothing is moved")
        #expect(try trial.finish(campaign, by: owner).state == "completed")
        try trial.judge(
            "kill -9 of the owner", [(campaign, trial.fleet.devices)], by: next, interruptions: 1,
            note: "sends again after \(took)")
    }

    /// A relay that is stopped in order gives back what it has, so the other one need not wait for a lease.
    @Test func anOwnerThatIsStoppedHandsOver() throws {
        let trial = try RelayTrial(seconds: 6)
        let (campaign, owner) = try trial.beginCampaign()
        let begun = ContinuousClock.now
        try trial.stop(owner)
        let stopped = ContinuousClock.now - begun
        let next = try trial.awaitOwner(of: campaign, after: owner)
        let took = ContinuousClock.now - begun
        #expect(took < stopped + .seconds(1), "\(took) of \(stopped)")
        #expect(try trial.finish(campaign, by: next).state == "completed")
        try trial.judge(
            "the owner is stopped", [(campaign, trial.fleet.devices)], by: next, interruptions: 0,
            note: "another owner after \(took)")
        #expect(trial.bench.simulator.figures.duplicates == 0)
    }

    /// Both campaigns of a project go with it.
    @Test(Self.inFull) func aProjectsOwnerThatIsKilledIsFollowed() throws {
        let trial = try RelayTrial(devices: 2_000, seconds: 10)
        try trial.startAll()
        let apps = [Workbench.app, RelayTrial.other]
        for app in apps { try trial.register(trial.fleet.devices, app: app, platform: "android") }
        let campaigns = try apps.map { try trial.bump(app: $0, platform: "android") }
        let owner = try trial.awaitOwner(of: campaigns[0])
        #expect(try trial.awaitOwner(of: campaigns[1]) == owner, "one relay sends for a project")
        try #require(trial.fcm.wait(forRequests: 200, deadline: .seconds(60)))
        let killed = ContinuousClock.now
        trial.kill(owner)
        let next = try trial.awaitOwner(of: campaigns[0], after: owner)
        let took = ContinuousClock.now - killed
        #expect(took < Self.takeOver, "\(took)")
        #expect(try trial.awaitOwner(of: campaigns[1], after: owner) == next)
        for campaign in campaigns {
            let view = try trial.finish(campaign, by: next)
            #expect(view.state == "completed" && view.addsUp, "\(view)")
            #expect(view.counts["accepted"] == trial.fleet.devices.count, "\(view)")
        }
        let figures = trial.fcm.figures
        #expect(figures.distinctIDs == 2 * trial.fleet.devices.count)
        print(
            """
            | kill -9 of a project's owner | \(2 * trial.fleet.devices.count) | 1 \
            | \(2 * trial.fleet.devices.count - figures.distinctIDs) | \(figures.accepted - figures.distinctIDs) \
            | another owner after \(took) |
            """)
    }

    /// Only the leader makes a campaign of a row that another program writes.
    @Test(Self.inFull) func aLeaderThatIsKilledIsFollowed() throws {
        let trial = try RelayTrial(devices: 200, seconds: 1)
        try trial.startAll()
        try trial.register(trial.fleet.devices)
        let leader = try #require(try trial.leader())
        trial.kill(leader)
        let killed = ContinuousClock.now
        try trial.server.sql(
            "INSERT INTO upgrade_relay.version (app, platform, required) VALUES ('\(Workbench.app)', 'ios', '2.0.0')")
        let other = 1 - leader
        let campaign = try trial.until("no campaign of what psql wrote") {
            let list = try trial.api(other, "GET", "/v1/campaigns").json["items"] as? [[String: Any]]
            return list?.first?["id"] as? String
        }
        let took = ContinuousClock.now - killed
        #expect(took < Self.takeOver, "\(took)")
        #expect(try trial.leader() == other)
        #expect(try trial.finish(campaign, by: other).state == "completed")
        try trial.judge(
            "kill -9 of the leader", [(campaign, trial.fleet.devices)], by: other, interruptions: 0,
            note: "a campaign after \(took)")
    }

    @Test(Self.inFull, arguments: [3, 10])
    func anOwnerThatIsSuspended(for seconds: Int) throws {
        let trial = try RelayTrial(devices: 3_000, seconds: 20)
        let (campaign, owner) = try trial.beginCampaign()
        let relay = try trial.relay(owner)
        try relay.hang()
        let hung = ContinuousClock.now
        var took = Duration.zero
        if seconds == 10 {
            _ = try trial.awaitOwner(of: campaign, after: owner)
            took = ContinuousClock.now - hung
            #expect(took < Self.takeOver, "\(took)")
        }
        // A sleep on purpose: the length of the hang is what is tested.
        usleep(UInt32(max(0, (Duration.seconds(seconds) - (ContinuousClock.now - hung)) / .microseconds(1))))
        relay.send(SIGCONT)
        if seconds == 10 {
            #expect(relay.waitForLine("other relays took this one for dead", within: .seconds(20)) != nil)
        }
        #expect(try trial.finish(campaign, by: 1 - owner).state == "completed")
        #expect(relay.log.contains("other relays took this one for dead") == (seconds == 10))
        #expect(try trial.api(owner, "GET", "/readyz").status == 200)
        try trial.judge(
            "SIGSTOP of the owner, \(seconds) s", [(campaign, trial.fleet.devices)], by: owner,
            interruptions: seconds == 10 ? 1 : 0, note: seconds == 10 ? "another owner after \(took)" : "")
    }

    /// One relay is cut off from the database: it falls silent before the other one begins.
    @Test(Self.inFull) func anOwnerThatIsCutOffIsSilentFirst() throws {
        let server = try PostgresServer.durable()
        let proxy = try StallingProxy(to: server.port)
        defer { proxy.stop() }
        let way = "host=127.0.0.1 port=\(proxy.port) user=\(PostgresServer.superuser) dbname=postgres sslmode=disable"
        let trial = try RelayTrial(devices: 4_000, seconds: 20, on: server, ways: [0: way])
        // The first relay that starts sends.
        try trial.start(0)
        try trial.register(trial.fleet.devices)
        let campaign = try trial.bump()
        #expect(try trial.awaitOwner(of: campaign) == 0)
        try trial.start(1)
        try #require(trial.bench.simulator.wait(forRequests: 200, deadline: .seconds(60)))
        proxy.stall()
        let cut = ContinuousClock.now
        // The last request before the other one begins.
        var (silent, seen) = (Duration.zero, trial.bench.simulator.figures.requests)
        var took = Duration.zero
        while took == .zero {
            let now = trial.bench.simulator.figures.requests
            if now != seen { (silent, seen) = (ContinuousClock.now - cut, now) }
            if try trial.owner(of: campaign) == 1 { took = ContinuousClock.now - cut }
            try #require(ContinuousClock.now - cut < .seconds(60), "\(trial.log)")
        }
        #expect(silent < .milliseconds(4500) + .milliseconds(100) * Patience.factor, "\(silent)")
        #expect(took < Self.takeOver, "\(took)")
        #expect(try trial.relay(0).log.contains("nothing is sent until it does"))
        try trial.readiness(503, of: 0)
        proxy.release()
        try trial.readiness(200, of: 0)
        #expect(try trial.finish(campaign, by: 0).state == "completed")
        try trial.judge(
            "the owner is cut off from the database", [(campaign, trial.fleet.devices)], by: 1, interruptions: 1,
            note: "silent after \(silent), another owner after \(took)")
    }

    /// A token that is revoked at one relay is refused by the other.
    @Test(Self.inFull) func aTokenThatIsRevokedIsGoodNowhere() throws {
        let trial = try RelayTrial(seconds: 2)
        try trial.startAll()
        let made = try trial.api(0, "POST", "/v1/tokens", body: #"{"name":"ci","scopes":["status"]}"#)
        let secret = try #require(made.json["token"] as? String, "\(made)")
        let address = try trial.relay(1).address
        func status() throws -> Int {
            var request = HTTPRequest("GET", "http://\(address)/v1/apps")
            request.headers.append(("Authorization", "Bearer \(secret)"))
            return try HTTPClient().send(request).status
        }
        #expect(try status() == 200)
        #expect(try trial.api(0, "DELETE", "/v1/tokens/ci").status == 204)
        let revoked = ContinuousClock.now
        _ = try trial.until("it is still good at the other one") { try status() == 401 ? true : nil }
        let heard = ContinuousClock.now - revoked
        #expect(heard < .milliseconds(50) * Patience.factor, "\(heard)")
        print("| a token revoked on the other relay | heard after \(heard) |")
    }

    /// Asked of the relay that does not send.
    @Test func aCancelIsHeardAtOnce() throws {
        let trial = try RelayTrial(devices: 4_000, seconds: 20)
        let (campaign, owner) = try trial.beginCampaign()
        #expect(try trial.api(1 - owner, "POST", "/v1/campaigns/\(campaign)/cancel").status == 200)
        let cancelled = ContinuousClock.now
        // The last request that the push service sees.
        var (last, seen) = (cancelled, trial.bench.simulator.figures.requests)
        while ContinuousClock.now - max(last, cancelled) < .seconds(1) {
            let now = trial.bench.simulator.figures.requests
            if now != seen { (last, seen) = (.now, now) }
            usleep(1000)
        }
        let heard = last - cancelled
        #expect(heard < .milliseconds(50) * Patience.factor, "\(heard)")
        let view = try trial.view(campaign, by: owner)
        #expect(view.state == "cancelled" && view.addsUp, "\(view)")
        print("| a cancel on the other relay | \(seen) sent | heard after \(heard) |")
    }

    /// The telephone of a user who is erased at one relay while the other one pushes to him is in no table afterwards.
    @Test(Self.inFull) func aUserIsErasedInMidFlight() throws {
        let trial = try RelayTrial(devices: 2_000, seconds: 6)
        let (campaign, owner) = try trial.beginCampaign(sent: 100)
        let gone = trial.fleet.devices.enumerated().filter { $0.offset % 20 == 7 }.compactMap(\.element.telephone)
        for telephone in gone {
            let answer = try trial.api(1 - owner, "DELETE", "/v1/users?telephone=\(telephone)")
            #expect(answer.status == 200, "\(answer)")
        }
        let end = try trial.finish(campaign, by: owner)
        #expect(end.state == "completed" && end.addsUp, "\(end)")
        let dump = try trial.server.dump()
        let kept = gone.filter { dump.contains($0) }
        #expect(kept == [])
    }

    /// One clock counts: the database's.
    @Test(
        Self.inFull,
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/faketime"), "apt-get install faketime"))
    func aClockThatIsWrongChangesNothing() throws {
        let trial = try RelayTrial(seconds: 3)
        let library = try #require(
            [
                "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
                "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
            ]
            .first { FileManager.default.fileExists(atPath: $0) })
        try trial.start(
            0, environment: ["LD_PRELOAD": library, "FAKETIME": "-90s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"])
        try trial.start(1)
        try trial.register(trial.fleet.devices)
        let campaign = try trial.bump(by: 1)
        #expect(try trial.finish(campaign, by: 1).state == "completed")
        #expect(try trial.relay(0).log.contains("this machine's clock is not the database's"))
        let view = try trial.api(0, "GET", "/v1/campaigns/\(campaign)").json
        let created = try #require((view["createdAt"] as? String).flatMap { try? Date($0, strategy: .iso8601) })
        #expect(abs(created.timeIntervalSinceNow) < 60, "\(view)")
        try trial.judge("a clock 90 s behind", [(campaign, trial.fleet.devices)], by: 0, interruptions: 0)
    }

    /// The same webhook at both at once, and imports at both at once: one campaign, each device once.
    @Test func bothAreAskedAtOnce() async throws {
        let trial = try RelayTrial(devices: 4_000, seconds: 2)
        try trial.startAll()
        let half = trial.fleet.devices.count / 2
        // Each half overlaps with the other.
        let parts = [trial.fleet.devices.prefix(half + 500), trial.fleet.devices.suffix(half + 500)].map(Array.init)
        let bodies = parts.map { $0.map(\.json).joined(separator: "\n") }
        let path = "/v1/apps/\(Workbench.app)/ios/devices"
        let sockets = (0...1).map { trial.bench.path("control-\($0).sock") }
        let stored = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0...1 {
                group.addTask { try RelayTrial.post(path, Array(bodies[number].utf8), to: sockets[number]) }
            }
            return try await group.reduce(0, +)
        }
        #expect(stored == 2 * (half + 500))
        trial.bench.knows(trial.fleet.devices)
        let addresses = try (0...1).map { try trial.relay($0).address }
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for turn in 0..<6 {
                group.addTask { try RelayTrial.webhook("2.0.0", id: "release-2", to: addresses[turn % 2]) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0 == 202 }, "\(answers)")
        let list = try #require(try trial.api(0, "GET", "/v1/campaigns").json["items"] as? [[String: Any]])
        #expect(list.count == 1)
        let campaign = try #require(list.first?["id"] as? String)
        #expect(try trial.finish(campaign, by: 1).state == "completed")
        try trial.judge(
            "webhooks and imports at both", [(campaign, trial.fleet.devices)], by: 0, interruptions: 0)
    }
}
