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
        func measure(_ act: String, _ body: () throws -> Void) throws {
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
        try measure("store check") { try command("store", "check") }
        if store == .sqlite {
            try measure("store backup") { try command("store", "backup", stage.folder.appending(path: "backup").path) }
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
}
