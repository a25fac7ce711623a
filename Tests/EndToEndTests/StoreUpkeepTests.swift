// SPDX-License-Identifier: Apache-2.0
import Foundation
import HookReceiver
import OwnThread
import PushSimulator
import Testing

/// Backup, restore, check, pruning and notifications with the real binary, while it works.
@Suite(.serialized, .ownThread) struct StoreUpkeepTests {
    @Test func aBackupTakenInMidCampaignIsRestoredElsewhereAndTheCampaignEndsRight() throws {
        let fleet = Fleet(count: 20_000, withoutTelephone: 20)
        // Twenty seconds of sending, so that the backup falls into them.
        let pace = "pace: { ratePerSecond: 1000 },"
        let bench = try Workbench(iosKeys: pace)
        try bench.start()
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try #require(bench.simulator.wait(forRequests: fleet.behind.count / 20, deadline: .seconds(60)))
        let copy = bench.path("backup.db")
        let made = try bench.command("store", "backup", copy)
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.hasPrefix("\(copy): ") && made.errors.contains("writing: 100%"), "\(made.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let running = try bench.view(id)
        #expect(running.state == "running" && running.addsUp, "the backup was taken while it ran: \(running)")
        let again = try bench.command("store", "backup", copy)
        #expect(again.status == 1 && again.errors.contains("is there already") && again.errors.contains("--force"))
        let check = try bench.command("store", "check", copy)
        #expect(check.status == 0 && check.output == "the store is sound\n", "\(check.output)\(check.errors)")

        // The disk burns, and the copy goes elsewhere.
        bench.kill()
        let elsewhere = bench.folder.appending(path: "elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            at: URL(filePath: copy), to: elsewhere.appending(path: "relay.db"))
        try bench.keepStore(in: elsewhere)
        // The rest needs no pace.
        try bench.reconfigure(pace, "")
        try bench.start()
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.state == "completed" && end.addsUp)
        #expect(end.counts["accepted"] == fleet.behind.count)
        #expect(bench.simulator.figures.distinctTokens == fleet.behind.count, "nobody was left out")
        // Pushes that were sent after the backup were sent again, with the same id.
        var idsByToken: [String: Set<String>] = [:]
        for push in try bench.record() {
            idsByToken[push["token"] as? String ?? "", default: []].insert(push["apnsId"] as? String ?? "")
        }
        #expect(idsByToken.values.allSatisfy { $0.count == 1 })
        let sound = try bench.command("store", "check")
        #expect(sound.status == 0, "\(sound.output)\(sound.errors)")
    }

    @Test func forceReplacesAndNothingHalfIsEverThere() throws {
        let bench = try Workbench()
        try bench.start()
        let copy = bench.path("backup.db")
        try Data("old".utf8).write(to: URL(filePath: copy))
        #expect(try bench.command("store", "backup", copy, "--force", "--json").status == 0)
        #expect(try bench.command("store", "check", copy, "--json").output == #"{"faults":[]}"# + "\n")
        #expect(try bench.command("store", "backup", bench.path("no/where.db")).status == 1)
        #expect(try bench.command("store", "backup", bench.folder.path).errors.contains("is not a file"))
        let left = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
        #expect(left.filter { $0.contains("partial") || $0.contains("snapshot") } == [])
        // And without the daemon.
        bench.kill()
        let stopped = try bench.command("store", "backup", bench.path("other.db"))
        #expect(stopped.status == 0, "\(stopped.errors)")
        #expect(try bench.command("store", "check").output == "the store is sound\n")
        #expect(try bench.sql("UPDATE app SET devices = devices + 1").status == 0)
        try bench.start()
    }

    @Test func aDamagedStoreIsToldWithExitCodeOne() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 10))
        #expect(try bench.sql("UPDATE app SET devices = 11").status == 0)
        let told = try bench.command("store", "check")
        #expect(told.status == 1)
        #expect(told.output == "counts of devices: com.example.app (ios): devices is 11, there are 10\n")
        bench.kill()
        #expect(try bench.command("store", "check").output == told.output)
    }

    @Test func pruningBesideARunningCampaignKeepsWhatCounts() throws {
        let bench = try Workbench { $0.latency = .milliseconds(20) }
        try bench.start()
        try bench.register(Fleet(count: 6_000))
        let old = try bench.campaign(of: bench.bump("2.0.0"))
        let before = try bench.follow(old) { $0.isFinal }
        #expect(try bench.sql("UPDATE campaign SET finished_at = 1700000000000").status == 0)
        let new = try bench.campaign(of: bench.bump("3.0.0"))
        let pruned = try bench.command("store", "prune", "--older-than", "90d", "--json", "--yes")
        #expect(pruned.status == 0, "\(pruned.errors)")
        #expect(pruned.output.contains(#""deliveries":6000"#), "\(pruned.output)")
        let end = try bench.follow(new) { $0.isFinal }
        #expect(end.state == "completed" && end.counts["accepted"] == 6_000)
        let after = try bench.view(old)
        #expect(after.counts == before.counts && after.state == "completed")
        #expect(try bench.deliveries(old).isEmpty)
        #expect(try bench.deliveries(new).count == 6_000)
        #expect(try bench.command("store", "check").status == 0)
        #expect(try bench.bump("2.0.0").json["campaign"] is [String: Any] == false, "nothing is announced again")
        let short = try bench.command("store", "prune", "--older-than", "5m")
        #expect(short.status == 2 && short.errors.contains("at least 1h"))
    }

    @Test func keepPrunesByItself() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 100))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.isFinal }
        bench.kill()
        #expect(try bench.sql("UPDATE campaign SET finished_at = 1700000000000").status == 0)
        try bench.reconfigure("store: {", "store: { keep: \"90d\",")
        try bench.start()
        #expect(try #require(bench.relay).waitForLine("the store was pruned", within: .seconds(60)) != nil)
        #expect(try bench.deliveries(id).isEmpty)
        #expect(try bench.view(id).counts["accepted"] == 100)
    }

    // MARK: Notifications

    @Test func aReceiverHearsOfTheWholeCampaignAcrossAKill() throws {
        let bench = try Workbench { $0.latency = .milliseconds(10) }
        try Data(HookReceiver.secret.utf8).write(to: URL(filePath: bench.path("notify-secret")))
        // The first delivery fails: its repetition depends on the stored notification.
        let receiver = try HookReceiver { _, number in
            HookReceiver.response(number == 0 ? "500 Internal Server Error" : "200 OK")
        }
        defer { receiver.stop() }
        try bench.reconfigure(
            "webhooks: {",
            "notify: [{ url: \"\(receiver.url)\", secret: { file: \"\(bench.path("notify-secret"))\" } }], webhooks: {")
        try bench.start()
        try bench.register(Fleet(count: 2_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        #expect(receiver.wait { $0.count >= 1 })
        bench.kill()
        try bench.start()
        #expect(receiver.wait(90) { $0.contains { $0.type == "campaign.completed" } })
        let got = receiver.deliveries
        #expect(got.allSatisfy { $0.isVerified })
        #expect(got.allSatisfy { $0.data["id"] as? String == id })
        #expect(Set(got.filter { $0.type == "campaign.running" }.map(\.id)).count == 1)
        let completed = try #require(got.first { $0.type == "campaign.completed" })
        let view = try CampaignView(json: completed.data)
        #expect(view.addsUp && view.counts["accepted"] == 2_000 && view.state == "completed")
        let listed = try bench.command("notifications", "--campaign", id)
        #expect(listed.status == 0 && listed.output.contains("campaign.completed"), "\(listed.output)")
        // The table is written when the answer is in. The requirement is in force with the bump.
        try bench.until {
            let json = try bench.api("GET", "/v1/notifications?state=delivered").json["items"] as? [[String: Any]]
            let types = json?.compactMap { $0["type"] as? String }.sorted()
            return types == ["campaign.completed", "campaign.running", "requirement.inForce"] ? () : nil
        }
        let lines = try bench.command("notifications", "--state", "delivered").output.split(separator: "\n")
        #expect(lines.count == 4, "\(lines)")
    }
}
