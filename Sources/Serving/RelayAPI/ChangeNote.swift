// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Telemetry
import UpgradeRules

/// Logs each change by hand and its author. The store's history has those of versions and alerts only.
extension API {
    /// Not for a webhook, which is not by hand, nor for a refusal, which changed nothing. The store itself logs a change of
    /// requirements, with its effect.
    func note(_ call: Call, _ response: Response) {
        let route = call.route
        guard route.isNoteworthy, route.webhook == nil, !route.changesRequirements,
            (200..<300).contains(response.status)
        else { return }
        var fields: Log.Fields = [("change", route.pattern)]
        if !call.path.app.isEmpty {
            fields += [("app", call.path.app), ("platform", call.path.platform.rawValue)]
        }
        // A campaign's id or an API token's name. A device's token goes into no log.
        if !call.path.name.isEmpty, !route.path.contains("{token}") { fields.append(("name", call.path.name)) }
        fields += [("by", call.caller.actor.name), ("source", call.caller.actor.via)]
        // An import is many requests in a row.
        let isStream = if case .stream = route.answer { true } else { false }
        let written = fields
        access.report(isStream ? .info : .notice, "changed by hand", id: RequestMark.current) { written }
    }
}
