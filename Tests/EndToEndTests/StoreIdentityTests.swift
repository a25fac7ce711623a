// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// The store's file is moved, replaced, removed and restored, while the daemon works and while it does not.
@Suite(.serialized, .ownThread) struct StoreIdentityTests {
    private func devices(_ bench: Workbench) throws -> String {
        try bench.sql("SELECT count(*) FROM device").output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func move(_ from: String, _ to: String) throws {
        try #require(rename(from, to) == 0, "\(from) to \(to): \(errno)")
    }

    /// Overwrites some pages in the middle.
    private func damage(_ path: String) throws {
        let page = try FileHandle(forUpdating: URL(filePath: path))
        try page.seek(toOffset: 40 * 4096)
        try page.write(contentsOf: Data(repeating: 0xA5, count: 8 * 4096))
        try page.close()
    }

    /// A daemon that works on a store of so many devices, and a backup of it.
    private func backedUp(devices: Int) throws -> (bench: Workbench, copy: String) {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: devices))
        let copy = bench.path("backup.db")
        #expect(try bench.command("store", "backup", copy).status == 0)
        return (bench, copy)
    }

    @Test("A backup onto a store is refused, by whatever name, and the store is as it was")
    func backupOntoAStore() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 30))
        let store = bench.path("relay.db")
        let (link, hard) = (bench.path("link.db"), bench.path("hard.db"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store)
        try FileManager.default.linkItem(atPath: store, toPath: hard)
        for name in [store, link, hard] {
            let made = try bench.command("store", "backup", name, "--force")
            #expect(made.status == 1 && made.errors.contains("\(name) is a store"), "\(made.output)\(made.errors)")
        }
        try bench.register(Fleet(count: 40))
        bench.kill()
        // It is refused as well while no daemon runs.
        let made = try bench.command("store", "backup", store, "--force")
        #expect(made.status == 1 && made.errors.contains("is a store"), "\(made.output)\(made.errors)")
        try FileManager.default.removeItem(atPath: hard)
        try bench.start()
        #expect(try devices(bench) == "40")
        #expect(try bench.command("store", "check").status == 0)
    }

    enum Harm: String, CaseIterable {
        case moved, replaced, removed, logRemoved
    }

    @Test("A store that is not there any more takes nothing, sends nothing, and says so", arguments: Harm.allCases)
    func harmed(_ harm: Harm) throws {
        let (bench, copy) = try backedUp(devices: 30)
        let (store, away) = (bench.path("relay.db"), bench.path("away.db"))
        switch harm {
        case .moved: try move(store, away)
        case .replaced: try move(copy, store)
        case .removed: try FileManager.default.removeItem(atPath: store)
        case .logRemoved: try move(store + "-wal", away)
        }
        let readiness = try bench.until("readyz says nothing of the store") {
            let json = try? bench.readiness(503)
            let faults = json?["faults"] as? [[String: Any]] ?? []
            return faults.first { $0["part"] as? String == "store" }?["reason"] as? String
        }
        #expect(readiness.contains("relay.db") && readiness.contains("while the relay works on it"), "\(readiness)")
        let bump = try bench.bump("2.0.0")
        #expect(bump.status == 503, "\(bump)")
        #expect(bench.simulator.figures.distinctTokens == 0)
        guard harm == .moved || harm == .logRemoved else { return }
        // With the file back in its place, the daemon goes on.
        try move(away, harm == .moved ? store : store + "-wal")
        _ = try bench.until("it is not ready again") { try? bench.readiness(200) }
        _ = try bench.follow(try bench.campaign(of: bench.bump("2.0.0"))) { $0.isFinal }
        bench.kill()
        try bench.start()
        #expect(try devices(bench) == "30")
        #expect(try bench.command("store", "check").status == 0)
    }

    @Test("A log that belongs to another file is not replayed into this one")
    func wrongLog() throws {
        let (bench, copy) = try backedUp(devices: 30)
        try bench.register(Fleet(count: 500))
        bench.kill()
        let store = bench.path("relay.db")
        try #require(try Data(contentsOf: URL(filePath: store + "-wal")).count > 0)
        try move(store, bench.path("old.db"))
        try move(copy, store)
        let refused = try bench.command("serve", "--stop-at-eof", input: "")
        #expect(refused.status == 1, "\(refused.errors)")
        #expect(refused.errors.contains("is not the file that the write-ahead log"), "\(refused.errors)")
        #expect(refused.errors.contains("hint: To restore a backup"), "\(refused.errors)")
        // With the old file back, nothing is lost.
        try move(store, copy)
        try move(bench.path("old.db"), store)
        try bench.start()
        #expect(try devices(bench) == "500")
    }

    @Test("A backup is restored while no daemon runs, and the store as it was is kept")
    func restored() throws {
        let (bench, copy) = try backedUp(devices: 30)
        try bench.register(Fleet(count: 500))
        let early = try bench.command("store", "restore", copy)
        #expect(early.status == 1 && early.errors.contains("another daemon works on"), "\(early.errors)")
        #expect(early.errors.contains("hint: stop it first"), "\(early.errors)")
        // Killed, so that the old store has a log.
        bench.kill()
        let done = try bench.command("store", "restore", copy, "--json")
        #expect(done.status == 0, "\(done.errors)")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any])
        let kept = try #require(json["kept"] as? String)
        try bench.start()
        #expect(try devices(bench) == "30")
        #expect(try bench.command("store", "check").status == 0)
        #expect(try bench.command("store", "check", kept).output == "the store is sound\n")
        // Undoes the restore.
        let relay = try #require(bench.relay)
        relay.send(SIGTERM)
        _ = relay.wait()
        let undone = try bench.command("store", "restore", kept)
        #expect(undone.status == 0, "\(undone.errors)")
        try bench.start()
        #expect(try devices(bench) == "500")
    }

    @Test("What is no backup, or a damaged one, is not restored")
    func refused() throws {
        let (bench, copy) = try backedUp(devices: 3000)
        bench.kill()
        try damage(copy)
        let damaged = try bench.command("store", "restore", copy)
        #expect(damaged.status == 1 && damaged.errors.contains("is damaged"), "\(damaged.errors)")
        let none = try bench.command("store", "restore", bench.path("no.db"))
        #expect(none.status == 1 && none.errors.contains("there is no store at"), "\(none.errors)")
        let odd = try bench.command("store", "restore", bench.path("key.p8"))
        #expect(odd.status == 1 && odd.errors.contains("is not a SQLite database"), "\(odd.errors)")
        try bench.start()
        #expect(try devices(bench) == "3000")
    }

    @Test("A store that was not closed well is looked through before it is used")
    func damaged() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 3000))
        bench.kill()
        // First all data is in the file; the next start writes a log with a few pages, as after a kill.
        #expect(try bench.sql("PRAGMA wal_checkpoint(TRUNCATE)").status == 0)
        try bench.start()
        try bench.readiness(200)
        bench.kill()
        let store = bench.path("relay.db")
        try #require(try Data(contentsOf: URL(filePath: store + "-wal")).count > 0)
        try damage(store)
        let refused = try bench.command("serve", "--stop-at-eof", input: "")
        #expect(refused.status == 1 && refused.errors.contains("is damaged"), "\(refused.errors)")
    }
}
