// SPDX-License-Identifier: Apache-2.0
import Configuration
import CurlTransport
import FanOut
import HTTP2
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import Terminal

/// Makes the fan-out's routes from the configuration: reads keys, finds stored provider tokens, sets servers.
struct RouteBuilder {
    /// Keeps provider tokens for the next start; nil: they are not kept.
    let store: (any RelayStore)?
    let environment: [String: String]
    let tokenSources: TokenSources
    let log: Log
    let clock: @Sendable () -> Timestamp

    /// - Throws: `CommandFailure` (78) where a key or a certificate cannot be used.
    func routes(for configuration: RelayConfiguration) throws -> [AppRoute] {
        try configuration.apps.compactMap { app in
            var route = route(app)
            for provider in ProviderName.all(on: app.key.platform) {
                try provider.wiring.add(to: &route, of: app, by: self)
            }
            return route.channels.isEmpty ? nil : route
        }
    }

    /// - Throws: `CommandFailure` (78) where a proxy's secret cannot be read.
    func egress(_ configuration: EgressConfiguration) throws -> Egress {
        do {
            return try configuration.egress(environment: environment)
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    func pool(
        _ destination: Destination, _ server: ServerAddress, _ egress: Egress, connections: Int
    ) -> PoolConfiguration {
        var pool = PoolConfiguration(
            destination, egress: egress, origin: Origin(host: server.host, port: server.port))
        pool.maximumConnections = connections
        return pool
    }

    /// An app's route, without its push services.
    private func route(_ app: AppConfiguration) -> AppRoute {
        var route = AppRoute(
            app: app.key, channels: [:], pushType: app.push.type, words: app.push.words, downloadURL: app.downloadURL,
            timeToLive: app.push.timeToLive)
        route.secretsNeedRestart = false
        route.pace = app.pace.pace
        route.hours = app.pace.hours
        route.waves = app.pace.waves
        route.waveRules = app.pace.waveRules
        route.reminders = app.push.reminders
        return route
    }
}
