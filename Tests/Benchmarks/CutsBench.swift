// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator

/// The whole way while the push service ends each connection after a number of pushes, refuses some pushes, and answers late: the
/// cost of connections that are cut. Each row is compared with the rate of its group's first row, which is undisturbed.
struct CutsBench {
    let options: BenchOptions

    /// The trouble of one row.
    private struct Trouble {
        var end = "-"
        var after: Int?
        var refused = "-"
        var script = FaultScript()

        static func ends(_ end: String, after count: Int) -> Trouble {
            var row = Trouble(end: end, after: count)
            switch end {
            case "GOAWAY": row.script.goAwayAfter = count
            case "FIN": (row.script.cutAfter, row.script.cutBy) = (count, .end)
            default: (row.script.cutAfter, row.script.cutBy) = (count, .reset)
            }
            return row
        }

        func refusing(oneOf count: Int) -> Trouble {
            var row = self
            row.refused = "1 of \(count)"
            row.script.refuseEvery = count
            return row
        }
    }

    /// Rows that are compared with each other.
    private struct Group {
        var latency = 0
        var rate: Int?
        var devices: Int
        var rows: [Trouble]

        /// Each kind of end after each count.
        static func rows(_ counts: [Int]) -> [Trouble] {
            ["RST", "FIN", "GOAWAY"].flatMap { end in counts.map { Trouble.ends(end, after: $0) } }
        }
    }

    private var groups: [Group] {
        let refusals = [
            Trouble().refusing(oneOf: 7), .ends("RST", after: 200).refusing(oneOf: 50),
            .ends("GOAWAY", after: 70).refusing(oneOf: 50),
        ]
        return [
            Group(
                devices: options["cut-devices"],
                rows: [Trouble()] + Group.rows([1, 10, 50, 200, 2000]) + refusals),
            Group(
                latency: 200, devices: options["cut-late-devices"],
                rows: [Trouble()] + Group.rows([10, 50, 200, 2000]) + refusals),
            Group(
                latency: 200, rate: 200, devices: options["cut-paced-devices"],
                rows: [Trouble()] + Group.rows([50, 200]) + refusals),
        ]
    }

    func run(into report: inout BenchReport) throws {
        var rows: [BenchReport.Row] = []
        for group in groups {
            var undisturbed: Double?
            for trouble in group.rows {
                var (row, rate) = try measure(trouble, in: group)
                undisturbed = undisturbed ?? rate
                row.add("share", "% of undisturbed", undisturbed.map { rate / $0 }, decimals: 0, times: 100)
                rows.append(row)
            }
        }
        report.add("cuts", "Connections that are cut", rows)
    }

    private func measure(_ trouble: Trouble, in group: Group) throws -> (row: BenchReport.Row, rate: Double) {
        let script = String(decoding: try JSONEncoder().encode(trouble.script), as: UTF8.self)
        let stage = try Stage(
            relay: options.relay, latency: group.latency, faults: script, ratePerSecond: group.rate)
        defer { stage.tearDown() }
        try stage.start()
        try stage.importDevices(0..<group.devices)
        let before = try stage.moment()
        let id = try stage.raise(to: 2)
        let end = ContinuousClock.now + .seconds(options["cut-seconds"])
        try stage.wait("the campaign is over") {
            try stage.campaign(id).state == "completed" || ContinuousClock.now >= end
        }
        let spent = try stage.spent(since: before, id)
        let isOver = try stage.campaign(id).state == "completed"
        let sink = try stage.stopSink()
        // Nothing is lost, and no push is reported as accepted that was not.
        guard spent.accepted <= sink.distinct, !isOver || spent.accepted == group.devices else {
            throw BenchError(
                "\(trouble.end) after \(trouble.after ?? 0): of \(group.devices) the relay knows \(spent.accepted) "
                    + "accepted, the simulator \(sink.distinct)")
        }
        var row = BenchReport.Row()
        row.add("latencyMilliseconds", "latency ms", group.latency)
        row.add("ratePerSecond", "pace/s", group.rate)
        row.add("end", "ended by", trouble.end)
        row.add("after", "after", trouble.after)
        row.add("refused", "refused", trouble.refused)
        row.add("devices", "devices", group.devices)
        row.add("accepted", "accepted", spent.accepted)
        row.add("seconds", "seconds", spent.seconds)
        row.add("pushesPerSecond", "pushes/s", spent.rate, decimals: 0)
        row.add("connections", "connections", sink.connectionsOpened)
        // Pushes that the service accepted again, with the same id, because the answer was lost with its connection.
        row.add("acceptedAgain", "taken again", sink.accepted - sink.distinct)
        row.add("mostTimes", "most often", sink.mostTimes)
        return (row, spent.rate)
    }
}
