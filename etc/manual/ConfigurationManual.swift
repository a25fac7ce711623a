// SPDX-License-Identifier: Apache-2.0
import CTexts
import Configuration
import WireFormat

/// upgrade-relay.json5(5), laid out by man-pages(7). The values and the default of each key come from the reader itself, so
/// that they match its behaviour; the purpose of each comes from the sample. Pure.
enum ConfigurationManual {
    private static let description = [
        "JSON5: JSON with comments, trailing commas and keys without quotes. The file is the one that *--config* names, else "
            + "*UPGRADE_RELAY_CONFIG* in the environment, else the one above. Every key has a default, except "
            + "those that only you can know. *null* means the same as leaving a key out, except for *apns* and *listen.tls*.",
        "Files of the folder *config.d* beside that file are part of the configuration if their names end in .json5. They are read in "
            + "the order of their names. Objects are merged; any other key that two files set is an error that names both, "
            + "unless one of them has *null*.",
        "*upgrade-relay check-config* names every error with its field, its value and the remedy, and checks every file "
            + "that is named; *--effective* lists every key in use, with its value and the file that sets it. SIGHUP (*systemctl reload upgrade-relay*) applies a changed file at once. Changes of "
            + "*store*, *listen* (except a renewed certificate, and in *page.identity* all but the names of its headers), *fanOut* and *enforce.headers* need a restart, and the "
            + "log reports it. An invalid file changes nothing.",
        "A duration is text: whole numbers with d, h, m, s or ms, the largest unit first, such as \"7d\" or \"1h30m\".",
        "A secret is never written in the file, only its place, which is one of: { *file*: \"/path\" }, a file; { *credential*: "
            + "\"name\" }, a systemd credential, which *LoadCredential=* in the service's unit provides; { *environment*: "
            + "\"NAME\" }, an environment variable. A line break at its end is ignored.",
    ]

    static var text: String {
        var lines = Roff.head("upgrade-relay.json5", section: 5, "File Formats")
        lines += [".SH NAME", "upgrade\\-relay.json5 \\- configuration of upgrade\\-relay"]
        lines += [".SH SYNOPSIS", ".I /etc/upgrade\\-relay/config.json5", ".SH DESCRIPTION"]
        lines += separated(description)
        lines.append(".SH KEYS")
        lines += Roff.paragraph("The sample below explains each key. *APP* and *PLATFORM* stand for names.")
        let experts = expertKeys
        lines += list(keys.filter { !experts.contains($0.path) })
        lines.append(".SH KEYS FOR EXPERTS")
        lines += Roff.paragraph(
            "The defaults of these suit nearly every relay. The second sample below names the case for each.")
        lines += list(keys.filter { experts.contains($0.path) })
        lines += [".SH EXAMPLE", "The shortest configuration that pushes:", ".PP", ".RS 4", ".nf"]
        lines += example.split(separator: "\n").map { Roff.line(String($0)) } + [".fi", ".RE"]
        lines += [".SH SAMPLE", "Every key with its default and its purpose:", ".PP", ".nf"]
        lines += filled(sample, columns: 72).map(Roff.line) + [".fi"]
        lines += [".SH SAMPLE FOR EXPERTS", ".nf"] + filled(expertSample, columns: 72).map(Roff.line) + [".fi"]
        lines += [
            ".SH FILES", ".TP", ".I /etc/upgrade\\-relay/config.json5", "the configuration", ".TP",
            ".I /etc/upgrade\\-relay/config.d/*.json5", "parts of it", ".TP",
            ".I /usr/share/upgrade\\-relay/config.json5", "the sample", ".TP",
            ".I /usr/share/upgrade\\-relay/expert.json5", "the sample for experts", ".SH SEE ALSO",
            ".BR upgrade\\-relay (1),", ".BR upgrade\\-relay.service (8),", ".BR systemd.exec (5)", ".PP",
            "https://json5.org",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// etc/config.json5
    static let sample = unsafe String(cString: relay_sample())

    /// etc/expert.json5
    static let expertSample = unsafe String(cString: relay_expert_sample())

    /// The paths of the keys that the sample for experts shows.
    static var expertKeys: Set<String> {
        let tree = (try? JSON5Reader.read(Array(uncommented(expertSample).utf8)).value) ?? .null
        let main = (try? JSON5Reader.read(Array(uncommented(sample).utf8)).value) ?? .null
        return Set(paths(tree)).subtracting(paths(main))
    }

    /// A sample with its commented settings in force.
    static func uncommented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { String(setting($0) ?? $0) }
            .joined(separator: "\n")
    }

    /// The paths of all keys of a document, as the manual writes them.
    static func paths(_ value: JSONValue, _ path: String = "") -> [String] {
        switch value {
        case .object(let members):
            members.flatMap { member in
                let name = member.name
                let inner = path == "apps" ? "apps[\"\(name)\"]" : path.isEmpty ? name : "\(path).\(name)"
                return [ConfigurationKey(inner, .list).path] + paths(member.value, inner)
            }
        case .array(let elements): ["\(path)[]"] + elements.flatMap { paths($0, "\(path)[0]") }
        default: []
        }
    }

    private static func list(_ keys: [ConfigurationKey]) -> [String] {
        keys.flatMap { key in key.facts.map { [".TP", ".B \(Roff.escaped(key.path))"] + fact($0) } ?? [] }
    }

    /// The setting in a line of the sample that shows one as a comment.
    static func setting(_ line: Substring) -> Substring? {
        let setting =
            #/^\s*//\s+((?:(?:[a-zA-Z]+|"com\.example\.other"):\s.*|\{ (?:app|google|launch)\w+: .*)[,\[{]|[{}\]],?)(?:\s+//.*)?$/#
        return line.wholeMatch(of: setting)?.output.1
    }

    /// The text with its comments in shorter lines. Settings stay as they are.
    static func filled(_ text: String, columns: Int) -> [String] {
        var lines: [String] = []
        // The prefix of the comment whose line takes further words.
        var open: Substring?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard setting(line) == nil, let head = line.prefixMatch(of: #/\s*//\s+(?=[^\s/])/#)?.output else {
                lines.append(String(line))
                open = nil
                continue
            }
            if open != head { lines.append(String(head.dropLast())) }
            open = head
            for word in line.dropFirst(head.count).split(separator: " ") {
                if lines[lines.count - 1].count + 1 + word.count > columns { lines.append(String(head.dropLast())) }
                lines[lines.count - 1] += " " + word
            }
        }
        return lines
    }

    private static func separated(_ paragraphs: [String]) -> [String] {
        Array(paragraphs.map(Roff.paragraph).joined(separator: [".PP"]))
    }

    /// Without emphasis: a regular expression is full of asterisks.
    private static func fact(_ text: String) -> [String] {
        Roff.paragraph(text.replacing("*", with: "\u{2217}")).map { $0.replacing("\\[u2217]", with: "*") }
    }

    /// Every key that the reader knows, except the three places of a secret.
    static var keys: [ConfigurationKey] {
        let all = RelayConfiguration.keys((try? JSON5Reader.read(Array(exemplar.utf8)).value) ?? .null)
        let secrets = Set(all.filter { $0.values == .secret }.map(\.path))
        let places = ["file", "credential", "environment"]
        // The reader meets a key once for each platform.
        var seen: Set<ConfigurationKey> = []
        return all.filter { key in
            seen.insert(key).inserted
                && !secrets.contains { secret in places.contains { key.path == "\(secret).\($0)" } }
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
          store: { postgres: { url: "postgresql://d/d", password: { file: "/p" } } },
          listen: { tls: { certificate: { file: "/c" }, key: { file: "/k" } },
                    page: { identity: { from: ["127.0.0.1"], rights: { operators: ["status"] } } } },
          webhooks: { secrets: [{ file: "/s", apps: ["com.example.app"] }] },
          notify: [{ url: "https://example.com", secret: { file: "/s" }, events: ["campaign.completed"] }],
          enforce: { userAgents: [{ pattern: "A/{version}", app: "com.example.app", platform: "ios" }] },
          apps: {
            "com.example.app": {
              ios: {
                apns: { certificate: { file: "/c" }, key: { file: "/k" }, password: { file: "/p" },
                        sandboxKey: { keyId: "FGHIJ67891", key: { file: "/k" } } },
                push: { alert: { title: "A", body: "A" }, interruptionLevel: "active" },
                approval: {},
                pace: { ratePerSecond: 1, rampUp: {}, hours: { from: "08:00", to: "22:00", zone: "Asia/Shanghai" } },
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
