// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import Terminal
import UpgradeRules
import VersionSources
package import WireFormat

extension RelayConfiguration {
    /// Reads the document's tree over the defaults.
    ///
    /// - Returns: the configuration, all its faults, and the keys in use; it may be used only where there is no fault.
    static func read(
        _ tree: JSONValue
    ) -> (configuration: RelayConfiguration, faults: [FieldFault], settings: [ConfigurationSetting]) {
        let faults = ConfigurationReader.Faults()
        let configuration = read(tree, faults)
        return (configuration, faults.list, faults.settings)
    }

    /// Every key that is read from the document.
    package static func keys(_ tree: JSONValue) -> [ConfigurationKey] {
        let faults = ConfigurationReader.Faults()
        _ = read(tree, faults)
        return faults.keys
    }

    private static func read(_ tree: JSONValue, _ faults: ConfigurationReader.Faults) -> RelayConfiguration {
        var configuration = RelayConfiguration()
        guard let members = tree.object else {
            faults.list.append(FieldFault("", "\(tree.held) is not a configuration; an object { … } is"))
            return configuration
        }
        let root = ConfigurationReader(members, faults: faults)
        if let reader = root.object("store") { configuration.store = readStore(reader) }
        if let reader = root.object("listen") { configuration.listen = readListen(reader) }
        if let reader = root.object("webhooks") {
            configuration.webhooks.secrets = readWebhookSecrets(reader)
            reader.finish()
        }
        let egress = readEgress(root)
        configuration.egress = egress
        configuration.notify = readNotify(root, egress)
        if let reader = root.object("enforce") { configuration.enforce = readEnforce(reader) }
        if let reader = root.object("fanOut") { configuration.fanOut = readFanOut(reader) }
        if let reader = root.object("log") {
            configuration.log.level = reader.choice(
                "level", default: configuration.log.level, among: LogLevel.allCases.map { ($0.name, $0) }, "a log level"
            )
            configuration.log.format = reader.choice("format", default: configuration.log.format, "a form of the log")
            reader.finish()
        }
        if let reader = root.object("apps") {
            for (name, app) in reader.namedObjects() { configuration.apps += readApp(name, app, egress) }
        }
        root.finish()
        configuration.deprecated = faults.deprecated
        faults.list +=
            configuration.bindingFaults() + configuration.enforceFaults() + configuration.keepFaults()
        return configuration
    }

    /// A reminder goes to users who got the campaign's push, so its deliveries must still be kept.
    private func keepFaults() -> [FieldFault] {
        guard let keep = store.keep else { return [] }
        return apps.compactMap { app in
            guard let last = app.push.reminders.times.last, keep < last else { return nil }
            let place = "apps.\(app.key.app).\(app.key.platform.rawValue).push.remind"
            return FieldFault(
                "store.keep",
                "\(DurationText.exact(keep)) ends before the last reminder of \(place), which comes after "
                    + "\(DurationText.exact(last)): the campaign's deliveries would be gone by then; keep them for as long"
            )
        }
    }

    private static func readStore(_ reader: ConfigurationReader) -> StoreConfiguration {
        var store = StoreConfiguration()
        let postgres = reader.optionalObject("postgres").map(readPostgres)
        if let sqlite = reader.object("sqlite") {
            let path = sqlite.string("path", default: StoreConfiguration.defaultPath, check: absolutePath)
            store.database = .sqlite(path: path)
            store.hasUnusedPath = postgres != nil && sqlite.raw("path") != nil
            sqlite.finish()
        }
        if let postgres { store.database = .postgres(postgres) }
        readKeep(reader, &store)
        reader.finish()
        return store
    }

    /// Reads `keep`. A single duration applies to the deliveries, as in earlier releases, which had no other setting.
    private static func readKeep(_ reader: ConfigurationReader, _ store: inout StoreConfiguration) {
        let most = Duration.seconds(3650 * 86_400)
        guard reader.raw("keep").map({ $0.object != nil }) ?? false else {
            store.keep = reader.optionalDuration("keep", in: .seconds(3600)...most)
            if let text = reader.raw("keep")?.string { reader.deprecate("keep", "keep: { deliveries: \"\(text)\" }") }
            return
        }
        guard let keep = reader.optionalObject("keep") else { return }
        store.keep = keep.optionalDuration("deliveries", in: .seconds(3600)...most)
        let audit = keep.duration("audit", default: "400d", in: .seconds(86_400)...most)
        store.keepAudit = keep.isNull("audit") ? nil : audit
        keep.finish()
    }

    private static func readPostgres(_ reader: ConfigurationReader) -> PostgresConfiguration {
        // Checked only by libpq when it connects: a fault would show the text, which may hold a password.
        var postgres = PostgresConfiguration(url: reader.string("url", shown: .nothing) ?? "")
        if reader.raw("url") == nil {
            reader.fault(
                "url", "missing; where the database is, such as \"postgresql://relay@db1/relay?sslmode=verify-full\"")
        }
        postgres.password = reader.optionalSecret("password")
        postgres.schema = reader.string("schema", default: postgres.schema) { name in
            let isName = name.wholeMatch(of: /[a-z_][a-z0-9_]{0,62}/) != nil && !name.hasPrefix("pg_")
            return isName
                ? nil
                : "is not a schema; lowercase letters, digits and \"_\", 63 at most, not a digit first, and not \"pg_\""
        }
        postgres.connections = reader.integer(
            "connections", default: postgres.connections, in: 5...64, "a number of connections")
        postgres.node = reader.string("node") { name in
            isOfLettersAndDigits(name, or: "._-") && (1...64).contains(name.utf8.count)
                ? nil : "is not a name; letters, digits, \".\", \"_\" and \"-\", 64 at most"
        }
        reader.finish()
        return postgres
    }

    private static func readFanOut(_ reader: ConfigurationReader) -> FanOutConfiguration {
        var fanOut = FanOutConfiguration()
        fanOut.lanes = reader.integer("lanes", default: fanOut.lanes, in: 1...64, "a number of lanes")
        fanOut.batch = reader.integer("batch", default: fanOut.batch, in: 1...10_000, "a batch size")
        fanOut.shardSize = reader.integer(
            "shardSize", default: fanOut.shardSize, in: 100...10_000_000, "a shard size")
        reader.finish()
        return fanOut
    }

    private static func readApp(
        _ name: String, _ reader: ConfigurationReader, _ egress: EgressConfiguration
    ) -> [AppConfiguration] {
        var apps: [AppConfiguration] = []
        // The name becomes a segment of the API's paths.
        let isName = (1...255).contains(name.utf8.count) && isOfLettersAndDigits(name, or: "._-")
        if !isName {
            reader.fault(at: reader.path, "is not a name for an app; letters, digits, dots, hyphens and underscores")
        }
        var platforms: [Platform] = []
        for platform in Platform.allCases {
            guard let section = reader.optionalObject(platform.rawValue) else { continue }
            platforms.append(platform)
            apps.append(readPlatform(AppKey(app: name, platform: platform), section, egress))
        }
        reader.finish()
        if platforms.isEmpty, Platform.allCases.allSatisfy({ reader.raw($0.rawValue) == nil }) {
            reader.fault(at: reader.path, "names no platform; ios: { … }, android: { … } or both")
        }
        // Left out where its name is invalid: other faults would show the name as it is written.
        return isName ? apps : []
    }

    private static func readPlatform(
        _ key: AppKey, _ reader: ConfigurationReader, _ egress: EgressConfiguration
    ) -> AppConfiguration {
        var app = AppConfiguration(key: key)
        app.downloadSchemes = readSchemes(reader)
        let schemes = app.downloadSchemes
        app.downloadURL = reader.string("downloadUrl") {
            DownloadURL.fault(in: $0, schemes: schemes, repeats: false).map { "is no download URL: \($0)" }
        }.map(DownloadURL.sent)
        app.forcePolicy = reader.choice("forcePolicy", default: .manual, "a force policy")
        app.belowMinimumOS = reader.choice("belowMinimumOs", default: .allow, "what becomes of too old a system")
        app.retirement.retireBelow =
            reader.number("retireBelow", usual: "0.01", in: 0.0001...0.5, "a share of the devices")
            ?? app.retirement.retireBelow
        app.retirement.seenWithin = reader.duration(
            "seenWithin", default: "30d", in: RetirementRules.seenEvery * 2...(.seconds(365 * 86_400)))
        app.approval = reader.optionalObject("approval").map(ApprovalRule.init(reading:))
        if let push = reader.object("push") { app.push = PushConfiguration(reading: push, of: key.platform) }
        if let pace = reader.object("pace") {
            app.pace = PaceConfiguration(reading: pace, timeToLive: app.push.timeToLive)
        }
        if let webhooks = reader.object("webhooks") { app.webhooks = readReleaseRules(webhooks) }
        app.readProviders(reader, egress)
        readSources(reader, into: &app, egress)
        reader.finish()
        return app
    }

    private static func readSchemes(_ reader: ConfigurationReader) -> [String] {
        reader.list("downloadSchemes").compactMap { value, path in
            guard let text = value.string else {
                reader.fault(at: path, "\(value.held) is not text; a scheme such as \"itms-apps\"")
                return nil
            }
            if let fault = DownloadURL.fault(inScheme: text) {
                reader.fault(at: path, "\(value.held) \(fault)")
                return nil
            }
            return text
        }
    }
}

// MARK: - Checks of a text

func absolutePath(_ text: String) -> String? {
    text.hasPrefix("/") ? nil : "is not an absolute path; one that begins with /"
}

func isOfLettersAndDigits(_ text: some StringProtocol, or others: String = "") -> Bool {
    text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || others.contains($0)) }
}

func shortText(_ text: String) -> String? {
    text.isEmpty ? "is empty" : text.utf8.count > 255 ? "has \(text.utf8.count) bytes; at most 255" : nil
}

extension ConfigurationReader {
    func server(_ key: String) -> ServerAddress? {
        parsed(key, else: "is not a server; an address such as \"https://127.0.0.1:2197\"") { ServerAddress($0) }
    }
}
