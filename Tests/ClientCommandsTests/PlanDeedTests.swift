// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import Signing
import Terminal
import TestPeers
import Testing
import UpgradeRules
import WireFormat

/// `plan` runs the code of the bump: for each kind of bump, it counts exactly the pushes that the push service then gets.
@Suite("What plan promises is what is pushed", .ownThread) struct PlanDeedTests {
    /// One kind of bump, over the same devices as all others.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The options of a `version set` before it.
        var before: [String] = []
        /// The options for `plan`, and for `version set` where `block` is nil; `block` is the versions for `version block`.
        var plan: [String]
        var block: [String]?
        /// Whether one command makes the whole bump.
        var isByCommand = true
        /// Further keys of the app.
        var more = ""
        /// The number of pushes.
        var pushes: Int64
        /// The commands afterwards, until everything is sent.
        var then: [[String]] = []
    }

    /// 60 devices: ten each with 1.0, 1.8, 1.9, 2.0 and no version; five without a telephone, five with 1.0 on an old system.
    private static func devices() -> String {
        var lines = ["token,telephone,version,osVersion"]
        var number = 0
        func add(_ version: String, _ count: Int, hasTelephone: Bool = true, system: String = "17.1") {
            for _ in 0..<count {
                number += 1
                let token = String(repeating: "0", count: 61) + String(1000 + number).dropFirst()
                lines.append("\(token),\(hasTelephone ? "1380013\(8000 + number)" : ""),\(version),\(system)")
            }
        }
        for version in ["1.0", "1.8", "1.9", "2.0", ""] { add(version, 10) }
        add("1.0", 5, hasTelephone: false)
        add("1.0", 5, system: "14.0")
        return lines.joined(separator: "\n") + "\n"
    }

    private static let waves = "pace: { waves: [10, 100], betweenWaves: { pause: \"1s\" } },"
    private static let moment = Date.now.addingTimeInterval(30 * 86_400).formatted(.iso8601)

    static let cases = [
        Case(testDescription: "floor", plan: ["--required", "2.0"], pushes: 45),
        Case(
            testDescription: "floor that is there", before: ["--required", "2.0"], plan: ["--required", "2.0"],
            pushes: 0),
        Case(
            testDescription: "newest version alone", before: ["--required", "1.9"], plan: ["--latest", "2.1"], pushes: 0
        ),
        Case(testDescription: "floor and newest version", plan: ["--required", "1.9", "--latest", "2.1"], pushes: 35),
        Case(testDescription: "system", plan: ["--required", "2.0", "--minimum-os", "16"], pushes: 40),
        Case(
            testDescription: "canary", plan: ["--required", "2.0", "--canary", "13800138001"], pushes: 45,
            then: [["version", "release"]]),
        Case(
            testDescription: "moment", plan: ["--required", "2.0", "--required-from", moment],
            pushes: 45, then: [["version", "release"]]),
        Case(
            testDescription: "block above no floor", before: ["--latest", "2.1"], plan: ["--blocked", "1.8"],
            block: ["1.8"], pushes: 10),
        Case(
            testDescription: "two blocks", before: ["--latest", "2.1"], plan: ["--blocked", "1.8", "--blocked", "1.9"],
            block: ["1.8", "1.9"], pushes: 20),
        Case(
            testDescription: "block below the floor", before: ["--required", "1.9"], plan: ["--blocked", "1.8"],
            block: ["1.8"], pushes: 0),
        Case(
            testDescription: "block above the floor", before: ["--required", "1.8", "--latest", "2.1"],
            plan: ["--blocked", "1.9"],
            block: ["1.9"], pushes: 10),
        Case(
            testDescription: "block below the floor of the same bump, and one above it", before: ["--latest", "2.1"],
            plan: ["--required", "1.9", "--blocked", "1.8", "--blocked", "2.0"], isByCommand: false, pushes: 45),
        Case(testDescription: "waves", plan: ["--required", "2.0"], more: waves, pushes: 45),
        Case(
            testDescription: "block beside waves", before: ["--latest", "2.1"], plan: ["--blocked", "1.8"],
            block: ["1.8"],
            more: waves, pushes: 10),
    ]

    @Test(arguments: cases)
    func holds(_ subject: Case) async throws {
        let key = try ES256PrivateKey.generate()
        var configuration = SimulatorConfiguration(
            topics: [RealDaemon.app], teamID: "TEAM123456", keys: ["KEY1234567": key.publicKey])
        let folder = try TestFolder.make()
        configuration.certificate = .generated(directory: folder)
        let simulator = try PushSimulator(configuration)
        try simulator.start()
        defer { simulator.stop() }
        let daemon = try RealDaemon(
            key: key, push: ("https://127.0.0.1:\(simulator.port)", try #require(simulator.trustedCertificatePath)),
            more: subject.more)
        let file = "\(daemon.folder)/all.csv"
        try Data(Self.devices().utf8).write(to: URL(filePath: file))
        let app = [RealDaemon.app, "ios"]
        func run(_ words: [String]) async throws -> String {
            let result = await daemon.run(words)
            guard result.code == .done else { throw DeedFailure(description: "\(words): \(result.err)") }
            return result.out
        }
        _ = try await run(["devices", "import", file, "--app", RealDaemon.app, "--platform", "ios"])
        if !subject.before.isEmpty {
            _ = try await run(["version", "set"] + app + subject.before + ["--yes"])
            try await daemon.settle(run)
        }
        let sent = Int64(simulator.accepted().distinctIDs)
        let plan = try JSONReader.read(Array(try await run(["plan"] + app + subject.plan + ["--json"]).utf8))
        let planned = try #require(plan.find(["toPush"])?.integer)
        if !subject.isByCommand {
            let key = AppKey(app: RealDaemon.app, platform: .ios)
            var bump = VersionBump(app: key, required: try Version(subject.plan[1]))
            bump.blocked = try subject.plan.dropFirst(2).filter { $0 != "--blocked" }.map { try Version($0) }
            bump.isConfirmed = true
            _ = try daemon.requirements.bump(bump, by: Principal("ann", .token, via: "api"), receipt: nil) { _, _ in
                StoredAnswer(status: 200, body: [])
            }
        } else if let block = subject.block {
            _ = try await run(["version", "block"] + app + block + ["--yes"])
        } else {
            _ = try await run(["version", "set"] + app + subject.plan + ["--yes"])
        }
        for words in subject.then { _ = try await run(words + app + ["--yes"]) }
        try await daemon.settle(run)
        #expect(planned == subject.pushes)
        #expect(Int64(simulator.accepted().distinctIDs) - sent == planned, "what was sent")
        let blocks = (plan.find(["blocks"])?.array ?? []).map { $0.find(["toPush"])?.integer ?? 0 }
        if subject.block != nil { #expect(blocks.reduce(0, +) == planned) }
        let filtered = (plan.find(["filteredBy"])?.object ?? []).reduce(0) { $0 + ($1.value.integer ?? 0) }
        if plan.find(["rises"]) == .bool(true) { #expect(planned + filtered == plan.find(["audience"])?.integer) }
    }
}

private struct DeedFailure: Error, CustomStringConvertible {
    let description: String
}

extension RealDaemon {
    /// Waits until no campaign has anything to send: each has ended, or waits for a moment or a person.
    fileprivate func settle(_ run: ([String]) async throws -> String) async throws {
        for _ in 0..<600 {
            let text = try await run(["campaigns", "list", "--json"])
            let states = (try JSONReader.read(Array(text.utf8)).find(["items"])?.array ?? []).map {
                $0.find(["state"])?.string ?? ""
            }
            if !states.contains("running") { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw DeedFailure(description: "a campaign runs on and on")
    }
}
