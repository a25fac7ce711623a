// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayEngine
import RelayStore
package import UpgradeRules
import WireFormat

/// What one app's clients can be answered at login (SEEDS S1), rendered: it speaks of what is in force, never of what waits.
package struct CheckAnswers: Sendable {
    private let everybody: Answers
    /// Those of the users for whom more is in force than for everybody, and who they are.
    private let staged: (telephones: Set<WireText>, reach: Int, draw: UserDraw, answers: Answers)?

    /// - Parameter record: nil when nothing was ever stored for the app: then there is never anything to do.
    init(_ record: VersionRecord?, _ profile: AppProfile) {
        let inForce = record?.inForce ?? InForce()
        everybody = Answers(inForce, profile)
        staged = inForce.staged.map { staged in
            var own = inForce
            own.required = [inForce.required, staged.required].compactMap(\.self).max()
            own.latest = [inForce.latest, staged.required].compactMap(\.self).max()
            (own.downloadURL, own.message) = (staged.downloadURL, staged.message)
            if own.latest == staged.required {
                (own.latestURL, own.latestMessage) = (staged.downloadURL, staged.message)
            }
            return (
                Set(staged.telephones.map { WireText($0) }), staged.reach, staged.draw, Answers(own, profile)
            )
        }
    }

    /// Whether the answer hangs on whether who asks is on a list: that is for nobody to find out.
    var isRestricted: Bool { staged.map { !$0.telephones.isEmpty } ?? false }

    /// What an app is answered.
    package struct Answer: Sendable {
        package var content: PreparedContent
        /// The requirement that it is told of, where it must upgrade.
        package var told: Version?
    }

    /// - Parameters:
    ///   - telephone: the logged-in user's, as it is said. Which part of the users it is drawn into tells nothing of who is registered.
    ///   - proven: the same where it is known to be so.
    func answer(to version: Version, telephone: String?, proven: String?) -> Answer {
        if let staged {
            let isNamed = proven.map { staged.telephones.contains(WireText($0)) } ?? false
            let isReached = telephone.map { staged.draw.part(of: $0.utf8) < staged.reach } ?? false
            if isNamed || isReached { return staged.answers.answer(to: version) }
        }
        return everybody.answer(to: version)
    }

    /// What a proxy does with a version. Of the user it knows nothing, so it decides by what holds for everybody.
    func enforce(_ version: Version?) -> EnforceVerdict {
        guard let version else { return .unknown(everybody.unknown) }
        guard everybody.verdict(on: version) == .force, let denied = everybody.denied else { return .passes }
        return .denied(denied)
    }

    /// The three answers that users of one kind can get.
    private struct Answers: Sendable {
        let required: Version?
        let latest: Version?
        private let hasURL: (toForce: Bool, toRemind: Bool)
        let none: PreparedContent
        let remind: PreparedContent
        let force: PreparedContent
        /// What a proxy is told of a version that must be replaced, and of one that is not known.
        let denied: EnforceRefusal?
        let unknown: EnforceRefusal

        init(_ inForce: InForce, _ profile: AppProfile) {
            func url(_ own: String?) -> String? { (own ?? profile.downloadURL).flatMap { $0.isEmpty ? nil : $0 } }
            let urls = (force: url(inForce.downloadURL), remind: url(inForce.latestURL))
            hasURL = (urls.force != nil, urls.remind != nil)
            required = inForce.required
            latest = inForce.latest
            let zero = try? Version("0")
            func answer(installed: Version?, required: Version?, isForced: Bool = false) -> PreparedContent {
                CheckAnswers.render(
                    LoginAnswer(
                        installed: installed, latest: inForce.latest, required: required,
                        downloadURL: isForced ? urls.force : urls.remind,
                        message: isForced ? inForce.message : inForce.latestMessage))
            }
            // One installed version stands for all of the same verdict.
            none = answer(installed: nil, required: inForce.required)
            force = answer(installed: zero, required: inForce.required, isForced: true)
            if let required = inForce.required, let latest = inForce.latest, required < latest {
                remind = answer(installed: required, required: required)
            } else {
                remind = answer(installed: zero, required: nil)
            }
            denied = inForce.required.map {
                EnforceRefusal(required: $0, downloadURL: urls.force, message: inForce.message)
            }
            unknown = .unknown(required: inForce.required, downloadURL: urls.force, message: inForce.message)
        }

        func answer(to version: Version) -> Answer {
            switch verdict(on: version) {
            case .none: Answer(content: none)
            case .remind: Answer(content: remind)
            case .force: Answer(content: force, told: required)
            }
        }

        func verdict(on version: Version) -> UpgradeVerdict {
            let isBelow = required.map { version < $0 } ?? false
            return .judge(
                installed: version, latest: latest, required: required,
                hasDownloadURL: isBelow ? hasURL.toForce : hasURL.toRemind)
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
