// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import VersionSources
import WireFormat

extension RelayConfiguration {
    static func readWebhookSecrets(_ reader: ConfigurationReader) -> [WebhooksConfiguration.Secret] {
        reader.list("secrets").compactMap { value, path in
            var apps: Set<String>?
            let source = reader.secret(value, at: path) { reader in
                guard reader.raw("apps") != nil else { return }
                let names = reader.list("apps")
                apps = Set(names.compactMap(\.value.string))
                for (value, path) in names where value.string == nil {
                    reader.fault(at: path, "\(value.held) is not an app's name")
                }
                if names.isEmpty { reader.fault("apps", "is empty; leave it out for all apps") }
            }
            return source.map { WebhooksConfiguration.Secret(source: $0, apps: apps) }
        }
    }

    /// The faults of app names that are not configured: a mistyped name would bind a secret to no app.
    func webhookSecretFaults() -> [FieldFault] {
        let known = Set(apps.map(\.key.app))
        return webhooks.secrets.enumerated().flatMap { index, secret in
            (secret.apps ?? []).subtracting(known).sorted().map {
                FieldFault(
                    "webhooks.secrets[\(index)].apps",
                    "names \(JSONValue.string($0).held), which is not among the apps")
            }
        }
    }

    /// Reads an app's own `webhooks`: the rules for announced releases.
    static func readReleaseRules(_ reader: ConfigurationReader) -> ReleaseRules {
        var rules = ReleaseRules()
        rules.tagPattern =
            reader.parsed("tagPattern", default: rules.tagPattern.text) { try TagPattern($0) } ?? rules.tagPattern
        rules.prereleases = reader.flag("prereleases", default: rules.prereleases)
        rules.repository = reader.string("repository") { text in
            let isName =
                text.contains("/") && !text.contains("//") && text.utf8.count <= 255
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !text.hasPrefix("/") && !text.hasSuffix("/")
            return isName ? nil : "is not a repository; as GitHub or GitLab names it, such as \"owner/name\""
        }
        if reader.raw("sets") != nil {
            rules.sets = reader.choice("sets", default: rules.sets, "what a release raises")
            reader.deprecate(
                "sets",
                rules.sets == .required
                    ? "forcePolicy: \"every\" in the app's own object" : "nothing: releases raise the latest version")
        }
        if reader.raw("canary") != nil {
            let telephones = reader.list("canary")
            rules.canary = telephones.compactMap(\.value.string)
            for (value, path) in telephones
            where value.string.map({ BodyFields.telephoneFault($0) != nil }) ?? true {
                reader.fault(at: path, "\(value.held) is no telephone as devices send it, such as \"13800138000\"")
            }
            if telephones.isEmpty { reader.fault("canary", "is empty; leave it out for everybody at once") }
        }
        reader.finish()
        return rules
    }
}
