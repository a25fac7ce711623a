// SPDX-License-Identifier: Apache-2.0
import UpgradeRules
package import WireFormat

/// A dry run as people read it.
package enum PlanText {
    package static func text(_ plan: JSONValue) -> String {
        let payload = (plan[.samplePayload] ?? .null).text(isPretty: true)
        return summary(plan)
            + "\none push, \(plan.count(.samplePayloadSize)) of \(UpgradePayload.maximumSize) bytes\n\(payload)\n"
    }

    /// The facts for a person who decides about the bump, without the payload.
    static func summary(_ plan: JSONValue) -> String {
        let (audience, toPush) = (plan.count(.audience), plan.count(.toPush))
        let filtered = (plan[.filteredBy]?.object ?? []).reduce(0) { $0 + ($1.value.integer ?? 0) }
        var table = AudienceTable(audience)
        table.add("would be pushed", toPush)
        if let canary = plan[.canary]?.integer { table.add(amongThese: "in the canary", canary) }
        for channel in plan.list(.channels) {
            table.add(amongThese: "by \(plan.service(of: channel))", channel.count(.toPush))
        }
        if audience > toPush + filtered { table.add("notified by that campaign", audience - toPush - filtered) }
        table.add("filtered", filtered)
        let blocks = plan.list(.blocks)
        let isAboutBlocks = !blocks.isEmpty && plan.shown(.required).isEmpty
        table.add(reasons: plan[.filteredBy], isBlock: isAboutBlocks)
        let warnings = plan.warnings
        let wait = plan.shown(.waitingReason)
        var news = wait.isEmpty ? "in force at once\n" : "not in force at once: \(wait)\n"
        if !plan.shown(.pushesFrom).isEmpty { news += "pushed from \(plan.shown(.pushesFrom)) on: the app's hours\n" }
        if plan[.rises] == .bool(false) {
            let campaign = plan.shown(.campaign)
            news =
                "\(plan.shown(.required)) is required already"
                + (campaign.isEmpty ? "" : ", and campaign \(campaign) announces it")
                + (toPush == 0 ? ": nothing more is pushed\n" : ": users who are named anew are pushed to\n")
        }
        if isAboutBlocks, plan[.rises] == .bool(false) {
            news = "blocked already: nothing more is pushed\n"
        }
        for block in blocks {
            news += "\(block.shown(.version)) must be left by \(block.count(.toPush)) devices\n"
        }
        let waves = plan.list(.waves).compactMap { if case .number(let percent) = $0 { percent } else { nil } }
        if !waves.isEmpty {
            news += "in waves, and forced with them: \(waves.joined(separator: " %, ")) % of the users\n"
        }
        let known = plan.shown(.largestKnown)
        let doubt =
            plan[.needsConfirmation] != .bool(true)
            ? ""
            : isAboutBlocks
                ? ": nothing above is known that is not blocked, so its users would find no other version"
                : ", far below what is asked for: is it a typing error?"
        let largest =
            known.isEmpty
            ? "no version is known yet\n" : "highest version beyond doubt: \(known)\(doubt)\n"
        return news + largest + table.text + (warnings.isEmpty ? "" : "\n\(warnings)")
    }
}
