// SPDX-License-Identifier: Apache-2.0
import FanOut
import Foundation
import RelayAPI
import RelayEngine
import RelayStore
import RelayStoreSQLite
import VersionSources

/// The daemon: opens the store, starts the fan-out and the API, waits for a signal, and takes all of it down again.
enum Daemon {
    /// From the first signal to the end: what is in flight gets eight of the ten seconds that an operator is promised.
    private static let timeToLand = Duration.seconds(8)

    static func run(_ configuration: RelayConfiguration, environment: [String: String], log: Log) throws {
        let signals = StopSignals()
        let clock: @Sendable () -> Timestamp = { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

        let store = try SQLiteStore(path: configuration.store.sqlitePath)
        defer { store.close() }
        let routes = try RouteBuilder(store: store, environment: environment).routes(for: configuration)
        let fanOut = try FanOut(
            store: store, routes: routes, configuration: fanOutConfiguration(configuration), log: log, clock: clock)
        let desk = RelayDesk(
            store: store, configuration: configuration, routes: routes, fanOut: fanOut, clock: clock)
        let api = APIServer(
            store: store, control: desk,
            settings: try apiSettings(configuration, environment: environment, clock: clock))
        do {
            try api.start()
        } catch {
            fanOut.stop(within: .zero)
            throw error
        }
        log(
            .notice, "ready",
            [
                ("listen", ListenAddress(host: configuration.listen.address.host, port: api.port ?? 0).description),
                ("controlSocket", configuration.listen.controlSocket),
                ("apps", String(configuration.apps.count)),
            ])

        signals.wait()
        log(.notice, "stopping: what is in flight is finished")
        fanOut.stop(within: timeToLand)
        api.stop()
        log(.notice, "stopped")
    }

    private static func fanOutConfiguration(_ configuration: RelayConfiguration) -> FanOut.Configuration {
        var fanOut = FanOut.Configuration()
        fanOut.lanes = configuration.fanOut.lanes
        fanOut.limits.batchSize = configuration.fanOut.batch
        fanOut.largestShard = configuration.fanOut.shardSize
        return fanOut
    }

    private static func apiSettings(
        _ configuration: RelayConfiguration, environment: [String: String], clock: @escaping @Sendable () -> Timestamp
    ) throws -> APISettings {
        let secrets = try configuration.webhooks.secrets.map { source in
            do {
                return try WebhookSecret(String(decoding: source.read(environment: environment), as: UTF8.self))
            } catch {
                throw CommandFailure(.configuration, "webhooks.secrets: \(error)")
            }
        }
        return APISettings(
            listen: configuration.listen.address, controlSocket: configuration.listen.controlSocket,
            webhookSecrets: { secrets }, clock: clock)
    }
}
