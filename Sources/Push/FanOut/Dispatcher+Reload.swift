// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// The effects of a configuration that was read anew.
extension Dispatcher {
    /// Notes what the reload changes. An app whose route stays as it was notices nothing.
    mutating func reroute(_ routes: [AppRoute]) {
        let wanted = Dictionary(uniqueKeysWithValues: routes.map { ($0.app, $0) })
        let waiting = Set(newRoutes.keys)
        newRoutes.removeAll()
        for app in Set(self.routes.keys).union(wanted.keys) where wanted[app] != self.routes[app] {
            newRoutes[app] = .some(wanted[app])
        }
        for run in runs.inOrder where newRoutes[run.record.app] != nil {
            runs.rerouted.insert(run.record.key)
            halt(run)
        }
        // A reload that undoes the previous one exchanges no route: the runs that the previous one halted begin anew.
        if !waiting.subtracting(newRoutes.keys).isEmpty { lookAtOnce() }
    }

    /// Exchanges an app's route once all pushes that left by the old one are recorded. If the new route leads elsewhere
    /// or has another credential, the old connections are closed, too: a new key, or a topic that the old key family
    /// did not have, needs new ones (PROTOCOLS 1.4).
    mutating func takeNewRoutes() {
        guard !newRoutes.isEmpty else { return }
        let now = now
        for (app, route) in newRoutes.sorted(by: { $0.key < $1.key }) {
            guard !runs.has(app) else { continue }
            let old = routes[app]
            let isSameWay = route.map { old?.reaches(as: $0) ?? false } ?? false
            if route != nil, old != nil {
                let causes: Set<SuspensionCause> = isSameWay ? [.payload] : [.payload, .credential, .topic]
                do {
                    try decisions.resume(app, suspendedFor: causes, at: now.wall)
                } catch {
                    return noteStore(error)
                }
            }
            newRoutes[app] = nil
            reconciler.rerouted(app)
            routes[app] = route
            services.reroute(app, isSameWay: isSameWay)
            limits.take(route?.pace, of: app, at: now.tick)
            limits.take(self.routes.values.flatMap(\.quotas), at: now.tick)
            if route == nil { _ = faults.clear(app.faultPart) }
            // Another route may announce, remind or send where the old one did not.
            lookAtOnce()
        }
    }
}
