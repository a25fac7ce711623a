// SPDX-License-Identifier: Apache-2.0
package import APIModel
package import Configuration
import Terminal
import UpgradeRules

/// A dry run as people read it.
package enum PlanText {
    package static func text(_ plan: PlanBody<JSONTree>) throws -> String {
        let audience = plan.audience
        var table = TextTable([.init("DEVICES"), .init("COUNT", .right), .init("SHARE", .right)])
        table.add(["audience", Quantity.count(audience), Quantity.percent(audience, of: audience)])
        table.add(["would be pushed", Quantity.count(plan.toPush), Quantity.percent(plan.toPush, of: audience)])
        table.add(["filtered", Quantity.count(plan.filtered), Quantity.percent(plan.filtered, of: audience)])
        for (reason, count) in plan.filteredBy.sorted(by: { $0.key < $1.key }) where count > 0 {
            table.add(["  \(reason)", Quantity.count(count), Quantity.percent(count, of: audience)])
        }
        var text = table.text
        let warnings = WarningText.lines(plan.warnings)
        if !warnings.isEmpty { text += "\n" + warnings.map { $0 + "\n" }.joined() }
        text += "\none push, \(plan.samplePayloadSize) of \(UpgradePayload.maximumSize) bytes\n"
        return try text + RelayClient.text(plan.samplePayload, pretty: true) + "\n"
    }
}
