// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import UpgradeRules

extension AppConfiguration {
    /// For an iOS app.
    package var apns: APNsConfiguration? {
        get { providers[APNsConfiguration.self] }
        set { providers[APNsConfiguration.self] = newValue }
    }
}

extension APNsConfiguration: ProviderConfiguration {
    static let provider = ProviderName.apns

    static var missing: String? {
        let others = ConfigurationReader.alternatives(ProviderName.all(on: .ios).dropFirst().map(\.rawValue))
        return
            "missing; { teamId, keyId, key } or { certificate, key } say how to push to this app, or \(others) does; null says "
            + "that it only asks at login"
    }

    init(
        reading reader: ConfigurationReader, in section: ConfigurationReader, of app: inout AppConfiguration,
        _ egress: EgressConfiguration
    ) {
        self.init(credentials: Self.readCredentials(reader), topic: reader.string("topic", check: shortText))
        if case .keys = credentials, topic == nil { topic = app.key.app }
        readServers(reader)
        triesOtherEnvironment = reader.flag("tryOtherEnvironment", default: triesOtherEnvironment)
        if triesOtherEnvironment, server == sandboxServer {
            reader.fault(
                "tryOtherEnvironment",
                "true needs two servers, and both are \(server); name a sandboxServer, or leave this out")
        }
        self.egress = reader.egress(over: egress, tookPasswords: true)
        connections = reader.integer("connections", default: connections, in: 1...100, "a number of connections")
        reader.finish()
    }

    private mutating func readServers(_ reader: ConfigurationReader) {
        if let port = reader.optionalInteger("port", in: 1...65535, "a port").flatMap({ UInt16(exactly: $0) }) {
            (server.port, sandboxServer.port) = (port, port)
            for key in ["server", "sandboxServer"] where reader.raw(key) != nil {
                reader.fault(
                    "port", "is of Apple's servers, and there is a \(key), whose address has its own; leave out one")
            }
        }
        let own = (server: reader.server("server"), sandbox: reader.server("sandboxServer"))
        if let server = own.server {
            // Apple's server at another port is not the owner's own server: development builds still use Apple's sandbox.
            let isApples = server.host.lowercased() == Self.production
            self.server = server
            // The owner's own server stands for both environments unless a sandbox is named: a test must not leak to Apple.
            sandboxServer = isApples ? ServerAddress(host: sandboxServer.host, port: server.port) : server
            sandboxFollowsServer = !isApples && own.sandbox == nil
        }
        if let sandbox = own.sandbox { sandboxServer = sandbox }
    }

    private static let production = "api.push.apple.com"

    private static func readCredentials(_ reader: ConfigurationReader) -> APNsCredentials {
        guard reader.raw("certificate") != nil else { return readKeys(reader) }
        // Read nevertheless, to find other faults in these keys.
        _ = reader.string("teamId", check: tenCharacters)
        _ = reader.string("keyId", check: tenCharacters)
        _ = readSandboxKey(reader, beside: nil)
        for key in ["teamId", "keyId", "sandboxKey"] where reader.raw(key) != nil {
            reader.fault(
                key,
                "goes with a key that signs tokens, and there is a `certificate`; leave out one of the two")
        }
        return .certificate(
            APNsCertificateFiles(
                certificate: reader.optionalSecret("certificate") ?? .file(""), key: reader.optionalSecret("key"),
                password: reader.optionalSecret("password")))
    }

    private static func readKeys(_ reader: ConfigurationReader) -> APNsCredentials {
        let teamID = reader.requiredString(
            "teamId", "the ten characters of your Apple developer team", check: tenCharacters)
        let key = APNsKey(
            keyID: reader.requiredString("keyId", "the ten characters of the signing key", check: tenCharacters),
            file: reader.requiredSecret("key", "where the .p8 file is") ?? .file(""))
        if reader.raw("password") != nil {
            reader.fault("password", "goes with a `certificate`, and there is none; a .p8 file has no password")
        }
        return .keys(teamID: teamID, key, sandbox: readSandboxKey(reader, beside: key))
    }

    /// - Parameter key: the other environment's key.
    private static func readSandboxKey(_ reader: ConfigurationReader, beside key: APNsKey?) -> APNsKey? {
        guard let reader = reader.optionalObject("sandboxKey") else { return nil }
        let sandbox = APNsKey(
            keyID: reader.requiredString(
                "keyId", "the ten characters of the sandbox's signing key", check: tenCharacters),
            file: reader.requiredSecret("key", "where the .p8 file of the sandbox's key is") ?? .file(""))
        if let key, !sandbox.keyID.isEmpty, sandbox.keyID == key.keyID {
            reader.fault(
                "keyId", "\"\(key.keyID)\" is the other key's, too; leave sandboxKey out where one key serves both")
        }
        reader.finish()
        return sandbox
    }
}

/// Apple's team and key ids have ten characters (Apple, "Establishing a token-based connection to APNs").
private func tenCharacters(_ text: String) -> String? {
    text.utf8.count == 10 && isOfLettersAndDigits(text) ? nil : "is not ten letters and digits"
}
