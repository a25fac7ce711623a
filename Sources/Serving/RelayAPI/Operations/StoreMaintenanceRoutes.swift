// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
package import RelayStore
import Requirements
package import Telemetry
import Threading
import UpgradeRules
import WireFormat

/// Backup, check and pruning of the store while the daemon does its other work; one of them at a time.
extension API {
    /// The age from which rows may be pruned. A younger row may still be written to, such as that of a push in flight when
    /// its campaign ends.
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
            let faults = try store.check { name in outlet.write { $0.members(of: .begins(name), StoreCheckLine.shape) }
            }
            _ = outlet.write { $0.members(of: .faults(faults), StoreCheckLine.shape) }
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
                return outlet.write { $0.members(of: (report: report, isDone: false), PruneReport.shape) }
            }
            log(.notice, "the store was pruned", report.fields)
            _ = outlet.write { $0.members(of: (report: report, isDone: true), PruneReport.shape) }
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
    /// The last line of a check that ran without a daemon.
    package static func json(of faults: [StoreFault]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(.faults(faults), StoreCheckLine.shape)
        return writer.bytes
    }
}

/// A line of the answer to a check.
enum StoreCheckLine {
    case begins(String)
    case faults([StoreFault])

    private var check: String? { if case .begins(let check) = self { check } else { nil } }
    private var found: [StoreFault]? { if case .faults(let faults) = self { faults } else { nil } }

    static let shape = Shape<StoreCheckLine>(
        "StoreCheckLine", "A check that begins, or the result.",
        [
            .optional(.begins, .text) { $0.check },
            .optionalList(.faults, of: StoreFault.shape, "Empty: it is sound.") { $0.found },
            // `LongWork` writes it.
            .optional(.error, .text, "The reason why the check failed; the connection is then cut.") { _ in
                nil as String?
            },
        ])
}

extension StoreFault {
    static let shape = Shape<StoreFault>(
        "StoreFault", "One fault.",
        [
            .member(.check, .text) { $0.check },
            .member(.detail, .text) { $0.detail },
        ])
}

extension PruneReport {
    static let shape = Shape<(report: PruneReport, isDone: Bool)>(
        "PruneLine", "The data that was deleted.",
        [
            .member(.isDone, .flag) { $0.isDone },
            .member(.campaigns, .count, "Campaigns whose deliveries are gone.") { $0.report.campaigns },
            .member(.deliveries, .count) { $0.report.deliveries },
            .member(.formerTelephones, .count) { $0.report.formerTelephones },
            .member(.devices, .count) { $0.report.devices },
            .member(.webhooks, .count) { $0.report.webhooks },
            .member(.alerts, .count) { $0.report.alerts },
            .member(.notifications, .count) { $0.report.notifications },
            .member(.freed, .count, "Bytes given back to the file system.") { $0.report.freed },
            .member(.longestPause, .decimal, "The longest wait of other writers, in milliseconds.") {
                JSONDecimal(of: Double($0.report.longestPause.nanoseconds) / 1e6)
            },
            .sentenceOfAct { line in line.isDone ? line.report.sentence : nil },
        ])

    /// "4200 deliveries of 3 campaigns, 12 devices: deleted. Campaigns stay, with their counts; …"
    private var sentence: String {
        let lost = "\(ActWords.deliveries(deliveries)) of \(Counted.text(campaigns, "campaign"))"
        return ActWords(.pruneStore, lost, devices: devices).answer()
    }
}

extension PruneReport {
    /// The fields of the log line.
    package var fields: Log.Fields {
        [
            ("campaigns", String(campaigns)), ("deliveries", String(deliveries)), ("devices", String(devices)),
            ("webhooks", String(webhooks)), ("audit", String(audit)), ("approvals", String(approvals)),
            ("freed", String(freed)), ("longestPauseMilliseconds", String(longestPause.milliseconds)),
        ]
    }
}
