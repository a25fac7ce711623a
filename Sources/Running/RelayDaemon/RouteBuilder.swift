// SPDX-License-Identifier: Apache-2.0
import Configuration
import CurlTransport
import FanOut
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
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
        // One source for each key, so that apps that use the key share its token (Apple counts renewals by key).
        var sources: [KeyName: APNsTokenSource] = [:]
        func source(_ team: String, _ key: APNsKey, _ field: String) throws -> APNsTokenSource {
            let name = KeyName(team: team, key: key.keyID, secret: key.file)
            let source = try sources[name] ?? tokenSource(name, at: field)
            sources[name] = source
            return source
        }
        return try configuration.apps.compactMap { app in
            var route = route(app)
            if let apns = app.apns {
                let field = AppConfiguration.apnsField(app.key)
                let egress = try egress(apns.egress)
                switch apns.credentials {
                case .keys(let team, let key, let sandbox):
                    let both = APNsCredential.key(try source(team, key, "\(field).key"), of: .both)
                    let own = try sandbox.map { try source(team, $0, "\(field).sandboxKey.key") }
                    let topic = apns.topic ?? app.key.app
                    add(apns, to: &route, app, topic, both, sandbox: own.map { .key($0, of: .sandbox) }, egress)
                case .certificate(let files):
                    try add(apns, to: &route, app, files, egress, at: field)
                }
                route.secretsNeedRestart = apns.credentials.needRestart
                route.triesOtherEnvironment = apns.triesOtherEnvironment
            }
            if let fcm = app.fcm { try add(fcm, to: &route, app) }
            return route.channels.isEmpty ? nil : route
        }
    }

    private func add(
        _ apns: APNsConfiguration, to route: inout AppRoute, _ app: AppConfiguration, _ files: APNsCertificateFiles,
        _ egress: Egress, at field: String
    ) throws {
        do {
            let certificate = try files.read(at: field, environment: environment)
            add(
                apns, to: &route, app, try apns.topic(of: certificate, at: field),
                .certificate(certificate, in: .production), sandbox: .certificate(certificate, in: .sandbox), egress,
                ClientIdentity(chain: certificate.chain, privateKey: certificate.privateKey))
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    private struct KeyName: Hashable {
        var team: String
        var key: String
        var secret: SecretSource
    }

    private func tokenSource(_ name: KeyName, at field: String) throws -> APNsTokenSource {
        let key: ES256PrivateKey
        do {
            key = try tokenSources.keys.es256(try name.secret.read(environment: environment))
        } catch {
            throw CommandFailure(.configuration, "\(field): \(error)")
        }
        return try tokenSources.source(team: name.team, keyID: name.key, key: key) { pause in
            try tokenSource(name, key, pause)
        }
    }

    private func tokenSource(
        _ name: KeyName, _ key: ES256PrivateKey, _ pause: CredentialPause
    ) throws -> APNsTokenSource {
        let (tokenSources, keeper) = (
            tokenSources, store.map { StoredProviderTokens(store: $0, team: name.team, keyID: name.key, log: log) }
        )
        let stored = try keeper?.token(.key)
        if let stored, !APNsTokenSource.isSigned(stored.text, by: key), clock() - stored.issuedAt < .seconds(3_600) {
            log(
                .warning,
                "another key file has signed with this key's id: if it was not exchanged just now, relays have different files",
                [("team", name.team), ("key", name.key)])
        }
        return APNsTokenSource(
            teamID: name.team, keyID: name.key, key: key, stored: stored, keeper: keeper, pause: pause,
            onSigned: { tokenSources.noteSigned() })
    }

    private func add(
        _ apns: APNsConfiguration, to route: inout AppRoute, _ app: AppConfiguration, _ topic: String,
        _ credential: APNsCredential, sandbox: APNsCredential?, _ egress: Egress, _ identity: ClientIdentity? = nil
    ) {
        let settings = APNsProvider.Settings(topic: topic, priority: app.push.priority)
        func service(_ server: ServerAddress, _ credential: APNsCredential) -> ChannelRoute {
            var pool = pool(.apns, server, egress, connections: apns.connections)
            pool.dialer.clientIdentity = identity
            return ChannelRoute(APNsProvider(settings: settings, credential: credential), pool)
        }
        route.add(
            .apns, service(apns.server, credential), sandbox: service(apns.sandboxServer, sandbox ?? credential))
    }

    // MARK: All providers

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
