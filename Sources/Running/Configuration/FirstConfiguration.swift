// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules
import WireFormat

/// A first configuration, of one app on one platform: `upgrade-relay init` writes it.
package struct FirstConfiguration: Sendable, Hashable {
    /// The push service of the app.
    package struct Service: Sendable, Hashable {
        let provider: ProviderName
        /// The name of the file that holds the key, and of systemd's credential for it.
        package let keyName: String
        /// Whether the installed unit passes the key to the service under this name. Default no.
        package var isOfUnit = false
        /// The member of its object that names the key's place.
        let keyMember: String
        /// The members before that, each a text. Default none.
        var facts: [Fact] = []

        struct Fact: Sendable, Hashable {
            var name: String
            var value: String
        }
    }

    /// The way in which the relay learns of new versions.
    package enum Arrival: String, Sendable, CaseIterable {
        /// By a signed request of the release pipeline.
        case webhook
        /// From the App Store, which is asked and raises the latest version.
        case store
        /// By `version set` alone.
        case command
    }

    package static let webhookSecretName = "webhook-secret"

    package var app: AppKey
    package var downloadURL: String
    package var service: Service
    package var arrival: Arrival
    /// The directory of the configuration; the keys are in `secrets` in it.
    package var directory: String
    /// A push service in place of Apple's or Google's, such as a simulator.
    package var server: String?
    /// A PEM file of the certificates that are trusted there.
    package var trustedCertificates: String?

    package init(
        app: AppKey, downloadURL: String, service: Service, arrival: Arrival, directory: String,
        server: String? = nil, trustedCertificates: String? = nil
    ) {
        (self.app, self.downloadURL, self.service, self.arrival) = (app, downloadURL, service, arrival)
        (self.directory, self.server, self.trustedCertificates) = (directory, server, trustedCertificates)
    }

    package var path: String { "\(directory)/config.json5" }
    package var secretsDirectory: String { "\(directory)/secrets" }

    /// Whether it is the systemd service's configuration: systemd passes the secrets, and sets the places of the store and the
    /// socket.
    package var isOfService: Bool { path == RelayConfiguration.defaultPath }

    /// The place of the secret of this name.
    package func place(_ name: String) -> SecretSource {
        isOfService ? .credential(name) : .file("\(secretsDirectory)/\(name)")
    }

    /// The file's text.
    package var text: String { text(key: place(service.keyName), hasWebhookSecret: true) }

    /// - Parameters:
    ///   - key: the place of the key.
    ///   - hasWebhookSecret: whether the webhooks' secret exists at its place.
    package func text(key: SecretSource, hasWebhookSecret: Bool) -> String {
        var text = """
            // The configuration of Upgrade Relay, made by "upgrade-relay init". It is JSON5: comments and trailing commas are allowed.
            // upgrade-relay.json5(5) explains every key and its default; "upgrade-relay check-config" checks the file.
            {

            """
        if !isOfService {
            text += """
                  store: { sqlite: { path: \(Self.quoted("\(directory)/relay.db")) } },
                  listen: { controlSocket: \(Self.quoted("\(directory)/control.sock")) },


                """
        }
        if hasWebhookSecret {
            text += """
                  // Webhooks that raise versions are signed with it: who has it can force every user to upgrade.
                  webhooks: { secrets: [\(Self.text(place(Self.webhookSecretName)))] },


                """
        }
        return text + """
              apps: {
                \(Self.quoted(app.app)): {
                  \(app.platform.rawValue): {
                    // Where users get the new version.
                    downloadUrl: \(Self.quoted(downloadURL)),

                    push: {
                      // The app compares page.type with it.
                      type: "needUpgrade",
                      // The phone shows it, unless the version has a message of its own.
                      alert: "A new version is required.",
                    },

            \(pushes(key))\(sources)      },
                },
              },
            }

            """
    }

    private func pushes(_ key: SecretSource) -> String {
        var members: [String] = []
        if !service.facts.isEmpty {
            members.append(service.facts.map { "\($0.name): \(Self.quoted($0.value))," }.joined(separator: " "))
        }
        members.append("\(service.keyMember): \(Self.text(key)),")
        if let server { members.append("server: \(Self.quoted(server)),") }
        if let trustedCertificates { members.append("trustedCertificates: \(Self.quoted(trustedCertificates)),") }
        let lines = members.map { "          \($0)\n" }.joined()
        return "        \(service.provider.rawValue): {\n\(lines)        },\n"
    }

    private var sources: String {
        guard arrival == .store else { return "" }
        return """

                    // The App Store's newest version becomes the latest one by itself, and a required version waits until it is there.
                    sources: [{ appStore: { bundleId: \(Self.quoted(app.app)) } }],

            """
    }

    private static func text(_ source: SecretSource) -> String {
        switch source {
        case .file(let path): "{ file: \(quoted(path)) }"
        case .credential(let name): "{ credential: \(quoted(name)) }"
        case .environment(let name): "{ environment: \(quoted(name)) }"
        }
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSONValue.string(text).bytes(), as: UTF8.self)
    }
}
