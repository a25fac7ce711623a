// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import SimulatorTools

/// One campaign that is over: its ledger's row for each device, compared with the pushes that the push service took.
struct CampaignAudit {
    private(set) var rows: [String: Int] = [:]
    /// Recorded as accepted though the push service never took it, or left without an end: these pushes are lost.
    private(set) var lost: [String] = []
    /// The lost pushes by the fault that hit them last.
    private(set) var lostBy: [RequestFault: Int] = [:]
    /// Taken by the push service but not recorded as accepted, although no fault can have swallowed the answer.
    private(set) var unrecorded: [String] = []
    /// Taken by the push service.
    private(set) var taken = 0
    private(set) var faults: [String] = []

    /// - Parameter answersMayBeLost: the daemon was killed while it sent, so that answers went with it.
    init(
        _ id: String, _ view: CampaignView, devices: Int, bench: Workbench, answersMayBeLost: Bool
    ) throws {
        var cursor: String?
        repeat {
            let page = try bench.api(
                "GET", "/v1/campaigns/\(id)/deliveries?limit=1000" + (cursor.map { "&cursor=\($0)" } ?? ""))
            guard let items = page.json["items"] as? [[String: Any]] else { throw Unexpected("no page: \(page)") }
            for item in items { judge(item, bench, answersMayBeLost: answersMayBeLost) }
            cursor = page.json["next"] as? String
        } while cursor != nil
        if !view.addsUp { faults.append("the counts do not add up: \(view)") }
        for (state, count) in view.counts where state != "audience" && rows[state, default: 0] != count {
            faults.append("\(count) \(state) are counted, \(rows[state, default: 0]) are listed")
        }
        let listed = rows.values.reduce(0, +)
        if listed != devices { faults.append("\(devices) devices, \(listed) are listed") }
    }

    private mutating func judge(_ item: [String: Any], _ bench: Workbench, answersMayBeLost: Bool) {
        guard let state = item["state"] as? String, let token = item["token"] as? String else {
            faults.append("no delivery: \(item)")
            return
        }
        rows[state, default: 0] += 1
        let id = item["apnsId"] as? String
        let isTaken = id.map(bench.simulator.accepted().contains(id:)) ?? false
        if isTaken { taken += 1 }
        let fault = id.flatMap(bench.journal.openFault(ofID:))
        func lose(_ text: String) {
            lost.append("\(token): \(text)")
            if let fault { lostBy[fault, default: 0] += 1 }
        }
        switch state {
        case "accepted":
            if !isTaken { lose("accepted, they say, and was never taken") }
        case "pending", "inFlight", "retrying":
            lose("\(state) in a campaign that is over")
        default:
            if isTaken, !answersMayBeLost, fault == nil {
                unrecorded.append("\(token): \(state) (\(item["reason"] ?? "")), they say, and was taken")
            }
        }
    }
}
