// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Telemetry

/// Push services that no connection can be had to, and how that is told.
extension Conductor {
    /// The name of a push service's fault. The sandbox has its own: its good health says nothing about production.
    static func part(_ app: AppKey, _ environment: PushEnvironment) -> String {
        environment == .production ? "apns:\(app.app)" : "apns:\(app.app)/sandbox"
    }

    mutating func notePool(_ pool: PoolID, lane: Int, _ condition: PoolCondition) {
        guard let owner = pools.owner(of: pool, lane: lane) else { return }
        if owner.isForSecondTries { return noteSecondTries(owner, condition) }
        let app = owner.app
        let part = Self.part(app, owner.environment)
        switch condition {
        case .connected:
            if faults.clear(part) { log(.notice, "connected to the push service again", [("app", app.app)]) }
        case .failing(let error, let attempts):
            // Whoever sends nothing asks for no other connection, and would never hear that it is over.
            guard runs.values.contains(where: { $0.record.app == app }) else { return }
            if faults.set(part, "cannot reach the push service: \(error)") {
                log(
                    .error, "cannot reach the push service",
                    [
                        ("app", app.app), ("error", error), ("attempts", String(attempts)),
                    ])
            }
        }
    }

    /// No service is missed where no campaign sends: the next one finds out for itself.
    mutating func forgetIdleReaches() {
        guard faults.texts.keys.contains(where: { $0.hasPrefix("apns:") }) else { return }
        let busy = Set(runs.values.map(\.record.app.app))
        for app in routes.keys where !busy.contains(app.app) {
            for environment in PushEnvironment.allCases where faults.clear(Self.part(app, environment)) {
                log(
                    .notice, "the push service is not waited for any more",
                    [("app", app.app), ("environment", environment.name)])
            }
        }
    }
}
