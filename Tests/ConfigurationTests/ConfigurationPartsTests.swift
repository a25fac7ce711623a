// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayStore
import Requirements
import Signing
import TestPeers
import Testing
import UpgradeRules
import WireFormat

@testable import Configuration

/// A configuration in several files.
@Suite struct ConfigurationPartsTests {
    private static let shop = """
        { apps: { "com.example.shop": { ios: { apns: {
            teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { credential: "shop" } } } } } }
        """

    private let folder: String
    private let main: String

    init() throws {
        folder = try TestFolder.make()
        main = "\(folder)/config.json5"
        try FileManager.default.createDirectory(atPath: "\(folder)/config.d", withIntermediateDirectories: true)
    }

    private func write(_ text: String, _ name: String? = nil) throws {
        try Data(text.utf8).write(to: URL(filePath: name.map { "\(folder)/config.d/\($0)" } ?? main))
    }

    private func faults() throws -> [FieldFault] {
        do {
            _ = try ConfigurationFile(path: main).load()
            return []
        } catch {
            return error.faults
        }
    }

    @Test func `Each app may stand in a file of its own`() throws {
        try write(#"{ listen: { address: "127.0.0.1:9000" }, apps: { "com.example.app": { ios: { apns: null } } } }"#)
        try write(Self.shop, "20-shop.json5")
        try write(#"{ listen: { page: false }, apps: { "com.example.app": { android: {} } } }"#, "10-app.json5")
        let whole = try ConfigurationFile(path: main).loadWhole()
        #expect(whole.files == ["\(folder)/config.d/10-app.json5", "\(folder)/config.d/20-shop.json5"])
        #expect("\(whole.configuration.listen.address)" == "127.0.0.1:9000" && !whole.configuration.listen.page)
        let apps = whole.configuration.apps.map { "\($0.key.app) \($0.key.platform.rawValue)" }
        #expect(apps == ["com.example.app ios", "com.example.app android", "com.example.shop ios"])
    }

    @Test func `One file and several make the same configuration`() throws {
        try write("{ log: { level: \"debug\" } }")
        try write(Self.shop, "shop.json5")
        let parted = try ConfigurationFile(path: main).load()
        let text = "{ log: { level: \"debug\" }, " + Self.shop.dropFirst(1)
        #expect(try ConfigurationFile.parse(Array(text.utf8), path: main) == parted)
    }

    @Test func `Without the folder there is one file`() throws {
        try write(Self.shop)
        try FileManager.default.removeItem(atPath: "\(folder)/config.d")
        let whole = try ConfigurationFile(path: main).loadWhole()
        #expect(whole.files.isEmpty && whole.configuration.apps.count == 1)
    }

    @Test func `Files with other endings and hidden ones are passed over`() throws {
        try write(Self.shop)
        for name in ["a.json5~", "a.json5.dpkg-old", ".a.json5", "README"] { try write("{ listen: 7 }", name) }
        #expect(try ConfigurationFile(path: main).loadWhole().files.isEmpty)
    }

    @Test func `A key that two files set is refused, with both`() throws {
        try write(#"{ listen: { address: "127.0.0.1:1" }, notify: [], apps: {} }"#)
        try write(#"{ listen: { address: "127.0.0.1:2" }, log: { level: "debug" }, notify: [] }"#, "a.json5")
        try write(#"{ log: { level: "info" }, log: 7 }"#, "b.json5")
        let (first, second) = ("\(folder)/config.d/a.json5", "\(folder)/config.d/b.json5")
        let found = try faults().map { "\($0)" }
        #expect(
            found.contains("listen.address: is set in \(main) and in \(first); one of them must leave it out"),
            "\(found)")
        #expect(found.contains { $0.hasPrefix("notify: is set in \(main) and in \(first)") })
        // The later of two members of one name counts within a file, and is a fault of its own.
        #expect(found.contains { $0.hasPrefix("log: is set in \(first) and in \(second)") })
        #expect(found.contains { $0.contains("\(second): ") && $0.contains("log") })
    }

    @Test func `null gives way to a value, in either order`() throws {
        try write("{ listen: { tls: null, operations: null }, store: { keep: \"90d\" }, apps: {} }")
        try write(#"{ listen: { operations: "127.0.0.1:9" }, store: { keep: null } }"#, "a.json5")
        let configuration = try ConfigurationFile(path: main).load()
        #expect(configuration.listen.operations.map { "\($0)" } == "127.0.0.1:9")
        #expect(configuration.store.keep == .seconds(90 * 86_400))
        #expect(configuration.listen.isPlainMeant)
    }

    @Test func `A fault names the file that has it`() throws {
        try write(#"{ log: { level: "loud" }, apps: {} }"#)
        try write(
            #"{ apps: { "com.example.shop": { ios: { apns: { teamId: 7 } } } }, listen: { pages: true } }"#, "a.json5")
        let file = "\(folder)/config.d/a.json5"
        let found = try faults()
        let team = try #require(found.first { $0.field.hasSuffix("apns.teamId") })
        #expect(team.field == #"apps["com.example.shop"].ios.apns.teamId"# && team.reason.hasSuffix("(in \(file))"))
        #expect(found.contains { $0.field == "listen.pages" && $0.reason.hasSuffix("(in \(file))") })
        #expect(found.contains { $0.field == "log.level" && !$0.reason.contains("(in ") })
    }

    @Test(arguments: [("{ apps: ", "not JSON5: line 1"), ("7", "is not a configuration"), ("\u{0}", "not JSON5")])
    func `A file that cannot be read is named, and the keys of the others are not called missing`(
        text: String, problem: String
    ) throws {
        try write("{ apps: {} }")
        try write(text, "a.json5")
        let found = try faults()
        #expect(found.count == 1 && found[0].reason.contains("\(folder)/config.d/a.json5"), "\(found)")
        #expect(found[0].reason.contains(problem))
    }

    @Test func `The control socket is found in each file, however broken`() throws {
        try write("{ apps: { ] ")
        try write(#"{ listen: { controlSocket: "/run/a.sock" } }"#, "a.json5")
        #expect(ConfigurationFile(path: main).controlSocket(isNamed: true).path == "/run/a.sock")
    }
}

/// The values in use, as `check-config --effective` lists them.
@Suite struct ConfigurationSettingTests {
    private func settings(_ text: String) throws -> [String: ConfigurationSetting] {
        let path = "\(try TestFolder.make())/config.json5"
        try Data(text.utf8).write(to: URL(filePath: path))
        let list = try ConfigurationFile(path: path).loadWhole().settings
        return Dictionary(list.map { ($0.path, $0) }) { _, last in last }
    }

    @Test func `A key has its value, and one that is left out its default`() throws {
        let settings = try settings(
            #"{ log: { level: "debug" }, apps: { "com.example.app": { ios: { apns: null, downloadUrl: "https://a.example/x" } } } }"#
        )
        #expect(settings["log.level"]?.value == .string("debug") && settings["log.level"]?.isDefault == false)
        #expect(settings["log.format"]?.value == .string("text") && settings["log.format"]?.isDefault == true)
        #expect(settings["listen.limits.connections"]?.value.integer != nil)
        #expect(settings["listen.page"]?.value == .bool(true))
        #expect(settings["store.keep.audit"]?.value ?? .string("400d") == .string("400d"))
        let url = try #require(settings[#"apps["com.example.app"].ios.downloadUrl"#])
        #expect(url.value == .string("https://a.example/x") && url.file?.hasSuffix("/config.json5") == true)
    }

    /// A `null` that turns something off is a decision, as any other value is.
    @Test func `A null that decides something is listed once`() throws {
        let path = "\(try TestFolder.make())/config.json5"
        try Data(
            #"{ listen: { tls: null }, store: { keep: { audit: null } }, apps: { a: { ios: { apns: null } } } }"#.utf8
        ).write(to: URL(filePath: path))
        let list = try ConfigurationFile(path: path).loadWhole().settings
        for key in ["listen.tls", "store.keep.audit", #"apps["a"].ios.apns"#] {
            let found = list.filter { $0.path == key }
            #expect(found.map(\.value) == [.null] && found.first?.file == path, "\(key): \(found)")
        }
    }

    @Test func `Every key with a default is listed, whatever the reader`() throws {
        let text = #"{ apps: { a: { ios: { apns: null }, android: {} } } }"#
        let tree = try JSON5Reader.read(Array(text.utf8)).value
        let listed = Set(RelayConfiguration.read(tree).settings.map { ConfigurationKey($0.path, .requiredText).path })
        let keys = RelayConfiguration.keys(tree).filter { $0.values.usual != nil }
        #expect(keys.count > 40)
        for key in keys { #expect(listed.contains(key.path), "\(key.path)") }
    }

    @Test func `No secret is in a value`() throws {
        let text = """
            { store: { postgres: { url: "host=db password=hush1" } },
              egress: { proxy: { url: "http://proxy.example:3128", user: "relay", password: { file: "/p" } } },
              notify: [{ url: "https://hooks.example.com/services/hush2?key=hush3", format: "slack" }],
              webhooks: { secrets: [{ file: "/s" }] },
              apps: { a: { android: { fcm: { serviceAccount: { file: "/f" }, proxy: "http://u:hush4@proxy.example:1" },
                  downloadUrl: "https://example.com/get?token=hush5" } } } }
            """
        let settings = try settings(text)
        #expect(settings["store.postgres.url"]?.value == .string("…"))
        #expect(settings["egress.proxy.url"]?.value == .string("proxy.example:3128"))
        #expect(settings["egress.proxy.user"]?.value == .string("relay"))
        #expect(settings[#"apps["a"].android.fcm.proxy"#]?.value.string?.contains("proxy.example:1") == true)
        #expect(settings["notify[0].url"]?.value == .string("https://hooks.example.com/…"))
        #expect(settings["webhooks.secrets[0].file"]?.value == .string("/s"))
        for setting in settings.values {
            #expect(!String(decoding: setting.value.bytes(), as: UTF8.self).contains("hush"), "\(setting)")
        }
    }
}

/// Deprecated keys work as before, and draw a warning that names what to write.
@Suite struct DeprecatedKeyTests {
    @Test(arguments: [
        (#"{ store: { keep: "90d" }, apps: {} }"#, "store.keep", #"write keep: { deliveries: "90d" }"#),
        (
            #"{ apps: { a: { ios: { apns: null, webhooks: { sets: "required" } } } } }"#,
            #"apps["a"].ios.webhooks.sets"#, #"write forcePolicy: "every" in the app's own object"#
        ),
        (
            #"{ apps: { a: { ios: { apns: null, webhooks: { sets: "latest" } } } } }"#,
            #"apps["a"].ios.webhooks.sets"#, "write nothing: releases raise the latest version"
        ),
    ])
    func `The warning names the replacement`(text: String, field: String, replacement: String) throws {
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        let warnings = ConfigurationCheck(configuration: configuration, environment: [:]).runFiles().warnings
        let warning = try #require(warnings.first { $0.field == field })
        #expect(warning.reason == "deprecated, and a later release refuses it: \(replacement)")
    }

    @Test func `The new forms draw none`() throws {
        let text =
            #"{ store: { keep: { deliveries: "90d" } }, apps: { a: { ios: { apns: null, forcePolicy: "every" } } } }"#
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        #expect(configuration.deprecated.isEmpty && configuration.apps[0].forcePolicy == .every)
        #expect(configuration.store.keep == .seconds(90 * 86_400))
    }
}

/// Plain HTTP to other machines is warned of, unless it is meant.
@Suite struct PlainListenTests {
    @Test(arguments: [
        ("", false), (#"address: "0.0.0.0:1""#, true), (#"address: "[::]:1""#, true), (#"address: "10.0.0.5:1""#, true),
        (#"address: "127.9.9.9:1""#, false), (#"address: "[::1]:1""#, false),
        (#"address: "0.0.0.0:1", tls: null"#, false),
        (#"address: "0.0.0.0:1", tls: { certificate: { file: "/c" }, key: { file: "/k" } }"#, false),
    ])
    func `Without a certificate an address that other machines reach draws a warning`(listen: String, warns: Bool)
        throws
    {
        let text = "{ listen: { \(listen) }, apps: {} }"
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        let warnings = ConfigurationCheck(configuration: configuration, environment: [:]).runFiles().warnings
        #expect(warnings.contains { $0.field == "listen.tls" } == warns)
    }
}
