// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

/// Logs each change by hand and its author. The store's history has only changes of versions and alerts.
extension API {
    /// Logs a successful change. Leaves out webhooks, which are not by hand, and changes of requirements, which the store
    /// itself logs with their effect.
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
        // An import is many requests in a row, so each has a lower level.
        let isStream = if case .stream = route.answer { true } else { false }
        let written = fields
        access.report(isStream ? .info : .notice, "changed by hand", id: RequestMark.current) { written }
    }
}
