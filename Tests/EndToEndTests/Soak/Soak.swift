// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import SimulatorTools

/// Campaign after campaign under every fault, with everything else that a daemon does going on, until the push service has
/// seen as many requests as planned. Each third campaign, and the last, runs to its end; the others are superseded on the
/// way.
final class Soak {
    let plan: SoakPlan
    private let bench: Workbench
    private let fleet: Fleet
    private let gauge: DaemonGauge
    private let traffic: SoakTraffic
    private var report: SoakReport
    private var nextKill: Int

    init(_ plan: SoakPlan) throws {
        self.plan = plan
        bench = try Workbench { configuration in
            configuration.faults = plan.faults
            if !plan.keepsRecord { configuration.recordPath = nil }
        }
        fleet = Fleet(count: plan.fleet, withoutTelephone: 50)
        let simulator = bench.simulator
        gauge = DaemonGauge(store: bench.path("relay.db"), every: plan.sampleInterval) { simulator.figures.requests }
        traffic = SoakTraffic(bench: bench, fleet: fleet, reloadInterval: plan.reloadInterval)
        report = SoakReport(plan: plan)
        nextKill = plan.killEvery ?? .max
    }

    func run() throws -> SoakReport {
        let began = ContinuousClock.now
        try bench.start()
        try bench.register(fleet)
        target(bench.relay?.identifier)
        traffic.start()
        var audited: [(id: String, view: CampaignView)] = []
        var round = 0
        do {
            while bench.simulator.figures.requests < plan.pushes {
                round += 1
                let id = try bench.campaign(of: bench.bump("\(2 + round).0.0"))
                traffic.watch(id)
                if let last = audited.indices.last, !audited[last].view.isFinal {
                    // Answers to pushes in flight come in after the state has changed.
                    audited[last].view = try over(audited[last].id)
                    try audit(audited[last])
                }
                let view = try drive(id, toTheEnd: round % 3 == 0)
                audited.append((id, view))
                if view.isFinal { try audit((id, view)) }
            }
            if let last = audited.last, !last.view.isFinal { try audit((last.id, try drive(last.id, toTheEnd: true))) }
        } catch {
            _ = traffic.stop()
            _ = gauge.stop()
            throw Unexpected("\(error)\n\(bench.relay?.log.suffix(4000) ?? "")")
        }
        report.traffic = traffic.stop()
        report.samples = gauge.stop()
        report.lastProcess = bench.relay?.identifier
        report.campaigns = audited.count
        report.figures = bench.simulator.figures
        report.faults = bench.journal.figures
        report.duration = ContinuousClock.now - began
        bench.relay?.send(SIGTERM)
        if let exit = bench.relay?.wait(), exit.status != 0 || exit.wasKilled {
            report.violations.append("the daemon ended with \(exit)")
        }
        return report
    }

    private func target(_ process: Int32?) {
        gauge.watch(process)
        traffic.target(process)
    }

    /// Follows a campaign to its end, or until three fifths of its audience have an outcome. Resumes it, as an operator would,
    /// whenever a fault has suspended it, and kills the daemon when that is due.
    private func drive(_ id: String, toTheEnd: Bool) throws -> CampaignView {
        while true {
            let view = try bench.follow(id, within: .seconds(900)) { view in
                view.isFinal && view.counts["inFlight"] == 0 || view.state == "suspended"
                    || !toTheEnd && Self.isFarEnough(view) || bench.simulator.figures.requests >= nextKill
            }
            if view.isFinal && view.counts["inFlight"] == 0 || !toTheEnd && Self.isFarEnough(view) { return view }
            if view.state == "suspended" {
                let answer = try bench.api("POST", "/v1/campaigns/\(id)/resume")
                // It may have been resumed, superseded or expired in between.
                guard answer.status == 200 || answer.status == 409 else { throw Unexpected("resume: \(answer)") }
                report.resumptions += 1
            }
            if bench.simulator.figures.requests >= nextKill { try crash(during: id) }
        }
    }

    private static func isFarEnough(_ view: CampaignView) -> Bool {
        let open = (view.counts["pending"] ?? 0) + (view.counts["inFlight"] ?? 0)
        return open * 5 < (view.counts["audience"] ?? 0) * 2
    }

    private func over(_ id: String) throws -> CampaignView {
        try bench.follow(id, within: .seconds(120)) { $0.isFinal && $0.counts["inFlight"] == 0 }
    }

    private func audit(_ campaign: (id: String, view: CampaignView)) throws {
        let audit = try CampaignAudit(
            campaign.id, campaign.view, devices: fleet.devices.count, bench: bench,
            answersMayBeLost: plan.killEvery != nil)
        report.add(audit, of: campaign.id, campaign.view)
    }

    private func crash(during id: String) throws {
        target(nil)
        let before = bench.simulator.figures
        let began = ContinuousClock.now
        bench.kill()
        try bench.start()
        target(bench.relay?.identifier)
        if bench.simulator.wait(forRequests: before.requests + 1, deadline: .seconds(20)) {
            report.longestRestart = max(report.longestRestart, ContinuousClock.now - began)
        } else {
            // A fault has suspended it, as it may at any other moment, or nothing was left to send: `drive` goes on from there.
            _ = try bench.follow(id, within: .seconds(100)) { view in
                view.state == "suspended" || view.isFinal || bench.simulator.figures.requests > before.requests
            }
        }
        report.kills += 1
        // Only pushes in flight before the kill can come again, wherever the answers are.
        nextKill =
            report.kills < plan.killsAtMost ? bench.simulator.figures.requests + (plan.killEvery ?? 0) : .max
    }
}
