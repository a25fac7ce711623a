// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
package import Requirements
import UpgradeRules

/// A bump that breaks one rule, and the same fault in another program's row.
package struct BumpSample: Sendable, CustomStringConvertible {
    package let rule: BumpRules.Rule
    /// The refused field, or the beginning of its path.
    package let field: String
    package let inBump: @Sendable (inout VersionBump) -> Void
    /// nil: a row of `version` has no such thing, or the schema refuses it.
    package let inRow: (@Sendable (inout Requirement) -> Void)?

    package var description: String { rule.rawValue }

    private static func version(_ text: String) -> Version { (try? Version(text)) ?? .zero }

    package static let all: [BumpSample] = BumpRules.Rule.allCases.map { rule in
        // A rule without a line does not compile.
        switch rule {
        case .versionOfThreeNumbers:
            // The row of the subject has a version of its own.
            BumpSample(rule: rule, field: "required", inBump: { $0.required = version("2.5.0.1") }, inRow: nil)
        case .addressIsReadByPhones:
            BumpSample(
                rule: rule, field: "downloadUrl", inBump: { $0.downloadURL = "https://例子.cn/app" },
                inRow: { $0.downloadURL = "https://example.com/a\u{200B}b" })
        case .addressIsOfAnAllowedScheme:
            BumpSample(
                rule: rule, field: "downloadUrl", inBump: { $0.downloadURL = "javascript:alert(1)" },
                inRow: { $0.downloadURL = "javascript:alert(1)" })
        case .messageIsPlain:
            BumpSample(
                rule: rule, field: "message", inBump: { $0.message = "a \u{202E} b" },
                inRow: { $0.message = "\u{1B}[31mred" })
        case .messageIsShort:
            BumpSample(
                rule: rule, field: "message",
                inBump: { $0.message = LocalizedText(String(repeating: "a", count: 1001)) },
                inRow: { $0.message = LocalizedText(String(repeating: "a", count: 3 << 20)) })
        case .messageHasFewLanguages:
            BumpSample(
                rule: rule, field: "message",
                inBump: { $0.message = LocalizedText("a", languages()) },
                inRow: { $0.message = LocalizedText("a", languages()) })
        case .telephoneIsPlain:
            BumpSample(
                rule: rule, field: "telephones", inBump: { $0.telephones = ["138\u{200B}"] },
                inRow: { ($0.canary, $0.reach) = (["138\u{200D}"], 0) })
        case .telephoneIsShort:
            BumpSample(
                rule: rule, field: "telephones", inBump: { $0.telephones = [String(repeating: "1", count: 65)] },
                inRow: { ($0.canary, $0.reach) = ([String(repeating: "1", count: 65)], 0) })
        case .telephonesAreFew:
            BumpSample(
                rule: rule, field: "telephones",
                inBump: { $0.telephones = Array(repeating: "1", count: BumpRules.mostTelephones + 1) },
                inRow: { ($0.canary, $0.reach) = (Array(repeating: "1", count: BumpRules.mostTelephones + 1), 0) })
        case .codeIsInRange:
            BumpSample(
                rule: rule, field: "builds.required", inBump: { $0.builds.required = 0 }, inRow: { $0.build = 1 << 40 })
        case .blocksAreFew:
            BumpSample(
                rule: rule, field: "blocked", inBump: { $0.blocked = (1...21).map { version("1.\($0)") } }, inRow: nil)
        }
    }

    private static func languages() -> [LocalizedText.Translation] {
        var translations: [LocalizedText.Translation] = []
        for first in "abcde" {
            for second in "abcdefghijklmnopqrstuvwxyz" {
                if let tag = LanguageTag("\(first)\(second)") { translations.append(.init(tag, "b")) }
            }
        }
        return translations
    }
}

// MARK: Another program's row, in a database

extension BumpSample {
    /// The statement by which another program writes the row; nil if the table has no such thing, or its CHECKs refuse it.
    package func statement(for app: AppKey) -> String? {
        guard let inRow, rule != .messageHasFewLanguages, rule != .codeIsInRange else { return nil }
        var row = Requirement(
            id: 1, kind: .required, version: Self.version("2.0.0"), state: .asked, isGated: true,
            changed: Signature(by: "ops", via: "database", at: Timestamp(seconds: 0)))
        inRow(&row)
        func literal(_ text: String?) -> String { text.map { "'" + $0.replacing("'", with: "''") + "'" } ?? "NULL" }
        let telephones = row.canary.map { "[" + $0.map { "\"\($0)\"" }.joined(separator: ",") + "]" }
        return "INSERT INTO version (app, platform, required, download_url, message, telephones, changed_by) VALUES ("
            + [app.app, app.platform.rawValue, "2.0.0", row.downloadURL, row.message?.text, telephones, "ops"]
            .map(literal).joined(separator: ", ") + ")"
    }

    /// Checks that a row which breaks the rule waits with the reason, in a store of any kind.
    package static func hold(
        _ sample: BumpSample, in store: any RelayStore, administer: (String) throws -> Void
    ) throws {
        let app = AppKey(app: "com.example.app", platform: .ios)
        guard let statement = sample.statement(for: app) else { return }
        try administer(statement)
        let draft = CampaignDraft(downloadURL: "https://example.com/app", timeToLive: .seconds(3600))
        for _ in 0..<2 {
            let decision = try store.reconcile(app, draft: draft, at: Timestamp(seconds: 1_700_000_000))
            guard let row = decision.after.rows.first, row.state == .asked, row.reason?.contains(sample.field) == true,
                row.changed.by == "ops", decision.campaign == nil, decision.after.rules.isEmpty,
                row.message?.text.unicodeScalars.count ?? 0 <= BumpRules.longestMessage + 1
            else {
                throw ConformanceFailure(description: "\(sample) of a row is not held: \(decision.after.rows)")
            }
        }
        do {
            _ = try store.decide(
                app, .released(nil), by: Signature(by: "ann", via: "api", at: Timestamp(seconds: 1_700_000_001)),
                in: RequirementMachine.Surroundings(now: Timestamp(seconds: 1_700_000_001)))
            throw ConformanceFailure(description: "\(sample) is released as it is")
        } catch is RequirementRefusal {}
    }

    /// Checks that a text of a version in force is not shown any more once another program has spoiled it.
    package static func holdSpoiled(in store: any RelayStore, administer: (String) throws -> Void) throws {
        let app = AppKey(app: "com.example.app", platform: .ios)
        let now = Timestamp(seconds: 1_700_000_000)
        let draft = CampaignDraft(downloadURL: "https://example.com/app", timeToLive: .seconds(3600))
        try store.decide(
            app,
            .asked(VersionBump(app: app, required: version("2"), downloadURL: "https://example.com/2", message: "Now")),
            by: Signature(by: "ann", via: "api", at: now), in: .waiting(for: nil, draft: draft, at: now))
        try administer(
            "UPDATE version SET download_url = 'javascript:alert(1)', message = 'a\u{202E}b', changed_by = 'ops'")
        let before = try store.versions().first?.requirements ?? Requirements()
        let said = BumpRules().sanitised(before).rows.first
        let decision = try store.reconcile(app, draft: draft, at: now + .seconds(1))
        guard said?.downloadURL == nil, said?.message == nil, let row = decision.after.rows.first,
            row.state == .inForce,
            row.downloadURL == "https://example.com/2", row.message == nil, row.reason?.contains("is not said") == true,
            row.reason?.contains("ops") == true
        else { throw ConformanceFailure(description: "a spoiled text is said: \(decision.after.rows)") }
    }
}
