// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivatePostgres
import Simulation
import StorePeers

// make simulate: many seeds, or one again. See Tests/Simulation/README.md.

struct Arguments {
    var seeds = 1000
    var seed: UInt64?
    var base = UInt64(Date().timeIntervalSince1970)
    var length: Int?
    var scripts: [String] = []
    var isTraceWanted = false
    var shrinks = true
    var known: String?
    var folder: String?
    /// In PostgreSQL, on a private server; else in SQLite.
    var isInPostgres = false
    /// Several relays on one store, in a world of their own (`FleetWorld`).
    var isFleet = false
    /// How many different rules may be broken before the run ends.
    var most = 10

    init(_ words: ArraySlice<String>) {
        var words = words
        func number<Number: FixedWidthInteger>(_ name: String) -> Number {
            guard let word = words.popFirst(), let number = Number(word) else { fail("\(name) needs a number") }
            return number
        }
        while let word = words.popFirst() {
            switch word {
            case "--seeds": seeds = number(word)
            case "--seed": seed = number(word)
            case "--base": base = number(word)
            case "--length": length = number(word)
            case "--most": most = number(word)
            case "--known": known = words.popFirst()
            case "--write": folder = words.popFirst()
            case "--script": scripts += [words.popFirst()].compactMap(\.self)
            case "--trace": isTraceWanted = true
            case "--no-shrink": shrinks = false
            case "--fleet": isFleet = true
            case "--store":
                switch words.popFirst() {
                case "sqlite": isInPostgres = false
                case "postgres": isInPostgres = true
                default: fail("--store is sqlite or postgres")
                }
            default:
                fail(
                    "\"\(word)\" is none of --seeds, --seed, --base, --length, --most, --known, --write, --script, --trace, --no-shrink, --store, --fleet"
                )
            }
        }
    }
}

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(2)
}

/// Returns whether a promise broke. What it made, such as the folder of the stores, is gone when it returns.
func run(_ arguments: Arguments) throws -> Bool {
    let known = try arguments.known.map { try KeptScript.all(in: $0) } ?? []
    let storage: any SimulatedStorage =
        arguments.isInPostgres ? try PostgresStorage(on: PostgresServer.shared.get()) : try SQLiteStorage()
    if arguments.isFleet { return try runFleet(arguments, storage) }
    let simulation = Simulation(known: Set(known.map(\.rule)), storage: storage)
    let report = Report(simulation, shrinks: arguments.shrinks, folder: arguments.folder)
    for path in arguments.scripts {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try report.tell(try Script(text: text), name: path, isTraceWanted: arguments.isTraceWanted)
    }
    if let seed = arguments.seed {
        var drawing = Drawing(seed: seed)
        try report.tell(
            drawing.script(length: arguments.length), name: "seed \(seed)", isTraceWanted: arguments.isTraceWanted)
    } else if arguments.scripts.isEmpty {
        try report.search(
            seeds: arguments.base..<(arguments.base + UInt64(arguments.seeds)), length: arguments.length,
            most: arguments.most)
    }
    return report.hasFound
}

/// Seeds of several relays, or one again.
func runFleet(_ arguments: Arguments, _ storage: any SimulatedStorage) throws -> Bool {
    func outcome(_ script: FleetScript, tells: Bool = false) throws -> FleetWorld {
        let world = try FleetWorld(script, in: storage, tells: tells)
        _ = world.run()
        return world
    }
    for path in arguments.scripts {
        let world = try outcome(try FleetScript(text: String(contentsOfFile: path, encoding: .utf8)), tells: true)
        print(world.story.joined(separator: "\n"))
        if world.violation != nil { return true }
    }
    let length = arguments.length ?? 40
    if let seed = arguments.seed {
        let world = try outcome(FleetScript(seed: seed, length: length), tells: true)
        print(world.story.joined(separator: "\n"))
        return world.violation != nil
    }
    guard arguments.scripts.isEmpty else { return false }
    let begun = ContinuousClock.now
    var reached: [String: Int] = [:]
    var found: Set<String> = []
    for seed in arguments.base..<(arguments.base + UInt64(arguments.seeds)) {
        let script = FleetScript(seed: seed, length: length)
        let world = try outcome(script)
        reached.merge(world.reached) { $0 + $1 }
        guard let violation = world.violation, found.insert(violation.rule).inserted else { continue }
        print("seed \(seed) breaks \(violation)")
        if arguments.shrinks {
            let small = try script.shrunk { try outcome($0).violation?.rule == violation.rule }
            print("  shrunk from \(script.steps.count) steps to \(small.steps.count):\n\(small.text)")
            print(try outcome(small, tells: true).story.joined(separator: "\n"))
        }
        print("  again: make simulate SEED=\(seed) SIMULATE=--fleet")
        if found.count >= arguments.most { break }
    }
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    print("\(arguments.seeds) seeds of several relays from \(arguments.base) in \(Int(seconds)) s", terminator: " ")
    print("(\(Int(Double(arguments.seeds) / max(seconds, 0.001) * 60)) seeds a minute)")
    print(found.isEmpty ? "every promise held" : "broken: \(found.sorted().joined(separator: ", "))")
    print(reached.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: " · "))
    return !found.isEmpty
}

do {
    exit(try run(Arguments(CommandLine.arguments.dropFirst())) ? 1 : 0)
} catch {
    fail("\(error)")
}
