// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayAPI
import RelayEngine
import Requirements
import TestPeers
import Testing
import VersionSources
import WireFormat

@testable import ClientCommands
@testable import Configuration
@testable import Terminal
@testable import manual
@testable import upgrade_relay

/// Manual pages and sample name exactly the keys that the reader of the configuration knows.
@Suite struct ManualTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    // MARK: upgrade-relay.json5(5)

    @Test func `What leads the reader past every key enters every object`() {
        let keys = ConfigurationManual.keys
        for object in keys where object.facts == nil {
            #expect(keys.contains { $0.path.hasPrefix("\(object.path).") }, "\(object.path)")
        }
    }

    @Test func `The page says the reader's own limits and defaults`() {
        let page = ConfigurationManual.text.replacing("\\-", with: "-").replacing("\\e", with: "\\")
        #expect(page.contains("\n.B fanOut.lanes\nA whole number from 1 to 64. Default: 1.\n.TP\n"))
        #expect(page.contains("\n.B store.keep\nA duration from \"1h\" to \"3650d\".\n.TP\n"))
        #expect(page.contains("\n.B listen.limits.idleTime\nA duration from \"1s\" to \"1h\". Default: \"30s\".\n"))
        #expect(page.contains("\n.B apps.APP.PLATFORM.push.priority\n1, 5 or 10. Default: 10.\n.TP\n"))
        #expect(page.contains("\n.B store.sqlite.path\nText. Default: \"/var/lib/upgrade-relay/relay.db\".\n.TP\n"))
        #expect(page.contains(#"Text. Default: "^v?(\d+(?:\.\d+)*)$"."#))
        #expect(page.contains("\n.B apps.APP.PLATFORM.apns.key\nThe place of a secret.\n.TP\n"))
    }

    @Test func `The example of the page is a configuration`() throws {
        let configuration = try ConfigurationFile.parse(Array(ConfigurationManual.example.utf8), path: "example")
        #expect(configuration.apps.count == 1)
    }

    @Test func `The page shows the whole sample, in lines that a terminal holds`() throws {
        #expect(ConfigurationManual.sample == (try Self.file("etc/config.json5")))
        let lines = ConfigurationManual.filled(ConfigurationManual.sample, columns: 72)
        #expect(lines.count > 300)
        func words(_ text: some Collection<Character>) -> [String] {
            String(text).split(whereSeparator: \.isWhitespace).map(String.init).filter { $0 != "//" }
        }
        #expect(words(lines.joined(separator: "\n")) == words(ConfigurationManual.sample))
        for line in lines where ConfigurationManual.setting(line[...]) == nil && line.contains("// ") {
            #expect(line.count <= 72 || !line.drop { $0 == " " }.hasPrefix("//") || line.contains(" // "), "\(line)")
        }
    }

    // MARK: etc/config.json5

    /// Both samples as the files of one configuration; with `all`, their commented settings are in force.
    private static func samples(all: Bool) throws -> EffectiveConfiguration {
        let folder = try TestFolder.make()
        try FileManager.default.createDirectory(atPath: "\(folder)/config.d", withIntermediateDirectories: true)
        for (name, place) in [("config.json5", "config.json5"), ("expert.json5", "config.d/expert.json5")] {
            let text = try file("etc/\(name)")
            let shown = all ? ConfigurationManual.uncommented(text) : text
            try Data(shown.utf8).write(to: URL(filePath: "\(folder)/\(place)"))
        }
        return try ConfigurationFile(path: "\(folder)/config.json5").loadWhole()
    }

    @Test func `The samples show every key of the reader, each in one of them, and none that it refuses`() throws {
        // A key that both show would be a fault.
        _ = try Self.samples(all: true)
        let samples = [ConfigurationManual.sample, ConfigurationManual.expertSample].map(
            ConfigurationManual.uncommented)
        let shown = try samples.flatMap { ConfigurationManual.paths(try JSON5Reader.read(Array($0.utf8)).value) }
        #expect(Set(ConfigurationManual.keys.map(\.path)).subtracting(shown) == [])
    }

    @Test func `The keys for experts have a part of their own`() throws {
        #expect(ConfigurationManual.expertSample == (try Self.file("etc/expert.json5")))
        let keys = ConfigurationManual.expertKeys
        #expect(keys.isSuperset(of: ["fanOut.lanes", "listen.limits.threads", "apps.APP.PLATFORM.apns.connections"]))
        let page = ConfigurationManual.text.replacing("\\-", with: "-")
        let part = try #require(page.firstRange(of: ".SH KEYS FOR EXPERTS")?.upperBound)
        let end = try #require(page.firstRange(of: "\n.SH EXAMPLE")?.lowerBound)
        for key in ConfigurationManual.keys where key.facts != nil {
            let places = page[..<end].ranges(of: "\n.B \(key.path)\n")
            // Twice where its default differs by platform.
            #expect((1...2).contains(places.count), "\(key.path)")
            #expect(places.allSatisfy { ($0.lowerBound > part) == keys.contains(key.path) }, "\(key.path)")
        }
    }

    @Test func `What the sample shows as a comment is the default`() throws {
        let text = try Self.file("etc/config.json5")
        let plain = try Self.samples(all: false).configuration
        var shown = try Self.samples(all: true).configuration
        // These four are examples.
        #expect(shown.listen.identity != nil)
        shown.listen.identity = nil
        #expect(shown.listen.tls != nil && shown.notify.count == 1 && shown.webhooks.secrets.first?.apps != nil)
        (shown.listen.tls, shown.notify) = (nil, [])
        shown.webhooks.secrets[0].apps = nil
        // So is this one.
        #expect(shown.enforce.agents.count == 1)
        shown.enforce.agents = []
        #expect(shown.enforce == plain.enforce)
        // And this one.
        guard case .postgres(let postgres) = shown.store.database else {
            throw FieldFault("store", "the sample shows a database")
        }
        #expect(postgres.schema == "upgrade_relay" && postgres.connections == 8)
        #expect(shown.store.keep == plain.store.keep)
        #expect(plain.store.database == .sqlite(path: StoreConfiguration.defaultPath))
        #expect(text.contains("// path: \"\(StoreConfiguration.defaultPath)\""))
        #expect(shown.listen == plain.listen)
        #expect(shown.webhooks == plain.webhooks && shown.fanOut == plain.fanOut && shown.log == plain.log)
        let app = try #require(plain.apps.first)
        var same = try #require(shown.apps.first { $0.key == app.key })
        // An example: one key serves both environments.
        guard case .keys(let team, let key, sandbox: .some)? = same.apns?.credentials else {
            throw FieldFault("apns", "the sample shows a sandboxKey")
        }
        same.apns?.credentials = .keys(teamID: team, key, sandbox: nil)
        #expect(same.sources.count == 4)
        (same.sources, same.sourceKeys, same.sourceEgress) = ([], [:], [])
        // An example too: without a rate there is no ramp, without waves nothing between them.
        #expect(same.pace.pace?.rampUp != nil && same.pace.waves?.count == 3)
        #expect(same.pace.waveRules?.failedShare == 0.05)
        #expect(same.pace.waveRules?.pause == .seconds(600) && same.pace.waveRules?.needsApproval == false)
        same.pace = PaceConfiguration()
        #expect(same.push.reminders.times.count == 2)
        same.push.reminders = ReminderSchedule([])
        // The title.
        #expect(same.push != app.push)
        same.push.words = app.push.words
        #expect(same.webhooks.canary?.count == 1)
        same.webhooks.canary = nil
        #expect(same.webhooks.repository == "owner/name")
        same.webhooks.repository = nil
        // One person is enough where it is left out.
        #expect(same.approval == ApprovalRule(above: 1000, within: .seconds(86_400)))
        same.approval = nil
        #expect(same == app)
    }

    // MARK: All pages

    private static func pages() throws -> [(name: String, text: String)] {
        ManualPage.pages + [
            ("upgrade-relay.json5.5", ConfigurationManual.text),
            ("upgrade-relay.service.8", try file("etc/man/upgrade-relay.service.8")),
        ]
    }

    private static let judges: [(tool: String, arguments: [String])] = [
        ("mandoc", ["-Tlint", "-Wstyle"]), ("groff", ["-man", "-ww", "-z", "-Kascii"]),
    ]

    @Test(arguments: judges) func `The pages please who reads them`(tool: String, arguments: [String]) throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: "/usr/bin/\(tool)"),
            "there is no /usr/bin/\(tool); \"make test\" installs it")
        for (name, text) in try Self.pages() {
            #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(name) is ASCII")
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)-\(name)")
            try Data(text.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/\(tool)")
            process.arguments = arguments + [file.path]
            let output = Pipe()
            (process.standardOutput, process.standardError) = (output, output)
            try process.run()
            let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(said.isEmpty && process.terminationStatus == 0, "\(name): \(said)")
        }
    }

    @Test func `Each page names its number, the release and its day`() throws {
        for (name, text) in try Self.pages() {
            let parts = name.split(separator: ".")
            let title = parts.dropLast().joined(separator: ".").uppercased().replacing("-", with: "\\-")
            let head =
                ".TH \(title) \(parts.last ?? "") \(CommandLineTool.released) "
                + "\"upgrade\\-relay \(CommandLineTool.version)\""
            #expect(text.contains("\n\(head)"), "\(name)")
        }
        let day = try #require(CommandLineTool.released.wholeMatch(of: #/(\d{4})-(\d\d)-(\d\d)/#)?.output)
        let changelog = try Self.file("etc/debian/changelog")
        #expect(changelog.hasPrefix("upgrade-relay (\(CommandLineTool.version)-"))
        let signed = try #require(changelog.firstMatch(of: #/ -- .*  \w+, (\d+) \w+ (\d{4}) /#)?.output)
        #expect(Int(signed.1) == Int(day.3) && signed.2 == day.1)
        #expect(
            try Self.file("CHANGELOG.md").contains("## [\(CommandLineTool.version)] - \(CommandLineTool.released)\n"))
    }
}
