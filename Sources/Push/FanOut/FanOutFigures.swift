// SPDX-License-Identifier: Apache-2.0
import PushProviders
package import RelayEngine
import RelayStore
package import Requirements

/// The fan-out's work since the process began, for metrics. Published once a turn.
package struct FanOutFigures: Sendable {
    /// The causes that keep pushes from one of an app's services.
    struct ServiceState: Sendable {
        var channel: Channel
        var waits: [SendingWait.Cause]
    }

    package var tallies: [AppKey: PushTally] = [:]
    /// Pushes on their way, by app.
    package var requestsOut: [AppKey: Int] = [:]
    package var lastLook: Timestamp?
    /// The apps that have a push service.
    package var apps: [AppKey] = []
    /// The channels that each of them has a push service for, in their order.
    var channels: [AppKey: [Channel]] = [:]
    /// Pushes a second that each app with a pace may send at this moment.
    package var rateLimits: [AppKey: Double] = [:]
    /// The services that were sent to, by app.
    var services: [AppKey: [ServiceState]] = [:]
}

extension FanOut {
    /// The causes that keep an app's pushes from its service, in each of its channels.
    package func channels(of app: AppKey) -> [(name: String, waits: Set<SendingWait.Cause>)] {
        let work = work
        let states = work.services[app] ?? []
        return (work.channels[app] ?? []).map { channel in
            (channel.label(on: app.platform), Set(states.filter { $0.channel == channel }.flatMap(\.waits)))
        }
    }
}
