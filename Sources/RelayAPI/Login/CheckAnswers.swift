// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
package import UpgradeRules
import WireFormat

/// What one app's clients can be answered at login (SEEDS S1), rendered: it speaks of what is in force, never of what waits.
package struct CheckAnswers: Sendable {
    let rules: [UpgradeRule]
    private let everybody: Answers
    /// Those of the users whom more has reached than everybody, and what that is.
    private let staged: (rule: UpgradeRule, answers: Answers)?

    init(_ requirements: Requirements, _ profile: AppProfile) {
        let rules = requirements.rules
        self.rules = rules
        everybody = Answers(rules.filter(\.isForEverybody), requirements, profile)
        staged = rules.first { !$0.isForEverybody }.map { ($0, Answers(rules, requirements, profile)) }
    }

    /// Whether the answer hangs on whether who asks is on a list: that is for nobody to find out.
    var isRestricted: Bool { staged?.rule.namesUsers ?? false }

    /// What an app is answered.
    package struct Answer: Sendable {
        package var content: PreparedContent
        /// The requirement that it is told of, where it must upgrade.
        package var toldAtLogin: Version?
        package var verdict: Verdict
        /// What the content tells an app: nothing where that would lead nowhere.
        package var prompt: UpgradeVerdict
    }

    func answer(to version: Version?, user: UpgradeRule.User) -> Answer {
        let answers = staged.flatMap { $0.rule.reaches(user) ? $0.answers : nil } ?? everybody
        return answers.answer(Verdict(rules, version: version, user: user))
    }

    /// What a proxy does with a version. Of the user it knows nothing, so it decides by what holds for everybody.
    func enforce(_ version: Version?) -> EnforceVerdict {
        guard let version else { return .unknown(everybody.unknown) }
        guard case .forced = Verdict(rules, version: version), let denied = everybody.denied else { return .passes }
        return .denied(denied)
    }

    /// The three answers that users of one kind can get.
    private struct Answers: Sendable {
        private let required: Version?
        let none: PreparedContent
        /// nil where it would lead nowhere: a prompt without a download URL is never shown.
        private let remind: PreparedContent?
        private let force: PreparedContent?
        /// What a proxy is told of a version that must be replaced, and of one that is not known.
        let denied: EnforceRefusal?
        let unknown: EnforceRefusal

        /// - Parameter rules: those that are for these users.
        init(_ rules: [UpgradeRule], _ requirements: Requirements, _ profile: AppProfile) {
            let floor = rules.first(where: \.forces).flatMap { requirements[$0.id] }
            let newest = rules.first.flatMap { requirements[$0.id] }
            func url(_ row: Requirement?) -> String? {
                (row?.downloadURL ?? profile.downloadURL).flatMap { $0.isEmpty ? nil : $0 }
            }
            func answer(_ prompt: UpgradeVerdict, _ row: Requirement?) -> PreparedContent {
                CheckAnswers.render(
                    LoginAnswer(
                        prompt, latest: newest?.version, required: floor?.version, downloadURL: url(row),
                        message: row?.message))
            }
            let leads = url(floor) != nil
            required = floor?.version
            none = answer(.none, newest)
            remind = url(newest) == nil ? nil : answer(.remind, newest)
            force = leads ? answer(.force, floor) : nil
            denied = floor.flatMap {
                leads ? EnforceRefusal(required: $0.version, downloadURL: url($0), message: $0.message) : nil
            }
            unknown = .unknown(required: required, downloadURL: url(floor), message: floor?.message)
        }

        func answer(_ verdict: Verdict) -> Answer {
            switch (verdict.prompt, remind, force) {
            case (.remind, let remind?, _): Answer(content: remind, verdict: verdict, prompt: .remind)
            case (.force, _, let force?):
                Answer(content: force, toldAtLogin: required, verdict: verdict, prompt: .force)
            default: Answer(content: none, verdict: verdict, prompt: .none)
            }
        }
    }

    /// What is not there is left out: a to-string conversion makes "<null>" of a null, which looks like a URL.
    private static func render(_ answer: LoginAnswer) -> PreparedContent {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("body")
            writer.object { writer in
                writer.member("hasNewVersion", answer.hasNewVersion.text)
                writer.member("needUpgrade", answer.needUpgrade.text)
                if let url = answer.downloadUrl { writer.member("downloadUrl", url) }
                if let latest = answer.latest { writer.member("latest", latest) }
                if let required = answer.required { writer.member("required", required) }
                if let message = answer.message { writer.member("message", message) }
            }
        }
        return PreparedContent(writer.bytes)
    }
}
