// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import FanOut
package import RelayAPI
package import RelayEngine
package import RelayStore
package import Requirements
package import Telemetry
import UpgradeRules
package import VersionSources

/// The operations of people, webhooks and sources on requirements and campaigns: raise, release, withdraw, pause, cancel,
/// retry, and the dry run.
///
/// Starts no thread and reads no clock of its own, so that the driver of the fan-out drives it too: the daemon's threads, or
/// a simulation. May be used from any thread.
package final class RequirementControl: RequirementOperations {
    /// The parts of the fan-out that `RequirementControl` uses.
    package protocol Progress: Sendable {
        func figures(of campaign: CampaignKey) -> RunFigures
        /// Reports that the store has changed.
        func poke()
        /// Ends the waits of the app's push services.
        func probe(_ app: AppKey)
    }

    let store: any RelayStore
    let apps: @Sendable () -> [AppKey: AppConfiguration]
    let routes: @Sendable () -> [AppKey: AppRoute]
    let progress: any Progress
    let sources: SourceRunner
    let versionCache: VersionCache
    let log: Log
    let clock: @Sendable () -> Timestamp
    /// Acts for which all devices of an app are being counted (`RequirementControl+Reach`).
    let counting = Slots(limit: 2)

    /// - Parameters:
    ///   - apps: every app that is configured at this moment.
    ///   - routes: the routes of those apps that can be pushed to.
    package init(
        store: any RelayStore, apps: @escaping @Sendable () -> [AppKey: AppConfiguration],
        routes: @escaping @Sendable () -> [AppKey: AppRoute], progress: any Progress, sources: SourceRunner,
        versionCache: VersionCache, log: Log, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.apps = apps
        self.routes = routes
        self.progress = progress
        self.sources = sources
        self.versionCache = versionCache
        self.log = log
        self.clock = clock
    }

    /// Passes a wish to all relays, this one too, as another relay may do that work. Acts here where the relay is alone or
    /// the store refuses.
    func ask(_ wish: FleetRequest) {
        if !store.membership.isAlone, (try? store.send(wish)) != nil { return }
        switch wish {
        case .probe(let app): progress.probe(app)
        case .ask(let app): sources.askNow(app)
        }
    }

    package func eraseUser(
        _ telephone: String, by actor: Principal, where isMeant: (AppKey) -> Bool
    ) throws -> UserErasure {
        let erasure = try store.eraseUser(telephone, by: Signature(by: actor, at: clock()), where: isMeant)
        progress.poke()
        return erasure
    }

    func configured(_ app: AppKey) throws -> AppConfiguration {
        let apps = apps()
        guard let configuration = apps[app] else {
            throw ControlError(
                .unknownApp, context: "\(app.app) is not configured for \(app.platform.rawValue)",
                hint: "the configuration knows "
                    + apps.keys.map { "\($0.app)/\($0.platform.rawValue)" }.sorted()
                    .joined(separator: ", "))
        }
        return configuration
    }

    /// - Throws: `ControlError.unknownApp` where the app cannot be pushed to.
    func route(of app: AppKey) throws -> AppRoute {
        guard let route = routes()[app] else {
            throw ControlError(
                .unknownApp, context: "\(app.app) has no push service on \(app.platform.rawValue)",
                hint: Self.pushHint(app))
        }
        return route
    }

    /// A hint for an app that cannot be pushed to.
    static func pushHint(_ app: AppKey) -> String {
        "add `\(Channel.production.provider(on: app.platform).rawValue)` to the app's configuration"
    }
}

extension FanOut: RequirementControl.Progress {}
