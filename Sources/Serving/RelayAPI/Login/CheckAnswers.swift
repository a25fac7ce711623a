// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
import Requirements
package import UpgradeRules
import WireFormat

/// The answers that one app's clients can get at login (SEEDS S1), rendered: they depend on what is in force, never on versions that wait.
package struct CheckAnswers: Sendable {
    let rules: [UpgradeRule]
    private let endsOlderSystems: Bool
    /// The minimum systems of the rules, the oldest first.
    private let minimums: [Version]
    /// One tier for systems below the first of `minimums`, one below the second, …, and the last for systems that run all
    /// versions.
    private let tiers: [Tier]

    init(_ requirements: Requirements, _ profile: AppProfile) {
        let rules = requirements.rules
        self.rules = rules
        endsOlderSystems = profile.belowMinimumOS == .deny
        let minimums = Set(rules.compactMap(\.minimumOS)).sorted()
        self.minimums = minimums
        tiers = (0...minimums.count).map { place in
            // The minimums that the systems of this tier meet.
            let systems = minimums.prefix(place)
            return Tier(rules, requirements, profile) { rule in rule.minimumOS.map(systems.contains) ?? true }
        }
    }

    /// Whether the answer depends on a list of named users, which an unproven caller must not find out.
    var isRestricted: Bool { tiers.contains { $0.staged?.rule.namesUsers ?? false } }

    private func tier(of system: Version?) -> Tier {
        guard let system else { return tiers[minimums.count] }
        return tiers[minimums.prefix { $0 <= system }.count]
    }

    /// The answer to an app.
    package struct Answer: Sendable {
        package var content: LocalizedAnswer<PreparedContent>
        /// The rule of the upgrade that the app is asked to make, where it must upgrade.
        package var toldAtLogin: UpgradeRule?
        package var verdict: Verdict
        /// The prompt in the content: none where it would lead nowhere.
        package var prompt: UpgradeVerdict
    }

    func answer(to version: Version?, user: UpgradeRule.User) -> Answer {
        let tier = tier(of: user.system)
        let answers = tier.staged.flatMap { $0.rule.reaches(user) ? $0.answers : nil } ?? tier.everybody
        return answers.answer(
            Verdict(rules, version: version, user: user, endsOlderSystems: endsOlderSystems), version)
    }

    /// The verdict for a proxy, which knows nothing of the user but perhaps the system: only rules that hold for everybody decide.
    func enforce(_ version: Version?, system: Version? = nil) -> EnforceVerdict {
        let answers = tier(of: system).everybody
        guard let version else { return .unknown(answers.unknown) }
        let user = UpgradeRule.User(nil, system: system)
        switch Verdict(rules, version: version, user: user, endsOlderSystems: endsOlderSystems) {
        case .forced(let rule): return answers.forced[rule.id].map { .denied($0.refusal) } ?? .passes
        case .ended(let rule): return answers.ended[rule.id].map { .denied($0.refusal) } ?? .passes
        case .announced, .none, .unknown: return .passes
        }
    }

    /// The answers to users with systems of one kind.
    private struct Tier: Sendable {
        let everybody: Answers
        /// The answers to users reached by a rule that is not for everybody, with that rule.
        let staged: (rule: UpgradeRule, answers: Answers)?

        init(
            _ rules: [UpgradeRule], _ requirements: Requirements, _ profile: AppProfile,
            runs: (UpgradeRule) -> Bool
        ) {
            func ends(_ rule: UpgradeRule) -> Bool {
                profile.belowMinimumOS == .deny && rule.forces && !runs(rule)
            }
            func answers(_ rules: [UpgradeRule]) -> Answers {
                Answers(rules.filter(runs), ending: rules.filter(ends), requirements, profile)
            }
            everybody = answers(rules.filter(\.isForEverybody))
            staged = rules.first { !$0.isForEverybody && (runs($0) || ends($0)) }.map { ($0, answers(rules)) }
        }
    }

    /// The answers that users of one kind can get.
    private struct Answers: Sendable {
        let none: LocalizedAnswer<PreparedContent>
        /// nil where it would lead nowhere: a prompt without a download URL is never shown.
        private let remind: LocalizedAnswer<PreparedContent>?
        /// The same for versions below one that will be required at an announced time, with that version.
        private let coming: (version: Version, content: LocalizedAnswer<PreparedContent>)?
        /// The answers to a version that must be replaced, by the rule that forces it: none where there is no download URL.
        let forced: [Int64: Refused]
        /// The answers to a phone that cannot run the required version, by the rule, where the service ends for such phones.
        let ended: [Int64: Refused]
        /// The refusal of an unknown version, for a proxy.
        let unknown: EnforceRefusal

        /// The answer at login, and a proxy's.
        typealias Refused = (content: LocalizedAnswer<PreparedContent>, refusal: EnforceRefusal)

        /// - Parameters:
        ///   - rules: the rules for these users.
        ///   - ending: the rules with which the service ends for these users.
        init(
            _ rules: [UpgradeRule], ending: [UpgradeRule], _ requirements: Requirements, _ profile: AppProfile
        ) {
            let floorRule = rules.first { $0.forces && !$0.isBlock }
            let floor = floorRule.flatMap { requirements[$0.id] }
            let newest = rules.first { !$0.isBlock }.flatMap { requirements[$0.id] }
            let moment = rules.lazy.compactMap { requirements[$0.id] }
                .first { $0.state == .announced && $0.kind == .required && $0.requiredFrom != nil }
            func words(_ row: Requirement?) -> LocalizedText? {
                row.flatMap { requirements.words(of: $0, profile.moments) }
            }
            func url(_ row: Requirement?) -> String? {
                (row?.downloadURL ?? profile.downloadURL).flatMap { $0.isEmpty ? nil : $0 }
            }
            func answer(_ prompt: UpgradeVerdict, _ row: Requirement?, from coming: Requirement? = nil)
                -> LocalizedAnswer<PreparedContent>
            {
                LocalizedAnswer(words(coming) ?? words(row)) { words in
                    CheckAnswers.render(
                        LoginAnswer(
                            prompt, latest: newest?.version, required: floor?.version, downloadURL: url(row),
                            message: words, requiredFrom: coming?.requiredFrom?.internetTime))
                }
            }
            none = answer(.none, newest)
            remind = url(newest) == nil ? nil : answer(.remind, newest)
            coming =
                url(newest) == nil ? nil : moment.map { ($0.version, answer(.remind, newest, from: $0)) }
            unknown = .unknown(required: floor?.version, downloadURL: url(floor), message: words(floor))
            func all(_ rules: [UpgradeRule], _ refused: (Requirement) -> Refused?) -> [Int64: Refused] {
                Dictionary(
                    uniqueKeysWithValues: rules.compactMap { rule in
                        requirements[rule.id].flatMap(refused).map { (rule.id, $0) }
                    })
            }
            forced = all(rules.filter { $0.isBlock || $0 == floorRule }) { row in
                guard let url = url(row) else { return nil }
                return (
                    LocalizedAnswer(words(row)) { words in
                        CheckAnswers.render(
                            LoginAnswer(
                                .force, latest: newest?.version, required: floor?.version, downloadURL: url,
                                message: words, blocked: row.target.blocked))
                    },
                    .forced(row.target, downloadURL: url, message: words(row))
                )
            }
            ended = all(ending) { row in
                (
                    LocalizedAnswer(words(row)) { words in
                        CheckAnswers.render(.ended(row.target, minimumOS: row.minimumOS, message: words))
                    },
                    .ended(row.target, minimumOS: row.minimumOS, message: words(row))
                )
            }
        }

        func answer(_ verdict: Verdict, _ version: Version?) -> Answer {
            switch verdict {
            case .ended(let rule):
                if let ended = ended[rule.id] {
                    return Answer(content: ended.content, verdict: verdict, prompt: .none)
                }
            case .forced(let rule):
                if let forced = forced[rule.id] {
                    return Answer(content: forced.content, toldAtLogin: rule, verdict: verdict, prompt: .force)
                }
            case .announced:
                let isBelow = coming.flatMap { coming in version.map { $0 < coming.version } } ?? false
                if let content = (isBelow ? coming?.content : nil) ?? remind {
                    return Answer(content: content, verdict: verdict, prompt: .remind)
                }
            case .unknown, .none: break
            }
            return Answer(content: none, verdict: verdict, prompt: .none)
        }
    }

    /// Leaves out members without a value: the apps' to-string conversion makes "<null>" of a null, which looks like a URL.
    private static func render(_ answer: LoginAnswer) -> PreparedContent {
        var writer = JSONWriter()
        writer.object(answer, LoginAnswer.shape)
        return PreparedContent(writer.bytes)
    }
}

extension LoginAnswer {
    static let shape = Shape<LoginAnswer>(
        "CheckAnswer", "The login-time answer; figures are strings.",
        [
            .object(.body, body) { $0 }
        ])

    private static let body = Shape<LoginAnswer>([
        .member(.hasNewVersion, .words(["0", "1"])) { $0.hasNewVersion.text },
        .member(.needUpgrade, .words(["0", "1"])) { $0.needUpgrade.text },
        .optional(.downloadUrl, .text) { $0.downloadUrl },
        .optional(.latest, .version) { $0.latest },
        .optional(.required, .version) { $0.required },
        .optional(
            .blocked, .version, "The version that asks, if it is blocked: it must be left, whatever is required."
        ) { $0.blocked },
        .optional(.message, .text, "The text for the users, in the requested language if there is one.") {
            $0.message
        },
        announcedFor,
        .optional(
            .minimumOs, .version,
            "If the service ends for this phone (belowMinimumOs is \"deny\"): the oldest system that the required version runs on. needUpgrade is then \"1\", and there is nothing new to get: hasNewVersion is \"0\" and there is no downloadUrl."
        ) { $0.minimumOs },
    ])

    private static let announcedFor = ShapeMember<LoginAnswer>(
        property: .init(
            RequirementField.requiredFrom.name.description,
            Schema.instant.described("The moment from which the announced version will be required."),
            isRequired: false)
    ) { writer, answer, _ in
        guard let moment = answer.requiredFrom else { return }
        writer.member(RequirementField.requiredFrom.name.description, moment)
    }
}
