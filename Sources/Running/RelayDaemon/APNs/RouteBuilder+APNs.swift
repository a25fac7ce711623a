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

extension RouteBuilder {
    /// Adds APNs to an app's push services.
    ///
    /// - Throws: `CommandFailure` (78) where a key or the certificate cannot be used.
    func add(_ apns: APNsConfiguration, to route: inout AppRoute, _ app: AppConfiguration) throws {
        let field = AppConfiguration.apnsField(app.key)
        let egress = try egress(apns.egress)
        switch apns.credentials {
        case .keys(let team, let key, let sandbox):
            let both = APNsCredential.key(try tokenSource(team, key, at: "\(field).key"), of: .both)
            let own = try sandbox.map { try tokenSource(team, $0, at: "\(field).sandboxKey.key") }
            let topic = apns.topic ?? app.key.app
            add(apns, to: &route, app, topic, both, sandbox: own.map { .key($0, of: .sandbox) }, egress)
        case .certificate(let files):
            try add(apns, to: &route, app, files, egress, at: field)
        }
        route.secretsNeedRestart = route.secretsNeedRestart || apns.credentials.needRestart
        route.triesOtherEnvironment = apns.triesOtherEnvironment
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

    /// The source of the key's tokens, which all apps that use the key share: Apple counts renewals by key.
    private func tokenSource(_ team: String, _ key: APNsKey, at field: String) throws -> APNsTokenSource {
        let signing: ES256PrivateKey
        do {
            signing = try tokenSources.keys.es256(try key.file.read(environment: environment))
        } catch {
            throw CommandFailure(.configuration, "\(field): \(error)")
        }
        return try tokenSources.apns.source(team: team, keyID: key.keyID, key: signing) { pause in
            try tokenSource(team, key.keyID, signing, pause)
        }
    }

    private func tokenSource(
        _ team: String, _ keyID: String, _ key: ES256PrivateKey, _ pause: CredentialPause
    ) throws -> APNsTokenSource {
        let (sources, keeper) = (
            tokenSources.apns, store.map { StoredProviderTokens(store: $0, team: team, keyID: keyID, log: log) }
        )
        let stored = try keeper?.token(.key)
        if let stored, !APNsTokenSource.isSigned(stored.text, by: key), clock() - stored.issuedAt < .seconds(3_600) {
            log(
                .warning,
                "another key file has signed with this key's id: if it was not exchanged just now, relays have different files",
                [("team", team), ("key", keyID)])
        }
        return APNsTokenSource(
            teamID: team, keyID: keyID, key: key, stored: stored, keeper: keeper, pause: pause,
            onSigned: { sources.noteSigned() })
    }
}
