// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

@testable import Simulation

/// The real relay in its simulated world: every fault that was ever found, and new seeds. Tests/Simulation/README.md explains how
/// to read a failure.
@Suite struct SimulationTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Simulation")

    private static func scripts(_ name: String) throws -> [KeptScript] {
        try KeptScript.all(in: folder.appending(path: name).path)
    }

    private static func known() throws -> Set<String> { Set(try scripts("Known").map(\.rule)) }

    // MARK: Faults that were found

    /// Each mended fault, as the script by which it was found.
    @Test(.ownThread) func whatWasMendedHolds() throws {
        let simulation = try Simulation()
        for kept in try Self.scripts("Kept") {
            let violation = try simulation.breaks(kept.script, kept.rule)
            #expect(violation == nil, "\(kept.name) (\(kept.fault)) is back: \(violation?.text ?? "")")
        }
    }

    /// Each fault that is known and not mended yet. A script that no longer fails goes from Known to Kept.
    @Test(.ownThread) func whatIsKnownFails() throws {
        let simulation = try Simulation()
        for known in try Self.scripts("Known") {
            let violation = try simulation.breaks(known.script, known.rule)
            #expect(violation != nil, "\(known.name) (\(known.fault)) holds now: move it from Known to Kept")
        }
    }

    /// One process has the histories of fifty thousand seeds.
    @Test(.ownThread) func aHistoryLeavesNothingInMemory() throws {
        var drawing = Drawing(seed: 1)
        let world = try World(drawing.script(length: 20), in: try SQLiteStorage())
        #expect(world.run { _ in true } == nil)
        weak let relay = world.relay
        weak let cache = world.relay?.cache
        weak let board = world.relay?.board
        #expect(relay != nil && cache != nil && board != nil)
        world.end()
        #expect(relay == nil && cache == nil && board == nil)
    }

    // MARK: Seeds

    /// Each part runs on its own thread, with its own store.
    @Test(.ownThread, arguments: [1...40, 41...80] as [ClosedRange<UInt64>])
    func fixedSeedsHold(_ seeds: ClosedRange<UInt64>) throws {
        try run(seeds: seeds, length: 40)
    }

    /// New seeds in each run.
    @Test(.ownThread, arguments: 0..<2) func freshSeedsHold(part: UInt64) throws {
        let base = UInt64(Date().timeIntervalSince1970) + part * 8
        try run(seeds: base...(base + 7), length: 30)
    }

    private func run(seeds: ClosedRange<UInt64>, length: Int) throws {
        let simulation = try Simulation(known: Self.known())
        for seed in seeds {
            var drawing = Drawing(seed: seed)
            let violation = try simulation.run(drawing.script(length: length)).violation
            #expect(
                violation == nil,
                """
                \(violation.map { "\($0)" } ?? "")
                make simulate SEED=\(seed) SIMULATE="--length \(length)" tells it as a story
                """)
        }
    }

    // MARK: Replay

    /// The same byte for byte, also in another process, where dictionaries hash differently.
    @Test(.ownThread) func aSeedIsTheSameInEachProcess() throws {
        let program = try #require(
            [Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
                .map { $0.appending(path: "simulate") }.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        var traces: Set<String> = []
        for hashing in ["0", "1"] {
            let process = Process()
            process.executableURL = program
            process.arguments = ["--seed", "77", "--length", "60"]
            process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": hashing])
            { $1 }
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            traces.insert(try #require(text.split(separator: "\n").first { $0.contains(", trace ") }).description)
        }
        #expect(traces.count == 1, "\(traces.sorted())")
    }

    /// SQLite's kept connections, from the life or the history before, change no history.
    @Test(.ownThread) func keptConnectionsChangeNoHistory() throws {
        let (kept, new) = (try Simulation(), try Simulation(keepsConnections: false))
        for seed: UInt64 in 21...28 {
            var drawing = Drawing(seed: seed)
            let script = drawing.script(length: 60)
            let (one, other) = (try kept.run(script, isStoryWanted: true), try new.run(script, isStoryWanted: true))
            let difference = zip(one.lines, other.lines).enumerated().first { $1.0 != $1.1 }
            #expect(one.hash == other.hash, "seed \(seed), line \(difference.map { "\($0): \($1.0) | \($1.1)" } ?? "")")
        }
    }

    // MARK: The simulation itself

    @Test func aScriptIsReadAsItIsWritten() throws {
        for seed in 1...20 {
            var drawing = Drawing(seed: UInt64(seed))
            let script = drawing.script(length: 30)
            #expect(try Script(text: "# said to people\n" + script.text) == script)
        }
    }

    @Test(arguments: [
        ("bmp 1 2", "no operation is called \"bmp 1 2\""),
        ("bump 1 2 midle=3", "\"midle=3\" in \"bump 1 2 midle=3\" is no number, \"middle=N\" or \"noTurn\""),
        ("setup waves=1", "\"waves=1\" is no setting of a world"),
    ])
    func whatIsNoScriptIsNamed(_ text: String, _ error: String) {
        #expect(throws: ScriptError.self) { try Script(text: text) }
        do { _ = try Script(text: text) } catch let thrown { #expect("\(thrown)" == error) }
    }

    /// A requirement is pushed against its gate: the model must report it. A model that never complains proves nothing.
    @Test func theModelNoticesAPushAgainstTheGate() {
        var model = Model()
        model.now = 1_000_000
        model.announcements.append(Announcement(app: 0, version: 3, askedAt: 0, isGated: true))
        model.campaigns["c"] = CampaignFacts(announcement: 0)
        model.device(0, "t") { ($0.isRegistered, $0.user, $0.version) = (true, 7, 1) }
        model.leaves(app: 0, token: "t", user: 7, campaign: "c")
        #expect(model.violations.map(\.rule) == ["push.gate"])
    }

    @Test func theModelNoticesAPushToSomebodyElse() {
        var model = Model()
        model.now = 1
        model.announcements.append(Announcement(app: 0, version: 3, askedAt: 0, isGated: false))
        model.campaigns["c"] = CampaignFacts(announcement: 0)
        model.device(0, "t") { ($0.isRegistered, $0.user, $0.version) = (true, 7, 1) }
        model.now += 1000
        model.device(0, "t") { $0.user = 8 }
        model.now += Model.readGrace - 1
        model.leaves(app: 0, token: "t", user: 7, campaign: "c")
        #expect(model.violations.isEmpty, "it had been read before")
        model.now += 2
        model.leaves(app: 0, token: "t", user: 7, campaign: "c")
        #expect(model.violations.map(\.rule) == ["push.user"])
    }

    @Test func theModelNoticesWhatTheAuditTrailLacks() {
        var act = Act(actor: "somebody 1", actions: ["campaign.resume", "campaign.hurry"])
        #expect(act.fault(in: [:]) == nil, "nobody has said that it is done")
        #expect(act.fault(in: ["campaign.resume": 2]) != nil, "twice")
        #expect(act.fault(in: ["campaign.pause": 1]) != nil, "something else")
        act.isDone = true
        #expect(act.fault(in: [:]) != nil, "it is done, and not there")
        #expect(act.fault(in: ["campaign.hurry": 1]) != nil, "the half of it")
        #expect(act.fault(in: ["campaign.resume": 1, "campaign.hurry": 1]) == nil)
    }

    /// The guide has each promise, and each script breaks an existing one.
    @Test func theGuideHasEachPromise() throws {
        let guide = try String(contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
        for promise in Promise.all {
            #expect(guide.contains("| `\(promise.rule)` | \(promise.says) | \(promise.source) |"), "\(promise.rule)")
        }
        let rules = Set(Promise.all.map(\.rule))
        for script in try Self.scripts("Known") + Self.scripts("Kept") {
            #expect(rules.contains(script.rule), "\(script.name)")
        }
    }

    /// A patch that undoes a fix is worthless once it no longer applies.
    @Test func theMutantsApply() throws {
        let root = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: root.appending(path: ".git").path) else { return }
        let mutants = Self.folder.appending(path: "Mutants")
        let patches = try FileManager.default.contentsOfDirectory(atPath: mutants.path).filter {
            $0.hasSuffix(".patch")
        }
        #expect(patches.count >= 10)
        for patch in patches.sorted() {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["git", "apply", "--check", mutants.appending(path: patch).path]
            process.currentDirectoryURL = root
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(patch) does not apply any more: write it anew")
        }
    }
}
