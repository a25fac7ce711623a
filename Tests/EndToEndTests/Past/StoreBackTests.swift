// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PushSimulator
import TestPeers
import Testing

/// A store that went back in time: a backup is put in its place without the command, while the daemon works and while it does not.
@Suite(.serialized, .ownThread) struct StoreBackTests {
    /// A daemon whose store has a backup from before a version was withdrawn, a user erased and a token revoked.
    private func decided(devices: Int = 30) throws -> (bench: Workbench, fleet: Fleet, secret: String) {
        let fleet = Fleet(count: devices)
        // A push each second, so that the campaign lasts as long as the tests look at it.
        let bench = try Workbench(iosKeys: "pace: { ratePerSecond: 1 },")
        try bench.start()
        try bench.register(fleet)
        let token = try bench.api(
            "POST", "/v1/tokens", body: Array(#"{"name":"ci","scopes":["status","versions"]}"#.utf8))
        let secret = try #require(token.json["token"] as? String)
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        try #require(bench.simulator.wait(forRequests: 1, deadline: .seconds(60)))
        #expect(try bench.command("store", "backup", bench.path("backup.db")).status == 0)
        let withdrawn = try bench.api(
            "POST", "/v1/apps/\(Workbench.app)/ios/withdraw", body: Array(#"{"required":"2.0.0"}"#.utf8))
        #expect(withdrawn.status == 200, "\(withdrawn)")
        #expect(try bench.api("DELETE", "/v1/tokens/ci").status == 204)
        let erased = try bench.api("DELETE", "/v1/users?telephone=\(try #require(fleet.devices[5].telephone))")
        #expect(erased.status < 300, "\(erased)")
        #expect(try bench.view(campaign).isFinal)
        return (bench, fleet, secret)
    }

    /// As an operator does it who does not know "store restore".
    private func putBack(_ bench: Workbench, _ file: String) throws {
        let files = FileManager.default
        let store = bench.path("relay.db")
        for name in [store, store + "-wal", store + "-shm"] where files.fileExists(atPath: name) {
            try files.removeItem(atPath: name)
        }
        try files.copyItem(atPath: file, toPath: store)
    }

    private func stop(_ bench: Workbench) throws {
        let relay = try #require(bench.relay)
        relay.send(SIGTERM)
        #expect(relay.wait().status == 0, "\(relay.log)")
    }

    /// Checks the daemon's reports and actions while its store is behind.
    private func isFallen(_ bench: Workbench, _ secret: String) throws {
        let sent = bench.simulator.figures.requests
        _ = try bench.until("readyz says nothing of it") {
            let faults = try bench.readiness(503)["faults"] as? [[String: Any]] ?? []
            return faults.contains { $0["part"] as? String == "past" } ? true : nil
        }
        #expect(try bench.bump("3.0.0").status == 503, "a webhook")
        let address = try #require(bench.relay?.address)
        var request = HTTPRequest("GET", "http://\(address)/v1/campaigns")
        request.headers = [("Authorization", "Bearer \(secret)")]
        #expect(try HTTPClient().send(request).status == 503, "a token that was revoked since")
        let check = try HTTPClient().send(
            HTTPRequest("GET", "http://\(address)/v1/check?app=\(Workbench.app)&platform=ios&version=1.0.0"))
        let said = String(decoding: check.body, as: UTF8.self)
        #expect(check.status == 200 && !said.contains("2.0.0"), "nobody is forced to what was withdrawn: \(said)")
        let status = try bench.command("store", "status")
        #expect(status.output.contains("went back"), "\(status.output)\(status.errors)")
        usleep(2_500_000)
        #expect(bench.simulator.figures.requests == sent, "nothing is sent")
        #expect(bench.relay?.log.contains("the store went back in time: nothing is sent") == true)
    }

    @Test("A backup that is put in the store's place is seen at the next start, and goes on by a person's word alone")
    func whileItIsStopped() throws {
        let (bench, _, secret) = try decided()
        try stop(bench)
        try putBack(bench, bench.path("backup.db"))
        try bench.start()
        try isFallen(bench, secret)
        // Another start changes nothing.
        bench.kill()
        try bench.start()
        try isFallen(bench, secret)
        // The operator repeats what was lost, then accepts the store.
        let sent = bench.simulator.figures.requests
        let withdrawn = try bench.api(
            "POST", "/v1/apps/\(Workbench.app)/ios/withdraw", body: Array(#"{"required":"2.0.0"}"#.utf8))
        #expect(withdrawn.status == 200, "\(withdrawn)")
        #expect(try bench.api("DELETE", "/v1/tokens/ci").status == 204)
        let unsure = try bench.command("store", "accept")
        #expect(unsure.status != 0 && unsure.errors.contains("--yes"), "\(unsure.errors)")
        let word = try bench.command("store", "accept", "--yes")
        #expect(word.status == 0 && word.output.contains("worked on again"), "\(word.output)\(word.errors)")
        try bench.readiness(200)
        let audit = try bench.api("GET", "/v1/audit?action=store.accept")
        #expect((audit.json["items"] as? [Any])?.count == 1, "\(audit)")
        usleep(2_500_000)
        #expect(bench.simulator.figures.requests == sent, "what was withdrawn again is not sent")
        // From now on it is a store like any other.
        bench.kill()
        try bench.start()
        try bench.readiness(200)
    }

    @Test("The newest store in its place again ends it without a word")
    func theRightOneAgain() throws {
        let (bench, _, secret) = try decided()
        try stop(bench)
        try FileManager.default.copyItem(atPath: bench.path("relay.db"), toPath: bench.path("newest.db"))
        try putBack(bench, bench.path("backup.db"))
        try bench.start()
        try isFallen(bench, secret)
        try stop(bench)
        try putBack(bench, bench.path("newest.db"))
        try bench.start()
        try bench.readiness(200)
    }

    @Test("Whoever restores a backup by the command has said that it is older")
    func restored() throws {
        let (bench, _, _) = try decided()
        try stop(bench)
        #expect(try bench.command("store", "restore", bench.path("backup.db")).status == 0)
        try bench.start()
        try bench.readiness(200)
        // It goes on with the campaign that ran at the time of the backup.
        try #require(
            bench.simulator.wait(forRequests: bench.simulator.figures.requests + 1, deadline: .seconds(60)))
    }

    @Test("Older content in the same file, written under a running daemon, is seen before anything is sent from it")
    func whileItRuns() throws {
        let (bench, _, secret) = try decided()
        let done = try CommandResult.of(
            ["-cmd", ".timeout 10000", bench.path("relay.db"), ".restore \(bench.path("backup.db"))"],
            program: URL(filePath: "/usr/bin/sqlite3"))
        #expect(done.status == 0, "\(done.errors)")
        try isFallen(bench, secret)
    }

    /// The note is never ahead of the store, whenever the process dies.
    @Test("A kill at any moment raises no alarm")
    func kills() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 2_000))
        for round in 2..<22 {
            _ = try bench.bump("\(round).0.0")
            _ = try bench.api(
                "POST", "/v1/tokens", body: Array("{\"name\":\"t\(round)\",\"scopes\":[\"status\"]}".utf8))
            // Around the time at which the store's watcher writes its note.
            usleep(UInt32.random(in: 0...1_300_000))
            bench.kill()
            let note = try String(contentsOfFile: bench.path("relay.db.seen"), encoding: .utf8).split(separator: " ")
            let kept = try bench.sql("SELECT max(number), (SELECT sum(commits) FROM campaign_run) FROM decision").output
            let store = kept.split(whereSeparator: { "|\n".contains($0) }).compactMap { Int($0) }
            try #require(note.count == 4 && store.count == 2, "\(note) \(kept)")
            #expect(
                try #require(Int(note[1])) <= store[0] && #require(Int(note[3].dropLast())) <= store[1],
                "\(note) \(kept)")
            try bench.start()
            #expect(bench.relay?.log.contains("went back") == false, "\(bench.relay?.log ?? "")")
        }
        try bench.readiness(200)
    }
}
