// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

@testable import Simulation

/// Several relays on one store. Tests/Simulation/README.md explains how to read a failure.
@Suite(.ownThread) struct FleetSimulationTests {
    @Test func seedsHold() throws {
        let storage = try SQLiteStorage()
        let base = UInt64(Date().timeIntervalSince1970)
        for seed in Array(1...10) + Array(base...(base + 5)) {
            let violation = try FleetWorld(FleetScript(seed: seed), in: storage).run()
            #expect(
                violation == nil,
                """
                \(violation.map { "\($0)" } ?? "")
                make simulate SEED=\(seed) SIMULATE=--fleet tells it as a story
                """)
        }
    }

    /// A relay whose lease ends in a slow store, a killed leader, an owner that stands still for longer than its lease, two relays
    /// that are both cut off for 15 s, a relay that starts over a slow store when all are dead, a relay that stands still for a
    /// second while its connection is cut for eleven, a relay that sends for a project, lives, and waits for the store while
    /// another one is well.
    @Test(arguments: [
        "fleet devices=120 pace=5 latency=200\nstart 2 65\nbump 2 91\nslow 0 85\npass 0 5\n",
        "fleet devices=40 latency=3000 streams=1\nbump 0 90\nkill 0 0\npass 0 4\npass 0 5\n",
        "fleet devices=40 latency=200 relays=3 android=2 quota=60\nbump 0 90\nbump 1 91\nsuspend 0 14\nsuspend 1 14\npass 0 6\n",
        "fleet devices=120 batch=1 latency=200\nbump 0 90\ncutOff 0 14\ncutOff 1 14\npass 0 6\n",
        "fleet latency=3000\nbump 1 18\nbump 1 93\nkill 1 55\nkill 2 3\nslow 1 73\nstart 1 41\n",
        "fleet latency=3000\nbump 0 38\ncutOff 1 25\nsuspend 1 75\nkill 0 89\npass 2 52\npass 2 57\npass 0 37\npass 2 21\n",
        """
        fleet relays=3 android=1 latency=3000
        start 2 25
        tell 1 11
        bump 2 26
        resume 0 21
        clock 1 64
        tell 0 12
        resume 0 79
        suspend 0 35
        slow 0 88
        bump 2 56
        slow 1 25
        """,
    ])
    func historiesHold(_ text: String) throws {
        let world = try FleetWorld(try FleetScript(text: text), in: try SQLiteStorage(), tells: true)
        let violation = world.run()
        #expect(violation == nil, "\(violation.map { "\($0)" } ?? "")\n\(world.story.joined(separator: "\n"))")
    }

    @Test func aScriptIsReadAsItIsWritten() throws {
        let script = FleetScript(seed: 7)
        #expect(try FleetScript(text: script.text).steps == script.steps)
        #expect(try FleetScript(text: script.text)["devices"] == script["devices"])
    }

    @Test func aHistoryIsTheSameTwice() throws {
        let storage = try SQLiteStorage()
        let stories = try (0..<2).map { _ in
            let world = try FleetWorld(FleetScript(seed: 11), in: storage, tells: true)
            _ = world.run()
            return world.story
        }
        #expect(stories[0] == stories[1] && !stories[0].isEmpty)
    }

    @Test func everyPromiseIsInTheGuide() throws {
        let guide = try String(
            contentsOf: SimulationTests.folder.appending(path: "README.md"), encoding: .utf8)
        for promise in FleetWorld.promises where promise.rule != "store.check" {
            #expect(guide.contains("| `\(promise.rule)` | \(promise.says) |"), "\(promise.rule)")
        }
    }
}
