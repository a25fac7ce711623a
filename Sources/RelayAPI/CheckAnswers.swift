// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import UpgradeRules
import WireFormat

/// The three answers that one app's clients can get at login (SEEDS S1), rendered.
struct CheckAnswers: Sendable {
    private let required: Version?
    private let latest: Version?
    private let hasDownloadURL: Bool
    /// The only users that `required` holds for; nil: everyone.
    private let telephones: Set<WireText>?
    private let none: PreparedContent
    private let remind: PreparedContent
    private let force: PreparedContent

    /// - Parameter record: nil when nothing was ever stored for the app: then there is never anything to do.
    init(_ record: VersionRecord?, _ profile: AppProfile) {
        let url = (record?.downloadURL ?? profile.downloadURL).flatMap { $0.isEmpty ? nil : $0 }
        required = record?.required
        latest = record?.latest
        hasDownloadURL = url != nil
        telephones = record?.telephones.map { Set($0.map { WireText($0) }) }
        let zero = try? Version("0")
        func answer(installed: Version?, required: Version?) -> PreparedContent {
            Self.render(
                LoginAnswer(
                    installed: installed, latest: record?.latest, required: required, downloadURL: url,
                    message: record?.message))
        }
        // One installed version stands for all of the same verdict.
        none = answer(installed: nil, required: record?.required)
        force = answer(installed: zero, required: record?.required)
        if let required = record?.required, let latest = record?.latest, required < latest {
            remind = answer(installed: required, required: required)
        } else {
            remind = answer(installed: zero, required: nil)
        }
    }

    var isRestricted: Bool { telephones != nil }

    /// What an app is answered.
    struct Answer: Sendable {
        var content: PreparedContent
        /// The requirement that it is told of, where it must upgrade.
        var told: Version?
    }

    /// - Parameter telephone: the logged-in user's; whoever a restricted requirement does not name is only reminded.
    func answer(to version: Version, telephone: String?) -> Answer {
        let isMeant =
            telephones.map { telephones in telephone.map { telephones.contains(WireText($0)) } ?? false } ?? true
        let verdict = UpgradeVerdict.judge(
            installed: version, latest: latest, required: isMeant ? required : nil, hasDownloadURL: hasDownloadURL)
        return switch verdict {
        case .none: Answer(content: none)
        case .remind: Answer(content: remind)
        case .force: Answer(content: force, told: required)
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
