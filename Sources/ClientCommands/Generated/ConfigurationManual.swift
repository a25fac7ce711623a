// SPDX-License-Identifier: Apache-2.0
import Configuration
import WireFormat

/// upgrade-relay.json5(5), laid out as man-pages(7) wants it. What each key may hold and its default are the reader's own
/// words, so that they cannot be other than what it does; a test holds the list of keys to it. Pure.
enum ConfigurationManual {
    static var text: String {
        var lines = [".\\\" made by \"upgrade-relay generate configuration\""]
        lines += Roff.head("upgrade-relay.json5", section: 5, "File Formats")
        lines += [".SH NAME", "upgrade\\-relay.json5 \\- configuration of upgrade\\-relay"]
        lines += [".SH SYNOPSIS", ".I /etc/upgrade\\-relay/config.json5", ".SH DESCRIPTION"]
        lines += separated(description)
        lines.append(".SH SECRETS")
        lines += separated(secrets)
        lines.append(".SH KEYS")
        let facts = Dictionary(keys.map { ($0.path, $0.facts) }) { first, _ in first }
        for section in sections {
            lines += [".SS \(Roff.escaped(section.name))"] + Roff.paragraph(section.text)
            for key in section.keys {
                lines += [".TP", ".B \(Roff.escaped(key.path))"]
                if let values = facts[key.path] ?? nil { lines += fact(values) }
                lines += Roff.paragraph(key.text)
            }
        }
        lines += [".SH EXAMPLE", "The least that pushes:", ".PP", ".RS 4", ".nf"]
        lines += example.split(separator: "\n").map { Roff.line(String($0)) } + [".fi", ".RE"]
        lines += [
            ".SH FILES", ".TP", ".I /etc/upgrade\\-relay/config.json5", "the configuration", ".TP",
            ".I /usr/share/upgrade\\-relay/config.json5", "a sample: every key with its default and why",
            ".SH SEE ALSO",
            ".BR upgrade\\-relay (1),", ".BR upgrade\\-relay.service (8),", ".BR systemd.exec (5)", ".PP",
            "https://json5.org",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func separated(_ paragraphs: [String]) -> [String] {
        Array(paragraphs.map(Roff.paragraph).joined(separator: [".PP"]))
    }

    /// Without emphasis: a regular expression is full of asterisks.
    private static func fact(_ text: String) -> [String] {
        Roff.paragraph(text.replacing("*", with: "\u{2217}")).map { $0.replacing("\\[u2217]", with: "*") } + [".br"]
    }

    /// Every key that the reader knows, but for the three places of a secret.
    static var keys: [ConfigurationKey] {
        let all = RelayConfiguration.keys((try? JSON5Reader.read(Array(exemplar.utf8)).value) ?? .null)
        let secrets = Set(all.filter { $0.values == .secret }.map(\.path))
        let places = ["file", "credential", "environment"]
        return all.filter { key in
            !secrets.contains { secret in places.contains { key.path == "\(secret).\($0)" } }
        }
    }

    static let example = """
        {
          webhooks: { secrets: [{ credential: "webhook-secret" }] },
          apps: {
            "com.example.app": {
              ios: {
                downloadUrl: "https://apps.apple.com/app/id1173193999",
                apns: { teamId: "ABCDE12345", keyId: "FGHIJ67890",
                        key: { credential: "apns-key" } },
              },
            },
          },
        }
        """

    /// A configuration that leads the reader past every key.
    private static let exemplar = """
        {
          listen: { tls: { certificate: { file: "/c" }, key: { file: "/k" } } },
          webhooks: { secrets: [{ file: "/s", apps: ["com.example.app"] }] },
          notify: [{ url: "https://example.com", secret: { file: "/s" }, events: ["campaign.completed"] }],
          enforce: { userAgents: [{ pattern: "A/{version}", app: "com.example.app", platform: "ios" }] },
          apps: {
            "com.example.app": {
              ios: {
                apns: { certificate: { file: "/c" }, key: { file: "/k" }, password: { file: "/p" },
                        sandboxKey: { keyId: "FGHIJ67891", key: { file: "/k" } } },
                pace: { ratePerSecond: 1, rampUp: {} },
                sources: [{ appStore: { id: 1 } }, { appStoreConnect: { appId: 1, keyId: "2X9R4HXF34",
                  key: { file: "/k" } } }, { launchGate: { url: "https://example.com" } }],
              },
              android: {
                fcm: { serviceAccount: { file: "/k" }, notification: { title: "A" } },
                sources: [{ googlePlay: { key: { file: "/k" } } }],
              },
            },
          },
        }
        """
}
