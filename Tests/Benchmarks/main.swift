// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import Signing

// Threads that dial are not awaited at the end.
CryptoLibrary.keepUntilTheEnd()
signal(SIGPIPE, SIG_IGN)

func bench(_ options: BenchOptions) throws {
    var report = BenchReport()
    func suite(_ name: String, _ body: () throws -> Void) rethrows { if options.only.contains(name) { try body() } }
    let daemon = DaemonBench(options: options)
    var imports: [BenchReport.Row] = []
    try suite("transport") {
        let (rows, allocations) = try TransportBench(options: options).run()
        report.add("transport", "Transport alone, one connection", rows)
        try TransportBench.check(allocations)
    }
    try suite("carriers") {
        report.add(
            "carriers", "By which library, and with how many tokens in a request",
            try TransportBench(options: options).carriers())
    }
    try suite("whole") {
        let runs = try options.all("devices").flatMap { devices in
            try options.stores.map { try daemon.whole(devices: devices, store: $0) }
        }
        imports = runs.map(\.filling)
        let bare = try TransportBench(options: options).bare()
        let rows = runs.map { run in
            var row = run.whole
            // The daemon's CPU for each of the bare transport's: registry, filter and ledger.
            row.add("transportMicroseconds", "transport µs", bare)
            row.add("ratio", "ratio", bare.flatMap { bare in row.figure("cpuMicroseconds").map { $0 / bare } })
            return row
        }
        report.add("whole", "The whole way, by size of the audience", rows)
    }
    try suite("android") {
        let runs = try options.all("devices").map { try daemon.whole(devices: $0, platform: "android") }
        report.add("android", "The whole way to Android, by size of the audience", runs.map(\.whole))
    }
    try suite("latency") {
        report.add("latency", "The service answers late", try daemon.late())
        report.add("connections", "Rate against connections, two seconds of a campaign", try daemon.sweep())
    }
    try suite("cuts") { try CutsBench(options: options).run(into: &report) }
    try suite("imports") { imports += try options.stores.flatMap { try daemon.imports($0) } }
    report.add("imports", "Imports", imports)
    try suite("growth") {
        let rows = try options.all("growth").flatMap { devices in
            try options.stores.flatMap { try daemon.growth(devices, $0) }
        }
        report.add(
            "growth", "Imports by size: into nothing, the night after, into a registry of forty times the rows", rows)
    }
    try suite("sizes") {
        let sizes = SizeBench(options: options)
        let rows = try options.all("sizes").flatMap { devices in
            try options.stores.flatMap { try sizes.run(devices, $0) }
        }
        report.add("sizes", "What an operator does, by the size of the registry", rows)
    }
    let stores = StoreBench(options)
    try suite("idle") { report.add("idle", "Nothing to do", try options.stores.map { try stores.idle($0) }) }
    try suite("fleet") { report.add("fleet", "Two relays on one database", try FleetBench(options: options).run()) }
    try suite("migrate") { report.add("migrate", "A store that is moved to PostgreSQL", try stores.migrate()) }
    try suite("restart") { report.add("restart", "Killed in the middle of a campaign", [try daemon.restart()]) }
    try suite("api") { report.add("api", "The API while a campaign runs", try APIBench.run(options)) }
    if let path = options.json { try report.write(to: path) }
}

do {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == "send" {
        FileHandle.standardOutput.write(try JSONEncoder().encode(Sender(words.dropFirst()).run()))
    } else if words.first == "sink" {
        try Sink.run(Array(words.dropFirst()))
    } else if words.contains("--help") || words.contains("-h") {
        print(BenchOptions.help)
    } else {
        try bench(BenchOptions(words))
    }
} catch {
    FileHandle.standardError.write(Data("relay-bench: \(error)\n".utf8))
    exit(1)
}
