// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import UpgradeRules
import WireFormat

/// A request for a second person, as it is at one moment.
package struct ShownApproval: Sendable {
    package let approval: Approval
    package let now: Timestamp
    /// The act on the request that is answered; nil: none.
    var act: ActWords.Act?

    package init(_ approval: Approval, at now: Timestamp) { (self.approval, self.now) = (approval, now) }

    package var state: Approval.State { approval.state(at: now) }

    static let shape = Shape<ShownApproval>(
        "Approval", "An act that waits, or has waited, for a second person.",
        [
            .member(.id, .count, "Its number.") { $0.approval.id },
            AppKey.shape.members { $0.approval.app },
            .member(.act, .words(Approval.Act.self)) { $0.approval.wish.act.rawValue },
            .member(.deed, .text, "The act in words, such as \"require 2.1.0\".") { $0.approval.deed },
            .member(.version, .version, "The version that it is about; of several blocks the first.") {
                $0.approval.wish.version.text
            },
            .nullable(.campaign, .text, "The id of the campaign that is cancelled.") { $0.approval.wish.campaign },
            .nullable(.body, .members, "A rise or a block as it was asked for, without phone numbers.") {
                $0.approval.wish.body.map { WrittenJSON($0) }
            },
            .nullable(.telephoneCount, .count, "How many phone numbers its canary names; null: none, or it is closed.")
            {
                $0.approval.wish.telephones.map { Int64($0.count) }
            },
            .member(.devices, .count, "How many devices it reached when it was asked for.") {
                $0.approval.reach.devices
            },
            .member(.of, .count, "How many devices the app had then.") { $0.approval.reach.all },
            .object(.shown, Shown.shape) { $0.approval.shown },
            .member(.askedBy, .text, "Who asked: that person cannot approve it.") { $0.approval.asked.name },
            .member(.askedVia, .text, "The way of the request, as in histories.") { $0.approval.asked.via },
            .member(.askedAt, .instant) { $0.approval.askedAt },
            .member(.until, .instant, "From then on it cannot be approved.") { $0.approval.until },
            .member(
                .state, .words(Approval.State.self),
                "open: it waits; superseded: a newer request took its place; expired: its time ended before an approval; alone: one person acted in an emergency."
            ) { $0.state.rawValue },
            .nullableObject(.wait, Wait.shape, "Null: it waits no longer.") { $0.approval.wait(at: $0.now) },
            .nullable(.closedBy, .text, "Who approved or refused it, or acted alone.") { $0.approval.closedBy },
            .nullable(.closedAt, .instant) { $0.approval.closedAt },
            .nullable(.reason, .text, "Why it was refused, or why one person acted alone.") { $0.approval.reason },
            .sentenceOfAct { shown in shown.act.map { ActWords.after($0, shown.approval) } },
        ])

    /// The answer to an act that waits.
    static let askedShape = Shape<ShownApproval>(
        "ApprovalAsked", "The act waits for a second person, and nothing has changed.",
        [.object(.approval, shape) { $0 }, .sentence { ActWords.waiting($0.approval) }])
}

/// The acts of an app that wait for a second person: an event's data.
struct WaitingApprovals {
    let app: AppKey
    let approvals: [ShownApproval]

    static let shape = Shape<WaitingApprovals>([
        AppKey.shape.members { $0.app },
        .list(.approvals, of: ShownApproval.shape, "The acts that wait for a second person.") { $0.approvals },
    ])
}
