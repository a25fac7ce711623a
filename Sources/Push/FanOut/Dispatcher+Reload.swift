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
        for run in runsInOrder where newRoutes[run.record.app] != nil {
            rerouted.insert(run.record.key)
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
            guard !runs.values.contains(where: { $0.record.app == app }) else { continue }
            let old = routes[app]
            if let route, let old {
                do { try endCauses(of: app, old, route, at: now.wall) } catch { return noteStore(error) }
            }
            newRoutes[app] = nil
            reconciler.rerouted(app)
            routes[app] = route
            for service in servicesInOrder where service.key.app == app {
                if let old, let route, old.reaches(as: route) {
                    service.forgetTemplate()
                } else {
                    close(service)
                }
            }
            limits.take(route?.pace, of: app, at: now.tick)
            limits.take(self.routes.values.flatMap(\.quotas), at: now.tick)
            if route == nil { _ = faults.clear(app.faultPart) }
            // Another route may announce, remind or send where the old one did not.
            lookAtOnce()
        }
    }

    /// Resumes campaigns that were suspended for a cause that the reload has changed. If the change did not help, the
    /// probe at their beginning shows it.
    private func endCauses(of app: AppKey, _ old: AppRoute, _ route: AppRoute, at now: Timestamp) throws {
        let causes: Set<SuspensionCause> = old.reaches(as: route) ? [.payload] : [.payload, .credential, .topic]
        for record in try store.openCampaigns() where record.app == app && record.state != .running {
            guard try store.decide(record, .repaired(causes), by: .relay(at: now)) else { continue }
            log(
                .notice, "the configuration has changed what the campaign was suspended for: it goes on",
                [("campaign", record.id), ("reason", record.facts.reason ?? "")])
        }
    }

    mutating func close(_ service: PushService) {
        forgetTroubles(of: service, isReported: false)
        forgetCredentialFault(of: service)
        service.close()
        owners = owners.filter { $0.value.service !== service }
        services[service.key] = nil
    }
}
