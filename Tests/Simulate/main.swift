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
    /// Whether the store is in PostgreSQL, on a private server; else in SQLite.
    var isInPostgres = false
    /// Whether several relays share one store, in a world of their own (`FleetWorld`).
    var isFleet = false
    /// The number of different broken rules that ends the run.
    var most = 10
    /// The number of processes that share the seeds; 1: this one.
    var jobs = 1
    /// Whether scripts are shrunk instead of run as a story.
    var isShrinkingWanted = false
    /// The search ends after so many seconds, even if seeds are left.
    var seconds: Int?
    /// Whether this process is a worker, which takes its orders from standard input.
    var isWorker = false

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
            case "--jobs": jobs = max(number(word), 1)
            case "--shrink": isShrinkingWanted = true
            case "--seconds": seconds = number(word)
            case "--worker": isWorker = true
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
                    "\"\(word)\" is none of --seeds, --seed, --base, --length, --most, --jobs, --seconds, --known, --write, --script, --trace, --shrink, --no-shrink, --store, --fleet"
                )
            }
        }
    }
}

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(2)
}

func makeStorage(_ arguments: Arguments) throws -> any SimulatedStorage {
    arguments.isInPostgres ? try PostgresStorage(on: PostgresServer.shared.get()) : try SQLiteStorage()
}

/// Returns whether a promise broke. Everything that it made, such as the folder of the stores, is gone when it returns.
func run(_ arguments: Arguments) throws -> Bool {
    let storage = try makeStorage(arguments)
    if arguments.isFleet {
        return try tellFleet(arguments, storage) ?? search(FleetHistories(storage, length: arguments.length), arguments)
    }
    let known = try arguments.known.map { try KeptScript.all(in: $0) } ?? []
    let simulation = Simulation(known: Set(known.map(\.rule)), storage: storage)
    let report = Report(shrinks: arguments.shrinks, folder: arguments.folder)
    let histories = RelayHistories(simulation, length: arguments.length)
    for path in arguments.scripts where !arguments.isWorker {
        let script = try Script(text: try String(contentsOfFile: path, encoding: .utf8))
        if arguments.isShrinkingWanted {
            let workers = try makeWorkers(histories, arguments.jobs)
            try report.shrink(script, histories, workers, known: Set(known.map(\.rule)), name: path)
        } else {
            try report.tell(script, in: simulation, name: path, isTraceWanted: arguments.isTraceWanted)
        }
    }
    if let seed = arguments.seed {
        var drawing = Drawing(seed: seed)
        try report.tell(
            drawing.script(length: arguments.length), in: simulation, name: "seed \(seed)",
            isTraceWanted: arguments.isTraceWanted)
    } else if arguments.scripts.isEmpty || arguments.isWorker {
        return try search(histories, arguments, known: simulation.known)
    }
    return report.hasFound
}

/// Returns this process as the worker, or so many processes of this very program, even if its file has been replaced since.
func makeWorkers(_ histories: some Histories, _ count: Int) throws -> any Workers {
    guard count > 1 else { return OwnWorker(histories) }
    return try WorkerProcesses(
        count, program: "/proc/self/exe", arguments: CommandLine.arguments.dropFirst() + ["--worker"])
}

/// Runs many seeds, in this process or in several.
func search(_ histories: some Histories, _ arguments: Arguments, known: Set<String> = []) throws -> Bool {
    if arguments.isWorker {
        try WorkerLoop.run(histories)
        return false
    }
    let report = Report(shrinks: arguments.shrinks, folder: arguments.folder)
    let count = min(arguments.jobs, max(arguments.seeds, 1))
    try report.search(
        histories, try makeWorkers(histories, count), count: count,
        seeds: arguments.base..<(arguments.base + UInt64(arguments.seeds)),
        known: known, most: arguments.most, atMost: arguments.seconds.map { .seconds($0) })
    return report.hasFound
}

/// Runs scripts and single seeds of several relays.
///
/// - Returns: whether a promise broke; nil: no script or seed was given.
func tellFleet(_ arguments: Arguments, _ storage: any SimulatedStorage) throws -> Bool? {
    var scripts = try arguments.scripts.map { try FleetScript(text: String(contentsOfFile: $0, encoding: .utf8)) }
    if let seed = arguments.seed { scripts.append(FleetScript(seed: seed, length: arguments.length ?? 40)) }
    guard !scripts.isEmpty else { return nil }
    for script in scripts {
        let world = try FleetWorld(script, in: storage, tells: true)
        let violation = world.run()
        print(world.story.joined(separator: "\n"))
        if violation != nil { return true }
    }
    return false
}

do {
    exit(try run(Arguments(CommandLine.arguments.dropFirst())) ? 1 : 0)
} catch {
    fail("\(error)")
}
