// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The costs of a store beside pushes and imports.
struct StoreBench {
    private let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    private static let idleDevices = 1000

    /// Measures an idle daemon with some devices and a campaign that is over.
    func idle(_ store: StageStore) throws -> BenchReport.Row {
        let stage = try Stage(
            relay: options.relay, server: store == .postgres ? StageServer(counting: true) : nil)
        defer { stage.tearDown() }
        try stage.start()
        try stage.importDevices(0..<Self.idleDevices)
        let id = try stage.raise(to: 2)
        try stage.wait("the campaign is over") { try stage.campaign(id).state == "completed" }
        // The work after the campaign's end is done in this time.
        usleep(5_000_000)
        let seconds = options["idle-seconds"]
        let statements = try stage.server?.statements()
        let before = try stage.moment()
        usleep(UInt32(seconds) * 1_000_000)
        let spent = try stage.spent(since: before, nil)
        let later = try stage.server?.statements()
        var row = BenchReport.Row()
        row.add("store", "store", store.rawValue)
        row.add("seconds", "seconds", spent.seconds)
        // The share of one processor.
        row.add("cpuShare", "CPU %", Double(spent.daemon) / 1e9 / spent.seconds, times: 100)
        let served = spent.server.map { Double($0.processorTime) / 1e9 / spent.seconds }
        row.add("serverCPUShare", "server CPU %", served, times: 100)
        // Includes BEGIN and COMMIT.
        let all = statements.flatMap { before in later.map { $0 - before - Self.own } }
        row.add("statementsPerSecond", "statements/s", all.map { Double($0) / spent.seconds })
        let log = spent.server.map { Double($0.log) / spent.seconds }
        row.add("serverLogBytesPerSecond", "log bytes/s", log, decimals: 0)
        return row
    }

    /// The bench's own statements between two counts: the first count itself, and the query for the end of the log, twice.
    private static let own = 3

    /// Migrates a store of so many devices, first with nothing else in it, then after a campaign to all of them.
    func migrate() throws -> [BenchReport.Row] {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        let devices = options["migrated"]
        try stage.start()
        try stage.importDevices(0..<devices)
        let registry = try move(stage, devices, campaigns: 0)
        try stage.start()
        let id = try stage.raise(to: 2)
        try stage.wait("the campaign is over") { try stage.campaign(id).state == "completed" }
        return [registry, try move(stage, devices, campaigns: 1)]
    }

    private func move(_ stage: Stage, _ devices: Int, campaigns: Int) throws -> BenchReport.Row {
        stage.stop()
        let server = try StageServer()
        defer { server.end() }
        try stage.configure(store: "postgres: { url: \"\(server.conninfo)\" }")
        let (before, commandBefore) = (try server.usage(asksFirst: true), ProcessUsage.childrensTime)
        let began = ContinuousClock.now
        let words = ["store", "migrate", "--from", stage.storePath, "--config", stage.configurationPath, "--json"]
        let said = try Child(options.relay, words).result()
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        let commandTime = ProcessUsage.childrensTime - commandBefore
        let served = try server.usageOfEndedSessions() - before
        struct Moved: Decodable {
            var rows: Int
            var tables: [String: Int]
        }
        let moved = try JSONDecoder().decode(Moved.self, from: said)
        guard moved.tables["device"] == devices else {
            throw BenchError("of \(devices) devices \(moved.tables["device"] ?? 0) were moved")
        }
        var row = BenchReport.Row()
        row.add("devices", "devices", devices)
        row.add("campaigns", "campaigns", campaigns)
        row.add("rows", "rows", moved.rows)
        row.add("seconds", "seconds", seconds)
        row.add("commandCPUSeconds", "command CPU s", Double(commandTime) / 1e9)
        let serverSeconds = Double(served.processorTime) / 1e9
        row.add("serverCPUSeconds", "server CPU s", serverSeconds)
        // The reference: psql's copy of as many devices.
        row.add("ofCopy", "of \\copy", serverSeconds / (try BareStore.copyTime(devices, stage, to: server)))
        row.add("serverLogBytes", "log MiB", bytes: served.log)
        return row
    }
}
