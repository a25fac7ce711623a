// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time and memory of what an operator does beside imports and campaigns, by the size of the registry.
struct SizeBench {
    let options: BenchOptions

    /// Measures each act on one stage, in the order in which an operator meets them: a table with an act a row.
    func run(_ devices: Int, _ store: StageStore) throws -> [BenchReport.Row] {
        let stage = try Stage(relay: options.relay, server: store == .postgres ? StageServer() : nil)
        defer { stage.tearDown() }
        try stage.start()
        var rows: [BenchReport.Row] = []
        /// - Parameter reference: the same work by the store's own means; returns whether it could be done.
        func measure(_ act: String, beside reference: () throws -> Bool = { false }, _ body: () throws -> Void) throws {
            let before = try stage.daemon.map { try ProcessUsage(of: $0.identifier).processorTime }
            let commandBefore = ProcessUsage.childrensTime
            let began = ContinuousClock.now
            try body()
            let seconds = (ContinuousClock.now - began) / .seconds(1)
            guard let daemon = stage.daemon?.identifier else { throw BenchError("no daemon runs") }
            let after = try ProcessUsage(of: daemon)
            var row = BenchReport.Row()
            row.add("store", "store", store.rawValue)
            row.add("devices", "devices", devices)
            row.add("act", "act", act)
            row.add("milliseconds", "ms", seconds * 1000)
            // A daemon that the act has started did all of its work for it.
            let own = act.hasPrefix(Self.start) ? after.processorTime : after.processorTime - (before ?? 0)
            row.add("cpuMilliseconds", "CPU ms", Double(own) / 1e6)
            // A start awaits the daemon before it, which is no command.
            let command = act.hasPrefix(Self.start) ? nil : ProcessUsage.childrensTime - commandBefore
            row.add("commandCPUMilliseconds", "command ms", command.map { Double($0) / 1e6 })
            let referenceBegan = ContinuousClock.now
            let alone = try reference() ? (ContinuousClock.now - referenceBegan) / .seconds(1) : nil
            row.add("aloneMilliseconds", "alone ms", alone.map { $0 * 1000 })
            row.add("ofAlone", "of alone", alone.map { seconds / $0 })
            // The daemon's memory since its start.
            row.add("peakMemoryBytes", "peak MiB", bytes: after.peakMemory)
            rows.append(row)
        }
        func command(_ words: String...) throws {
            _ = try Child(stage.relay, words + ["--socket", stage.socketPath]).result()
        }
        let telephone = Sender.telephone(devices / 2)
        try measure("import") { try stage.importDevices(0..<devices, as: .csv) }
        try measure("import of the night after") {
            try stage.importDevices(0..<devices, as: .csv, isNightly: true)
        }
        try measure(Self.start) { try stage.start() }
        try measure("plan") { try command("plan", Sender.topic, stage.platform, "--required", "2.0.0") }
        try measure("a user's devices") { try stage.api("GET", "/v1/devices?telephone=\(telephone)") }
        try measure("a user") { try stage.api("GET", "/v1/users?telephone=\(telephone)") }
        try measure("version show") { try command("version", "show", Sender.topic, stage.platform) }
        var id = ""
        try measure("a campaign's first push") { id = try stage.beginCampaign(version: 2) }
        try stage.wait("the campaign is over") { try stage.campaign(id).state == "completed" }
        try measure("first page: campaigns") { try stage.api("GET", "/v1/campaigns?limit=100") }
        try measure("first page: a campaign's deliveries") {
            try stage.api("GET", "/v1/campaigns/\(id)/deliveries?limit=100")
        }
        try measure("first page: its rejected") {
            try stage.api("GET", "/v1/campaigns/\(id)/deliveries?state=rejected&limit=100")
        }
        try measure("a user's deliveries") { try stage.api("GET", "/v1/deliveries?telephone=\(telephone)") }
        try measure("adoption") { try stage.api("GET", "/v1/campaigns/\(id)/adoption") }
        try measure("report") { try stage.api("GET", "/v1/campaigns/\(id)/report") }
        try measure("metrics") { try stage.api("GET", "/metrics") }
        try measure("store check", beside: { try checkAlone(stage) }) { try command("store", "check") }
        if store == .sqlite {
            try measure("store backup", beside: { try copyAlone(stage) }) {
                try command("store", "backup", stage.folder.appending(path: "backup").path)
            }
        }
        try measure("start after a campaign") { try stage.start() }
        // The campaign ended long ago: an hour is the least age of what goes.
        stage.stop()
        guard try stage.sql("UPDATE \(store.table("campaign")) SET finished_at = finished_at - 86400000") != nil else {
            return rows
        }
        try stage.start()
        try measure("store prune") { try command("store", "prune", "--older-than", "2h", "--yes") }
        return rows
    }

    private static let start = "start"

    /// SQLite's own check of pages and indexes, which is the first step of the relay's; false where it cannot be had.
    private func checkAlone(_ stage: Stage) throws -> Bool {
        guard stage.server == nil, let shell = Stage.sqliteShell else { return false }
        let answer = try Child(shell, ["-readonly", stage.storePath, "PRAGMA integrity_check"]).result()
        guard String(decoding: answer, as: UTF8.self) == "ok\n" else { throw BenchError("sqlite3 finds damage") }
        return true
    }

    /// A copy of the file that is on the disk when it ends.
    private func copyAlone(_ stage: Stage) throws -> Bool {
        let copy = stage.folder.appending(path: "copy").path
        defer { try? FileManager.default.removeItem(atPath: copy) }
        _ = try Child("/bin/dd", ["if=\(stage.storePath)", "of=\(copy)", "bs=1M", "conv=fsync", "status=none"]).result()
        return true
    }
}
