// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// The configuration was read anew.
extension Dispatcher {
    /// Notes what the reload changes. An app whose route stays as it was notices nothing.
    mutating func reroute(_ routes: [AppRoute]) {
        let wanted = Dictionary(uniqueKeysWithValues: routes.map { ($0.app, $0) })
        newRoutes.removeAll()
        for app in Set(self.routes.keys).union(wanted.keys) where wanted[app] != self.routes[app] {
            newRoutes[app] = .some(wanted[app])
        }
        for run in runsInOrder where newRoutes[run.record.app] != nil { halt(run) }
        // An app that was to change, and is as it was after all, goes on as well.
        seenMark = nil
        nextLook = now.tick
    }

    /// Exchanges an app's route when all that went out over the old one is recorded. Where it leads elsewhere or has another
    /// credential the connections go too: a new key, or a topic that the old key family did not have, needs new ones
    /// (PROTOCOLS 1.4).
    mutating func takeNewRoutes() {
        guard !newRoutes.isEmpty else { return }
        let now = now
        for (app, route) in newRoutes.sorted(by: { $0.key < $1.key }) {
            let isBusy =
                batchesOut.values.contains { $0.run?.record.app == app }
                || answered.contains { $0.run?.record.app == app }
            guard !isBusy else { continue }
            newRoutes[app] = nil
            unrouted.remove(app)
            let old = routes.updateValue(route, for: app)
            for run in runsInOrder where run.record.app == app {
                rerouted.insert(run.record.key)
                forget(run)
            }
            for service in servicesInOrder where service.key.app == app {
                if let old, let route, old.reaches(as: route) {
                    service.machine.change(pace: route.pace, at: now)
                    service.forgetTemplate()
                } else {
                    close(service)
                }
            }
            changeQuotas(at: now.tick)
            if route == nil { _ = faults.clear("app:\(app.app)/\(app.platform.rawValue)") }
            seenMark = nil
            nextLook = now.tick
        }
    }

    private mutating func close(_ service: PushService) {
        forgetTroubles(of: service, isReported: false)
        forgetCredentialFault(of: service)
        service.close()
        owners = owners.filter { $0.value.service !== service }
        services[service.key] = nil
    }
}

extension Dictionary {
    /// Sets or removes the value, and returns what was there.
    fileprivate mutating func updateValue(_ value: Value?, for key: Key) -> Value? {
        defer { self[key] = value }
        return self[key]
    }
}
