// SPDX-License-Identifier: Apache-2.0
import RelayAPI
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
                apps = appNames(reader.list("apps"), at: reader.path(of: "apps"), reader)
            }
            return source.map { WebhooksConfiguration.Secret(source: $0, apps: apps) }
        }
    }

    /// The names of the apps that a secret, or a group of people, is bound to.
    static func appNames(
        _ names: [(value: JSONValue, path: String)], at path: String, _ reader: ConfigurationReader
    ) -> Set<String> {
        for (value, path) in names where value.string == nil {
            reader.fault(at: path, "\(value.held) is not an app's name")
        }
        if names.isEmpty { reader.fault(at: path, "is empty; leave it out for all apps") }
        return Set(names.compactMap(\.value.string))
    }

    /// The faults of app names that are not configured: a mistyped name would bind a secret, or a group of people, to no app.
    func bindingFaults() -> [FieldFault] {
        let known = Set(apps.map(\.key.app))
        let secrets = webhooks.secrets.enumerated().map { ("webhooks.secrets[\($0)].apps", $1.apps) }
        let groups = (listen.identity?.rights ?? [:]).map {
            ("\(Self.placeOfRights(of: $0.key)).apps", $0.value.apps)
        }
        return (secrets + groups.sorted { $0.0 < $1.0 }).flatMap { place, apps in
            (apps ?? []).subtracting(known).sorted().map {
                FieldFault(place, "names \(JSONValue.string($0).held), which is not among the apps")
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
