// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Terminal
import Testing
import UpgradeRules
import WireFormat

@testable import ClientCommands
@testable import Configuration
@testable import VersionSources

/// Every door by which a bump comes in, against every rule of what a bump may hold (`BumpRules.Rule`). A rule without a sample
/// does not compile, and a file that makes a bump without being a door here fails.
@Suite("Every door of a requirement has the same rules", .ownThread) struct BumpDoorTests {
    enum Door: CaseIterable {
        case request
        case page
        case webhook
        case command
        case gitHub
        /// Any other bump, as webhooks of release tools send it.
        case releaseTool
        /// A store's lookup, a watched file.
        case source

        /// The files that make a bump: each belongs to one door.
        var files: Set<String> {
            switch self {
            // The page's form is sent as a body.
            case .request, .webhook, .page: ["Integrations/VersionSources/BumpBody.swift"]
            case .command, .gitHub: []
            case .releaseTool: ["Serving/RelayAPI/Webhooks/ReleaseRoutes.swift"]
            case .source:
                ["Integrations/VersionSources/SourceLoop.swift", "Integrations/VersionSources/SourceLoop+Stores.swift"]
            }
        }
    }

    private static let app = AppKey(app: RealDaemon.app, platform: .ios)

    private static func bump(_ sample: BumpSample) -> VersionBump {
        var bump = VersionBump(app: app, required: try? Version("2.0.0"))
        sample.inBump(&bump)
        return bump
    }

    /// The bump as a body.
    private static func body(_ bump: VersionBump, isWebhook: Bool = false) -> [UInt8] {
        let message: JSONValue? = bump.message.map { text in
            text.translations.isEmpty
                ? .string(text.text)
                : .object(
                    [JSONMember(name: "*", value: .string(text.text))]
                        + text.translations.map { JSONMember(name: $0.language.text, value: .string($0.text)) })
        }
        var json: JSONValue = [
            "required": bump.required.map { .string($0.text) }, "downloadUrl": bump.downloadURL.map(JSONValue.string),
            "message": message, "telephones": bump.telephones.map { .array($0.map(JSONValue.string)) },
            "builds": bump.builds.required.map { ["required": .integer($0)] },
            "blocked": bump.blocked.isEmpty ? nil : .array(bump.blocked.map { .string($0.text) }),
        ]
        if isWebhook, case .object(let members) = json {
            json = .object(
                members + [
                    JSONMember(name: "app", value: .string(app.app)),
                    JSONMember(name: "platform", value: .string("ios")),
                ])
        }
        return Array(json.text(isPretty: false).utf8)
    }

    /// The reason that a door refuses the sample; nil: it was taken.
    private static func refusal(of sample: BumpSample, at door: Door, _ daemon: RealDaemon) async throws -> String? {
        let bump = bump(sample)
        do {
            switch door {
            case .request:
                let answer = try daemon.ask("PUT", "/v1/apps/\(app.app)/ios/version", body(bump))
                return answer.status == 422 ? answer.text : nil
            case .webhook:
                let answer = try daemon.ask(
                    "POST", "/v1/webhooks/version", body(bump, isWebhook: true), isWebhook: true)
                return answer.status == 422 ? answer.text : nil
            case .page:
                guard let form = form(bump) else { return sample.field }
                let path = "/page/apps/\(app.app)/ios/raise"
                for step in ["plan", "raise"] {
                    let answer = try daemon.ask(
                        "POST", path, Array("\(form)&step=\(step)".utf8), as: "application/x-www-form-urlencoded")
                    // The field with the fault is marked, and no other.
                    let names = answer.text.matches(of: /name="(\w+)"[^>]*aria-invalid/).map { String($0.output.1) }
                    guard answer.status == 422, names.count == 1 else { return nil }
                    if step == "raise" { return names[0] }
                }
            case .gitHub:
                // It carries a version alone.
                guard sample.rule == .versionOfThreeNumbers, let version = bump.required else { return sample.field }
                let release = #"{"tag_name":"v\#(version)","draft":false,"prerelease":false}"#
                let event = #"{"action":"published","release":\#(release)}"#
                let answer = try daemon.ask(
                    "POST", "/v1/webhooks/github/\(app.app)/ios", Array(event.utf8), isWebhook: true)
                return answer.status >= 400 ? answer.text + " required" : nil
            case .command:
                guard let words = words(bump) else { return sample.field }
                let result = await daemon.run(words)
                return result.code == .done ? nil : result.err
            case .releaseTool:
                _ = try daemon.requirements.bump(bump, by: Principal("github", .webhook, via: "github"), receipt: nil) {
                    _, _ in
                    StoredAnswer(status: 200, body: [])
                }
            case .source:
                var bump = bump
                // A source sends none of these.
                if !bump.blocked.isEmpty { return sample.field }
                // The configuration's address wins, so a source's is never sent.
                if bump.downloadURL != nil { return sample.field }
                bump.latest = bump.required
                try daemon.requirements.take(bump, from: "launchGate")
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The form as a browser sends it; nil where it has no field for the bump, or would need several of one.
    private static func form(_ bump: VersionBump) -> String? {
        guard bump.message?.translations.isEmpty ?? true, bump.builds.required == nil else { return nil }
        let fields = [
            ("required", bump.blocked.isEmpty ? bump.required?.text : nil),
            ("blocked", bump.blocked.isEmpty ? nil : bump.blocked.map(\.text).joined(separator: ", ")),
            ("downloadUrl", bump.downloadURL), ("message", bump.message?.text),
            ("telephones", bump.telephones?.joined(separator: "\n")),
        ]
        func encoded(_ text: String) -> String { text.utf8.map { "%" + Hex.encode([$0]) }.joined() }
        return fields.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }.joined(separator: "&")
    }

    /// nil where no command line is that long, or the command has no such option.
    private static func words(_ bump: VersionBump) -> [String]? {
        var words = ["version", bump.blocked.isEmpty ? "set" : "block", app.app, "ios"]
        if bump.blocked.isEmpty { words += ["--required", bump.required?.text ?? ""] }
        words += bump.blocked.map(\.text)
        if let url = bump.downloadURL { words += ["--download-url", url] }
        if let message = bump.message {
            words += ["--message", message.translations.isEmpty ? message.text : "*=\(message.text)"]
            for text in message.translations { words += ["--message", "\(text.language)=\(text.text)"] }
        }
        guard (bump.telephones?.count ?? 0) < 1000 else { return nil }
        for telephone in bump.telephones ?? [] { words += ["--canary", telephone] }
        if let code = bump.builds.required { words += ["--required-build", String(code)] }
        return words
    }

    @Test(arguments: Door.allCases)
    func refuses(at door: Door) async throws {
        let daemon = try RealDaemon()
        for sample in BumpSample.all {
            let refusal = try await Self.refusal(of: sample, at: door, daemon)
            let field = sample.rule == .codeIsInRange && door == .command ? "build" : sample.field
            #expect(refusal?.contains(field) == true, "\(sample) at \(door): \(refusal?.prefix(300) ?? "taken")")
        }
        #expect(try daemon.record(of: Self.app) == nil, "nothing was changed by any of them")
    }

    @Test("Every file that makes a bump is a door here")
    func doors() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
        let makers = try files.filter { $0.hasSuffix(".swift") }.filter { file in
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            return text.contains("VersionBump(")
        }
        let known = Door.allCases.reduce(into: Set<String>()) { $0.formUnion($1.files) }
        #expect(Set(makers) == known)
    }

    // MARK: The configuration

    private static func faults(_ ios: String) -> [FieldFault] {
        let text = """
            { apps: { "com.example.app": { ios: { apns: null, \(ios) } } } }
            """
        do {
            _ = try ConfigurationFile.parse(Array(text.utf8), path: "test")
            return []
        } catch {
            return error.faults
        }
    }

    @Test("What the configuration says where a bump says nothing is judged by the same rules")
    func configuration() throws {
        func literal(_ text: String) -> String { JSONValue.string(text).text(isPretty: false) }
        for sample in BumpSample.all {
            let bump = Self.bump(sample)
            if let url = bump.downloadURL {
                let faults = Self.faults("downloadUrl: \(literal(url))")
                #expect(faults.contains { $0.field.hasSuffix("downloadUrl") }, "\(sample): \(faults)")
            }
            if let message = bump.message, message.translations.isEmpty {
                for alert in [literal(message.text), "{ body: \(literal(message.text)) }"] {
                    let faults = Self.faults("push: { alert: \(alert) }")
                    #expect(faults.contains { $0.field.contains("alert") }, "\(sample): \(faults)")
                }
            }
        }
        let good = "https://apps.apple.com/cn/app/微信/id414478124"
        let text = "{ apps: { \"com.example.app\": { ios: { apns: null, downloadUrl: \"\(good)\" } } } }"
        let app = try #require(try ConfigurationFile.parse(Array(text.utf8), path: "test").apps.first)
        #expect(app.downloadURL == "https://apps.apple.com/cn/app/%E5%BE%AE%E4%BF%A1/id414478124")
    }
}
