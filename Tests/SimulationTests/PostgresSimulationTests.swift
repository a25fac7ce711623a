// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import StorePeers
import Testing

@testable import Simulation

/// The same worlds with the store in PostgreSQL.
@Suite(.ownThread, .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresSimulationTests {
    private static func simulation() throws -> Simulation {
        Simulation(storage: try PostgresStorage(on: PostgresServer.shared.get()))
    }

    /// The mended faults that concern the store, on PostgreSQL: a third of them, chosen anew in each run. The other faults do not
    /// depend on the store.
    @Test func whatWasMendedHolds() throws {
        let simulation = try Self.simulation()
        let ofStores: Set<OperationKind> = [.diskFails, .crash, .kill, .otherProgram, .deleteRows, .prune, .backUp]
        let all = try KeptScript.all(in: SimulationTests.folder.appending(path: "Kept").path)
        let kepts = all.filter { $0.script.operations.contains { ofStores.contains($0.kind) } }
        #expect(kepts.count > 30)
        for kept in kepts.shuffled().prefix(kepts.count / 3) {
            let violation = try simulation.breaks(kept.script, kept.rule)
            #expect(violation == nil, "\(kept.name) (\(kept.fault)) is back: \(violation?.text ?? "")")
        }
    }

    @Test func seedsHold() throws {
        let base = UInt64(Date().timeIntervalSince1970)
        let simulation = try Self.simulation()
        for seed in Array(1...16) + Array(base...(base + 7)) {
            var drawing = Drawing(seed: seed)
            let violation = try simulation.run(drawing.script(length: 30)).violation
            #expect(
                violation == nil,
                """
                \(violation.map { "\($0)" } ?? "")
                make simulate SEED=\(seed) SIMULATE="--store postgres --length 30" tells it as a story
                """)
        }
    }

    /// Everything that people, phones, push services and receivers see is the same, line by line; but retries that are due at
    /// the same moment leave in any order (neither store sorts by more than the moment).
    @Test func aHistoryIsTheSameOnBothStores() throws {
        let (one, other) = (try Simulation(), try Self.simulation())
        for seed: UInt64 in 31...35 {
            var drawing = Drawing(seed: seed)
            var script = drawing.script(length: 40)
            // A disk fails at another place of each store, only SQLite makes backups, only PostgreSQL keeps outcomes of a device
            // whose row is gone, and each store prunes in other steps, between which another operation may run.
            let unlike: [OperationKind] = [.diskFails, .diskWorks, .crash, .backUp, .deleteRows, .prune]
            script.operations.removeAll { unlike.contains($0.kind) }
            let (lines, otherLines) = (try Self.lines(script, on: one), try Self.lines(script, on: other))
            let (seen, otherSeen) = (lines.map(Self.nameless), otherLines.map(Self.nameless))
            let difference = zip(seen, otherSeen).enumerated().first { $1.0 != $1.1 }
            #expect(
                seen == otherSeen, "seed \(seed), line \(difference.map { "\($0): \($1.0) | \($1.1)" } ?? "")")
            #expect(lines.sorted() == otherLines.sorted(), "seed \(seed): the same pushes to the same users")
        }
    }

    /// A push without its user.
    private static func nameless(_ line: String) -> String {
        line.replacing(/^(push \S+) \d+/) { "\($0.output.1) a user" }
    }

    /// Leaves out the numbers of devices, some of which PostgreSQL skips.
    private static func lines(_ script: Script, on simulation: Simulation) throws -> [String] {
        try simulation.run(script, isStoryWanted: true).lines.map {
            $0.replacing(/push ([0-9a-f]{8}-[0-9a-f]{4})-[0-9a-f-]+/) { "push \($0.output.1)" }
        }
    }
}
