// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The sentences of the answers to acts: what was done, to how many devices, what stays and what comes next. Pure.
extension ActWords {
    /// "2.0.0 of com.example.app ios, 500 devices: paused, 20 left. Next: everybody."
    static func after(_ act: ActKind, _ status: CampaignStatus) -> String {
        let (record, counts) = (status.record, status.counts)
        let target = record.requirement.target
        let left = counts.pending + counts.inFlight + counts.retrying
        var effects: [String] = []
        if act == .cancel {
            let stays = target.isBlock ? record.requirement.state != .withdrawn : record.inForce == target.version
            effects.append((stays ? CampaignEffect.stays(target) : .takesBack(target)).words)
        } else {
            effects += next(record)
        }
        let words = ActWords(
            act, "\(target.version) of \(place(record.app))", devices: counts.audience > 0 ? counts.audience : nil,
            effects: effects)
        return words.answer(left > 0 ? "\(words.act.done), \(left) left" : nil)
    }

    /// "2.0.0 of com.example.app ios: required. Next: 10 % of the users."
    ///
    /// - Parameters:
    ///   - blocked: the versions that are new among the blocked ones.
    ///   - rose: whether the required version is a new one.
    static func after(
        bump status: VersionStatus, rose: Bool, _ campaign: CampaignRecord?, _ blocked: [Version],
        _ blocks: [CampaignRecord]
    ) -> String {
        let record = status.record
        let (name, required) = (place(record.app), record.requirements.required?.version)
        var answers: [String] = []
        if rose, let required {
            let waits = status.wait.map { "It waits: \($0.reason)." }
            answers.append(
                ActWords(.raise, "\(required) of \(name)", effects: [waits].compactMap(\.self) + pushes(campaign))
                    .answer())
        }
        if !blocked.isEmpty {
            let versions = blocked.map(\.text).joined(separator: ", ")
            answers.append(ActWords(.block, "\(versions) of \(name)").answer())
            answers += pushes(blocks.first)
        }
        if answers.isEmpty {
            let what = (required ?? record.requirements.latest?.version)?.text ?? "nothing"
            answers = ["\(what) of \(name): as before. Nothing is pushed: the required version did not rise."]
        }
        return answers.joined(separator: " ")
    }

    /// "2.0.0 of com.example.app ios: released. It is in force for everybody."
    static func after(releaseOf record: VersionRecord) -> String {
        let (required, inForce) = (record.required, record.inForce.required)
        let effect =
            required == inForce
            ? "It is in force for everybody."
            : "In force for everybody is \(inForce?.text ?? "nothing") until its last step has begun."
        return ActWords(.release, "\(required?.text ?? "-") of \(place(record.app))", effects: [effect]).answer()
    }

    static func after(withdrawalOf version: Version, _ record: VersionRecord, _ campaign: CampaignStatus?) -> String {
        let audience = campaign?.counts.audience ?? 0
        let effects = CampaignEffect.of(.withdraw, version).map(\.words)
        return ActWords(
            .withdraw, "\(version) of \(place(record.app))", devices: audience > 0 ? audience : nil,
            effects: effects + ["In force for everybody: \(record.inForce.required?.text ?? "nothing")."]
        ).answer()
    }

    static func after(unblockingOf versions: [Version], _ app: AppKey) -> String {
        let names = versions.map(\.text).joined(separator: ", ")
        return ActWords(
            .unblock, "\(names) of \(place(app))", effects: CampaignEffect.of(.unblock, nil).map(\.words)
        ).answer()
    }

    /// "request 3, require 2.1.0 of com.example.app ios, 4200 devices: approved. …"
    static func after(_ act: Act, _ approval: Approval) -> String { words(act, approval).answer() }

    /// The answer to an act that waits for a second person.
    static func waiting(_ approval: Approval) -> String {
        let next = "Next: a second person, until \(approval.until.internetTime)."
        let act = ActWords(
            approval.wish.act.words, "request \(approval.id), \(approval.deed) of \(place(approval.app))",
            devices: approval.reach.devices, effects: ["Nothing has changed.", next])
        return act.answer("waits")
    }

    private static func words(_ act: Act, _ approval: Approval) -> ActWords {
        ActWords(
            act, "request \(approval.id), \(approval.deed) of \(place(approval.app))",
            devices: approval.reach.devices)
    }

    private static func next(_ campaign: CampaignRecord) -> [String] {
        Rollout(campaign).next.map { ["Next: \($0.words)."] } ?? []
    }

    private static func pushes(_ campaign: CampaignRecord?) -> [String] {
        campaign.map(next) ?? ["Nothing is pushed: the app has no push service."]
    }

    /// "1 delivery", "4200 deliveries"
    static func deliveries(_ count: Int64) -> String { count == 1 ? "1 delivery" : "\(count) deliveries" }

    /// "com.example.app ios"
    static func place(_ app: AppKey) -> String { "\(app.app) \(app.platform.rawValue)" }
}

extension Approval.Act {
    /// The act itself, as words name it.
    fileprivate var words: ActWords.Act {
        switch self {
        case .raise: .confirmed(.raise)
        case .block: .block
        case .release: .confirmed(.release)
        case .cancel: .confirmed(.cancel)
        }
    }
}

extension ShapeMember {
    /// The answer to an act in sentences.
    static func sentence(_ text: @escaping @Sendable (Object) -> String) -> ShapeMember {
        .member(.sentence, .text, sentenceNote, text)
    }

    /// The same for an object that other answers have, too.
    static func sentenceOfAct(_ text: @escaping @Sendable (Object) -> String?) -> ShapeMember {
        .optional(.sentence, .text, "\(sentenceNote) Only in the answer to an act.", text)
    }

    private static var sentenceNote: String {
        "What was done, to how many devices, what stays and what comes next, for people."
    }
}
