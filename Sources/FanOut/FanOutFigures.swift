// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
package import RelayEngine
package import RelayStore

/// What the fan-out has done since the process began, for metrics. Published once a turn.
package struct FanOutFigures: Sendable {
    package var tallies: [AppKey: PushTally] = [:]
    /// Pushes on their way, by app.
    package var requestsOut: [AppKey: Int] = [:]
    package var lastLook: Timestamp?
    /// The apps that have a push service.
    package var apps: [AppKey] = []
    /// Pushes a second that each app with a pace may send at this moment.
    package var rateLimits: [AppKey: Double] = [:]
}

extension FanOut {
    /// What keeps an app's pushes from its service, in each of its worlds: the environments' names.
    ///
    /// `isHeld`: it answers, but 5xx to nearly everything, and is left alone.
    package func environments(of app: AppKey) -> [(name: String, isReachable: Bool, isHeld: Bool)] {
        let faults = faults()
        return PushEnvironment.allCases.map { environment in
            (
                environment.name, faults[Conductor.part(app, environment)] == nil,
                faults[Conductor.outagePart(app, environment)] != nil
            )
        }
    }

    /// Whether a campaign that is suspended for this reason waits for a better credential, or the right environment.
    package static func isCredential(_ reason: String?) -> Bool {
        guard let reason else { return false }
        return APNsProvider.credentialReasons.contains(String(reason.prefix { $0 != ":" }))
    }
}
