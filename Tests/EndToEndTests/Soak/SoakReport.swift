// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import SimulatorTools

/// The figures of a soak, and whether everything held.
struct SoakReport {
    let plan: SoakPlan
    var figures = SimulatorFigures()
    var faults: [RequestFault: FaultFigures] = [:]
    var traffic = SoakTraffic.Tally()
    var samples: [DaemonSample] = []
    var lastProcess: Int32?
    var duration = Duration.zero
    var campaigns = 0
    var resumptions = 0
    var kills = 0
    var longestRestart = Duration.zero
    private(set) var rows: [String: Int] = [:]
    private(set) var lost = 0
    private(set) var lostBy: [RequestFault: Int] = [:]
    private(set) var unrecorded = 0
    private(set) var taken = 0
    /// One line for each expectation that did not hold.
    var violations: [String] = []

    /// The most pushes in flight at a kill: sixteen batches of 500 (`fanOut.batch`).
    static let inFlightAtMost = 16 * 500

    init(plan: SoakPlan) {
        self.plan = plan
    }

    mutating func add(_ audit: CampaignAudit, of id: String, _ view: CampaignView) {
        rows.merge(audit.rows, uniquingKeysWith: +)
        lost += audit.lost.count
        lostBy.merge(audit.lostBy, uniquingKeysWith: +)
        unrecorded += audit.unrecorded.count
        taken += audit.taken
        let texts = audit.faults + audit.lost.prefix(3) + audit.unrecorded.prefix(3)
        violations += texts.map { "campaign \(id) (\(view.state)): \($0)" }
    }

    /// Pushes accepted twice that no fault of the push service explains.
    var unexplained: Int { figures.duplicates - faults.values.reduce(0) { $0 + $1.acceptedAgain } }

    var flatness: Flatness { Flatness(samples.filter { $0.process == lastProcess }) }

    /// Everything that did not hold.
    var verdict: [String] {
        var all = violations
        if lost > 0 { all.append("\(lost) pushes are lost") }
        if unrecorded > 0 { all.append("\(unrecorded) pushes were taken and are not told as accepted") }
        if taken != figures.distinctIDs {
            all.append("the ledgers know \(taken) of the \(figures.distinctIDs) pushes that were taken")
        }
        if unexplained > kills * Self.inFlightAtMost {
            all.append("\(unexplained) pushes were sent twice for no reason that is known")
        }
        for (fault, share) in plan.faults.shares where share > 0 && faults[fault] == nil {
            all.append("\(fault.rawValue) was never tried")
        }
        if plan.killEvery != nil, kills == 0 { all.append("the daemon was never killed") }
        if !traffic.failures.isEmpty { all += traffic.failures.prefix(5) }
        if kills == 0, !isSanitized { all += flatness.faults }
        return all
    }

    /// A sanitizer keeps freed memory aside, to catch a late use of it: the daemon's memory proves nothing then.
    private var isSanitized: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["ASAN_OPTIONS"] != nil || environment["TSAN_OPTIONS"] != nil
    }

    // MARK: For people

    var text: String {
        let seconds = Double(duration.components.seconds)
        let ledger = rows.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let around = traffic.done.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        var lines = [
            "\(figures.requests) pushes in \(campaigns) campaigns in \(Int(seconds)) s; \(figures.accepted) accepted, "
                + "\(figures.duplicates) of them a second time, \(unexplained) of those for no fault below",
            "the ledger: \(ledger.joined(separator: ", "))",
            "around it: \(around.joined(separator: ", ")), \(resumptions) resumptions of a suspended campaign",
            "",
            row("fault", ["tried", "pushes", "lost", "twice", "longest", "on average", "sending on"]),
        ]
        let order = SoakPlan.ofOnePush + SoakPlan.ofAConnection + SoakPlan.slow + SoakPlan.ofTheCampaign
        for fault in order {
            guard let figures = faults[fault] else { continue }
            let average = figures.acceptedLater == 0 ? "" : time(figures.totalWait / Int64(figures.acceptedLater))
            lines.append(
                row(
                    fault.rawValue,
                    [
                        "\(figures.times)", "\(figures.pushes)", "\(lostBy[fault] ?? 0)", "\(figures.acceptedAgain)",
                        figures.acceptedLater == 0 ? "" : time(figures.longestWait), average,
                        time(figures.longestPause),
                    ]))
        }
        if kills > 0 {
            let pause = time(Int64(longestRestart / .milliseconds(1)))
            lines.append(row("SIGKILL", ["\(kills)", "", "", "\(unexplained)", "", "", pause]))
        }
        lines += [
            "  lost in all: \(lost). longest, on average: from the fault until the push was accepted after all, if it was;",
            "  sending on: the longest from the fault until any push was accepted.",
        ]
        // Each process of a run with kills is too young to be judged.
        if kills == 0 { lines += ["", flatness.text] }
        return lines.joined(separator: "\n")
    }

    private func row(_ name: String, _ values: [String]) -> String {
        "  \(name.padded(28))" + values.map { $0.padded(11, right: true) }.joined()
    }

    private func time(_ milliseconds: Int64) -> String {
        milliseconds < 1000 ? "\(milliseconds) ms" : "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    }
}
