// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// The real binary on a disk that is full, limited, read-only or locked by another program.
@Suite(.serialized, .ownThread) struct DiskTests {
    private static let mounts = ConditionTrait.enabled(if: getuid() == 0, "mounts a small tmpfs, which only root may")

    /// Waits for a campaign that the store's fault interrupted, and checks that nothing was lost or sent twice.
    private func goesOn(_ bench: Workbench, _ id: String, devices: Int, since: ContinuousClock.Instant, _ fault: String)
        throws
    {
        let sent = bench.simulator.figures.requests
        if sent < devices { try #require(bench.simulator.wait(forRequests: sent + 1, deadline: .seconds(60))) }
        let pause = ContinuousClock.now - since
        let campaign = try bench.follow(id) { $0.isFinal }
        #expect(campaign.counts["accepted"] == devices)
        #expect(campaign.addsUp)
        #expect(bench.simulator.figures.distinctTokens == devices)
        let relay = try #require(bench.relay)
        // A connection that dies, as one to a push service that gets no processor for long, loses answers. The pool counts the
        // requests that it resends for that; the store's fault must add none.
        let resent = try #require(try Scrape(of: relay)["upgrade_relay_http2_resends_total"])
        #expect(
            Double(bench.simulator.figures.duplicates) <= resent,
            "what was sent is recorded from memory, not sent again:\n\(relay.log)")
        try bench.readiness(200)
        let refusals = relay.log.split(separator: "\n").filter { $0.contains("the store refuses") }
        #expect(refusals.count == 1, "once, not at each try:\n\(refusals.joined(separator: "\n"))")
        // The space left may have been too little to plan the campaign, which is a fault of its app alone.
        let end =
            relay.log.contains("the store refuses for one app")
            ? "the store does not refuse for the app any more" : "the store takes outcomes again"
        #expect(relay.waitForLine(end, within: .seconds(60)) != nil)
        print("\(fault): lost 0, twice \(bench.simulator.figures.duplicates), sending went on \(pause) after its end")
    }

    @Test(mounts) func aFullDiskStopsTheSendingAndSpaceLetsItGoOn() throws {
        let bench = try Workbench()
        guard let disk = try SmallDisk(in: bench, megabytes: 16) else { return }
        try bench.keepStore(in: disk.folder)
        try bench.start()
        try bench.register(Fleet(count: 20_000))
        try disk.fill(leaving: 200_000)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let relay = try #require(bench.relay)
        let line = try #require(relay.waitForLine(" the store refuses", within: .seconds(60)))
        #expect(line.contains("full"))
        #expect("\(try bench.readiness(503))".contains("full"))
        #expect(bench.simulator.figures.requests < 20_000, "what cannot be recorded is not sent")
        let free = ContinuousClock.now
        try disk.empty()
        try goesOn(bench, id, devices: 20_000, since: free, "disk full")
        bench.kill()
    }

    /// After a kill on a full disk the daemon starts as soon as there is space, and never with half a store.
    @Test(mounts) func aKillOnAFullDiskLosesNothing() throws {
        let bench = try Workbench()
        guard let disk = try SmallDisk(in: bench, megabytes: 16) else { return }
        try bench.keepStore(in: disk.folder)
        try bench.start()
        try bench.register(Fleet(count: 10_000))
        try disk.fill(leaving: 200_000)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let relay = try #require(bench.relay)
        try #require(relay.waitForLine(" the store refuses", within: .seconds(60)) != nil)
        bench.kill()
        let serve = try CommandResult.of(["serve", "--config", bench.path("config.json5"), "--stop-at-eof"])
        if serve.status != 0 {
            #expect(serve.errors.contains("ull") && serve.errors.contains("hint: "), "\(serve.errors)")
        }
        print("a start on a full disk: status \(serve.status)")
        try disk.empty()
        try bench.start()
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 10_000)
        #expect(end.addsUp)
        #expect(bench.simulator.figures.distinctTokens == 10_000)
        #expect(bench.simulator.figures.duplicates <= 2 * 16 * 500)
        bench.kill()
    }

    @Test(mounts) func aReadOnlyFileSystemIsToldAtTheStart() throws {
        let bench = try Workbench()
        guard let disk = try SmallDisk(in: bench, megabytes: 16) else { return }
        try bench.keepStore(in: disk.folder)
        try bench.start()
        bench.kill()
        try disk.remount("ro")
        let serve = try CommandResult.of(["serve", "--config", bench.path("config.json5"), "--stop-at-eof"])
        #expect(serve.status == 1)
        #expect(serve.errors.contains("read-only"), "\(serve.errors)")
        #expect(serve.errors.contains("hint: "))
        try disk.remount("rw")
        try bench.start()
        bench.kill()
    }

    /// As systemd's LimitFSIZE= does: writes beyond the limit fail, and by default SIGXFSZ ends the process.
    @Test func aFileThatMayNotGrowStopsTheSendingAndTheLimitsEndLetsItGoOn() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 20_000))
        let relay = try #require(bench.relay)
        let log = try FileManager.default.attributesOfItem(atPath: bench.path("relay.db-wal"))[.size] as? Int
        try limit(relay, to: String((log ?? 0) + 200_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let line = try #require(relay.waitForLine(" the store refuses", within: .seconds(60)))
        #expect(line.contains("LimitFSIZE="))
        #expect("\(try bench.readiness(503))".contains("LimitFSIZE="))
        #expect(bench.simulator.figures.requests < 20_000)
        let free = ContinuousClock.now
        try limit(relay, to: "unlimited")
        try goesOn(bench, id, devices: 20_000, since: free, "file size limit (EFBIG)")
    }

    private func limit(_ relay: RelayProcess, to bytes: String) throws {
        let result = try CommandResult.of(
            ["--pid", String(relay.identifier), "--fsize=\(bytes):"], program: URL(filePath: "/usr/bin/prlimit"))
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    @Test func anotherProgramsLongTransactionIsToldAndWaitedFor() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 1_000))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.isFinal }
        let outsider = try OutsideWriter(
            bench.path("relay.db"), change: "UPDATE version SET required = '3.0.0';")
        #expect("\(try bench.readiness(503))".contains("Another program holds the write lock"))
        try outsider.commit()
        let free = ContinuousClock.now
        try #require(bench.simulator.wait(forRequests: 1_001, deadline: .seconds(60)))
        print("another program's transaction: sending went on \(ContinuousClock.now - free) after its end")
        let list = try bench.api("GET", "/v1/campaigns").json["items"] as? [[String: Any]]
        let second = try #require(list?.first?["id"] as? String)
        let end = try bench.follow(second) { $0.isFinal }
        #expect(end.counts["accepted"] == 1_000)
        #expect(bench.simulator.figures.requests == 2_000 && bench.simulator.figures.duplicates == 0)
        try bench.readiness(200)
    }

    /// A log that cannot be written costs log lines, not the daemon: it may lie on the very disk that is full.
    @Test func aLogThatCannotBeWrittenDoesNotEndTheDaemon() throws {
        let bench = try Workbench()
        let process = Process()
        process.executableURL = try CommandResult.binary()
        process.arguments = ["serve", "--config", bench.path("config.json5")]
        process.standardError = FileHandle(forWritingAtPath: "/dev/full")
        process.standardOutput = FileHandle.nullDevice
        let folder = try FolderWatch(bench.folder.path)
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        // No log shows that the daemon is up. Its control socket does: it is asked each 100 ms, and when a file comes into the
        // folder, since the daemon listens a moment after the file is there.
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? bench.api("GET", "/healthz").status) != 200 {
            try #require(process.isRunning && ContinuousClock.now < deadline, "it does not come up")
            folder.wait(for: .milliseconds(100))
        }
        kill(process.processIdentifier, SIGHUP)
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }
}
