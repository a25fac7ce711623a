// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
package import VersionSources

extension RelayConfiguration {
    /// All sources to watch, with their present keys.
    ///
    /// - Throws: where a key cannot be read.
    package func sourcePlan(environment: [String: String]) throws -> SourceRunner.Plan {
        SourceRunner.Plan(
            sources: try apps.flatMap { app in
                try app.readySources(environment).map { VersionSource(app: app.key, kind: $0) }
            },
            rules: Dictionary(uniqueKeysWithValues: apps.map { ($0.key, $0.gateRules) }))
    }

    /// `sources` and `holdHours` of one app.
    static func readSources(
        _ reader: ConfigurationReader, into app: inout AppConfiguration, _ egress: EgressConfiguration
    ) {
        let hours = reader.integer("holdHours", default: 24, in: 0...(30 * 24), "a number of hours")
        app.gateRules.hold = .seconds(hours * 3600)
        let list = reader.list("sources")
        for (value, path) in list {
            guard let source = reader.reader(of: value, at: path) else { continue }
            let appStore = source.optionalObject("appStore")
            let connect = source.optionalObject("appStoreConnect")
            let launchGate = source.optionalObject("launchGate")
            let googlePlay = source.optionalObject("googlePlay")
            let given = ["appStore", "appStoreConnect", "launchGate", "googlePlay"].filter { source.raw($0) != nil }
            source.finish()
            if given.count != 1 {
                let right =
                    app.key.platform == .android
                    ? "{ googlePlay: { … } }"
                    : "{ appStore: { … } }, { appStoreConnect: { … } } or { launchGate: { … } }"
                reader.fault(at: path, "\(given.isEmpty ? "names no source" : "names two"); \(right)")
            }
            let platform = app.key.platform
            if let problem = given.compactMap({ foreign($0, to: platform) }).first {
                reader.fault(at: path, problem)
                continue
            }
            // A file needs no egress settings: `readLaunchGate` reports those that are given for it.
            let way = [appStore, connect, launchGate, googlePlay].compactMap(\.self).first?.egress(over: egress)
            if let appStore, let store = readAppStore(appStore) {
                reader.add(.appStore(store), "App Store", at: path, to: &app)
            }
            if let connect, let (store, key) = readAppStoreConnect(connect) {
                reader.add(.appStoreConnect(store), "App Store Connect", at: path, to: &app)
                app.sourceKeys[.appStoreConnect] = key
            }
            if let launchGate, let kind = readLaunchGate(launchGate) { app.sources.append(kind) }
            if let googlePlay { addGooglePlay(googlePlay, at: path, reader, into: &app) }
            if let way, app.sources.count > app.sourceEgress.count { app.sourceEgress.append(way) }
        }
    }

    private static func readAppStore(_ reader: ConfigurationReader) -> AppStoreSource? {
        let number = reader.optionalInteger("id", in: 1...Int.max, "an App Store id")
        let bundleID = reader.string("bundleId") { text in
            (1...155).contains(text.utf8.count) && isOfLettersAndDigits(text, or: ".-_")
                ? nil : "is not a bundle id; letters, digits, dots and hyphens"
        }
        let country = reader.string("country") { text in
            text.utf8.count == 2 && text.allSatisfy { $0.isASCII && $0.isLetter }
                ? nil : "is not a country; two letters, such as \"cn\""
        }
        let server = storeServer(reader, "lookupServer", default: AppStoreSource.apple)
        // Apple allows about twenty calls a minute for all apps together (iTunes Search API). The owner's own server may be
        // asked more often.
        let isApple = server == AppStoreSource.apple
        let every = reader.duration(
            "every", default: "15m", in: .seconds(isApple ? 900 : 1)...(.seconds(86_400)))
        if reader.raw("id") == nil, reader.raw("bundleId") == nil {
            reader.fault(at: reader.path, "says neither id nor bundleId; one of them, best both")
        }
        reader.finish()
        return AppStoreSource(
            trackID: number.map(Int64.init), bundleID: bundleID, country: country?.lowercased(), every: every,
            server: server)
    }

    private static func readLaunchGate(_ reader: ConfigurationReader) -> VersionSource.Kind? {
        let file = reader.file("file")
        let url = reader.string("url") { text in
            let isAddress = text.hasPrefix("https://") || isLoopback(text)
            let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && text.utf8.count <= 2048
            guard isAddress, isPlain else { return "is not an https address (http is taken for this machine only)" }
            // Faults show the address, without its query, to everybody (/readyz).
            return ShownAddress.namesHostAlone(text)
                ? nil
                : "is not an https address without a user; what the server wants to see of us goes into the query, which "
                    + "no fault shows"
        }
        let every = reader.duration("every", default: "5m", in: .seconds(1)...(.seconds(86_400)))
        let given = ["file", "url"].filter { reader.raw($0) != nil }
        for key in ["every", "proxy", "trustedCertificates"] where given == ["file"] && reader.raw(key) != nil {
            reader.fault(key, "is for a url; a file is read when it changes")
        }
        if given.count != 1 {
            reader.fault(at: reader.path, "\(given.isEmpty ? "names no place" : "names two places"); file or url")
        }
        reader.finish()
        return file.map(VersionSource.Kind.launchGateFile)
            ?? url.map { .launchGateURL(LaunchGateURLSource(url: $0, every: every)) }
    }

    /// A store's own server, or a stand-in for it.
    static func storeServer(_ reader: ConfigurationReader, _ key: String, default usual: String) -> String {
        reader.string(key, default: usual) { text in
            (text.hasPrefix("https://") || isLoopback(text)) && ShownAddress.namesHostAlone(text)
                && !text.hasSuffix("/")
                ? nil : "is not a server; an address such as \"\(usual)\", without a user"
        }
    }

    /// Whether the address is plain http to this machine itself, where no attacker can change the traffic on the way.
    package static func isLoopback(_ text: String) -> Bool {
        !text.contains("@")
            && ["http://127.0.0.1", "http://[::1]", "http://localhost"].contains { host in
                text.hasPrefix(host)
                    && (text.count == host.count || [":", "/"].contains(text.dropFirst(host.count).first))
            }
    }
}

extension ConfigurationReader {
    /// - Parameters:
    ///   - name: the store's name.
    ///   - path: the path of the source in the list.
    func add(_ source: VersionSource.Kind, _ name: String, at path: String, to app: inout AppConfiguration) {
        if app.sources.contains(where: { $0.store == source.store }) {
            fault(at: path, "is a second \(name) source; an app has one")
        }
        app.sources.append(source)
    }
}

extension ConfigurationCheck {
    /// Checks the keys and certificates that an app's sources name.
    func checkSources(of app: AppConfiguration, _ report: inout Report) {
        for (index, kind) in app.sources.enumerated() {
            if index < app.sourceEgress.count {
                let list = "apps[\"\(app.key.app)\"].\(app.key.platform.rawValue).sources[\(index)]"
                check(app.sourceEgress[index], "\(list).\(kind.store?.rawValue ?? "launchGate")", &report)
            }
            guard let store = kind.store, let place = app.sourceKeys[store] else { continue }
            let field = "apps[\"\(app.key.app)\"].\(app.key.platform.rawValue).sources[\(index)].\(store.rawValue)"
            if case .googlePlay(let source) = kind {
                checkAccount(place, server: source.server, "\(field).key", &report)
            }
            if case .appStoreConnect = kind { checkSigningKey(place, "\(field).key", &report) }
        }
    }
}
