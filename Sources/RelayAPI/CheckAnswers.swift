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
    /// What a proxy is told of a version that must be replaced, and of one that is not known.
    private let denied: EnforceRefusal?
    private let unknown: EnforceRefusal

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
        denied = record?.required.map {
            EnforceRefusal(required: $0, downloadURL: url, message: record?.message)
        }
        unknown = .unknown(
            required: telephones == nil ? record?.required : nil, downloadURL: url, message: record?.message)
    }

    var isRestricted: Bool { telephones != nil }

    /// - Parameter telephone: the logged-in user's; whoever a restricted requirement does not name is only reminded.
    func answer(to version: Version, telephone: String?) -> PreparedContent {
        switch verdict(on: version, telephone: telephone) {
        case .none: none
        case .remind: remind
        case .force: force
        }
    }

    /// What a proxy does with a version: only one that everybody must replace is denied. Of the user it knows nothing, so a
    /// requirement for named users denies nobody.
    func enforce(_ version: Version?) -> EnforceVerdict {
        guard let version else { return .unknown(unknown) }
        guard verdict(on: version, telephone: nil) == .force, let denied else { return .passes }
        return .denied(denied)
    }

    private func verdict(on version: Version, telephone: String?) -> UpgradeVerdict {
        let isMeant =
            telephones.map { telephones in telephone.map { telephones.contains(WireText($0)) } ?? false } ?? true
        return UpgradeVerdict.judge(
            installed: version, latest: latest, required: isMeant ? required : nil, hasDownloadURL: hasDownloadURL)
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
