// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
package import RelayStore
package import Telemetry
import Threading
import WireFormat

/// Backup, check and pruning of the store beside everything else that the daemon does. One of them at a time.
extension API {
    /// A younger row may still be written to, such as that of a push in flight when its campaign ends.
    private static let youngest = Duration.seconds(3600)

    func backUpStore() throws -> Response {
        let slot = try maintenanceSlot()
        let work = LongWork("backup", stop: stop) { [store] outlet in
            var last = MonotonicClock.milliseconds() - 1000
            return try store.snapshot { progress in
                let now = MonotonicClock.milliseconds()
                guard now - last >= 100 else { return outlet.isWanted }
                last = now
                return outlet.write { writer in
                    writer.members([.done: progress.done, .total: progress.total])
                }
            }
        }
        return Self.lines(LongAnswer(work, slot: slot), type: "application/vnd.upgrade-relay.backup")
    }

    func checkStore() throws -> Response {
        let slot = try maintenanceSlot()
        let work = LongWork("check", stop: stop) { [store] outlet in
            let faults = try store.check { name in outlet.write { $0.member(.begins, name) } }
            _ = outlet.write { StoreDocument.faults(faults, &$0) }
            return nil
        }
        return Self.lines(LongAnswer(work, slot: slot))
    }

    func pruneStore(body: [UInt8]) throws -> Response {
        let now = now()
        var fields = try BodyFields(body)
        var cutoff: Timestamp?
        let need = "a time as in RFC 3339 is needed, at least an hour ago, such as \"2026-01-31T18:00:00Z\""
        if let text = fields.string("before", example: "2026-01-31T18:00:00Z") {
            cutoff = Timestamp(internetTime: text)
            if cutoff.map({ $0 > now - Self.youngest }) ?? true {
                fields.refuse("before", "\(need); got \(JSONValue.string(text).sight)")
            }
        } else if !fields.faults.contains(where: { $0.field == "before" }) {
            fields.refuse("before", "is missing; \(need)")
        }
        try fields.finish()
        let slot = try maintenanceSlot()
        let work = LongWork("prune", stop: stop) { [store, cutoff, log = settings.log] outlet in
            var last = MonotonicClock.milliseconds()
            let report = try store.prune(before: cutoff ?? now, at: now) { report in
                let tick = MonotonicClock.milliseconds()
                guard tick - last >= 200 else { return outlet.isWanted }
                last = tick
                return outlet.write { StoreDocument.members(of: report, isDone: false, &$0) }
            }
            log(.notice, "the store was pruned", report.fields)
            _ = outlet.write { StoreDocument.members(of: report, isDone: true, &$0) }
            return nil
        }
        return Self.lines(LongAnswer(work, slot: slot))
    }

    private func maintenanceSlot() throws -> Slots.Slot {
        guard let slot = maintenance.take() else {
            throw ProblemDetails(409, "a backup, a check or a pruning is going on already; one at a time")
        }
        return slot
    }

    private static func lines(_ source: any ByteSource, type: String = "application/x-ndjson") -> Response {
        Response(
            status: 200, headers: [("Content-Type", type)], body: .stream(source))
    }
}

extension StoreDocument {
    static func members(of report: PruneReport, isDone: Bool, _ writer: inout JSONWriter) {
        writer.members([
            .isDone: isDone, .campaigns: report.campaigns, .deliveries: report.deliveries,
            .formerTelephones: report.formerTelephones, .devices: report.devices, .webhooks: report.webhooks,
            .alerts: report.alerts, .notifications: report.notifications, .freed: report.freed,
            .longestPause: JSONDecimal(Double(report.longestPause.nanoseconds) / 1e6),
        ])
    }

    static func faults(_ faults: [StoreFault], _ writer: inout JSONWriter) {
        writer.array(.faults, faults) { writer, fault in
            writer.object([.check: fault.check, .detail: fault.detail])
        }
    }

    /// The last line of a check that ran without a daemon.
    package static func json(of faults: [StoreFault]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { Self.faults(faults, &$0) }
        return writer.bytes
    }
}

extension PruneReport {
    /// For the log.
    package var fields: Log.Fields {
        [
            ("campaigns", String(campaigns)), ("deliveries", String(deliveries)), ("devices", String(devices)),
            ("webhooks", String(webhooks)), ("audit", String(audit)), ("freed", String(freed)),
            ("longestPauseMilliseconds", String(longestPause.milliseconds)),
        ]
    }
}
