// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
package import UpgradeRules
import WireFormat

/// The result of a bump that was applied.
package struct BumpOutcome: Sendable {
    /// The record after the bump.
    package var record: VersionRecord
    package var requiredRose: Bool
    /// The campaign that the rise started; nil when `required` did not rise.
    package var campaign: CampaignRecord?
    /// The blocks that it made.
    package var blocked: [Block] = []
    /// The request that waits for a second person in the bump's place; then nothing has changed.
    package var waiting: Approval?

    package init(
        record: VersionRecord, requiredRose: Bool, campaign: CampaignRecord? = nil, blocked: [Block] = [],
        waiting: Approval? = nil
    ) {
        (self.record, self.requiredRose, self.campaign) = (record, requiredRose, campaign)
        (self.blocked, self.waiting) = (blocked, waiting)
    }
}

/// The result of a bump: applied, or a repeated webhook.
package enum AppliedBump: Sendable {
    case applied(BumpOutcome, StoredAnswer)
    /// The same webhook was answered before: this is that answer.
    case replayed(StoredAnswer)
}

/// One version that is blocked, or may be used again.
package struct Block: Hashable, Sendable {
    package var requirement: Requirement
    /// nil where the requirement has none.
    package var campaign: CampaignRecord?

    package init(_ requirement: Requirement, _ campaign: CampaignRecord?) {
        self.requirement = requirement
        self.campaign = campaign
    }
}

/// The result of a withdrawal.
package struct Withdrawal: Sendable {
    /// The version that was required until now.
    package var withdrawn: Version
    /// The record after it.
    package var record: VersionRecord
    /// The campaign of the withdrawn version; nil where it had none.
    package var campaign: CampaignRecord?
}

/// A webhook's id and the answer that it got, kept so that a replay answers alike and changes nothing.
package struct WebhookReceipt: Hashable, Sendable {
    /// The sender's id for the event (`webhook-id`; `sha256:` and the body's digest where none is signed or sent).
    package var id: String
    /// Which hook received it, for example "version": ids of different hooks do not collide.
    package var hook: String
    /// The signed bytes: an id stands for one body.
    package var body: [UInt8]

    package init(id: String, hook: String, body: [UInt8]) {
        self.id = id
        self.hook = hook
        self.body = body
    }
}

/// An answer as it went over the wire.
package struct StoredAnswer: Hashable, Sendable {
    package var status: Int
    package var body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// The result of a decision.
package struct Decision: Sendable {
    package var before: Requirements
    package var after: Requirements
    /// The row that was asked for, released or taken back.
    package var subject: Requirement?
    /// Its campaign.
    package var campaign: CampaignRecord?
    /// The blocks that were made or ended.
    package var blocked: [Block] = []
    package var hasChanged: Bool
    /// All that it has altered, with the stored ids of requirements.
    package var changes: [Change] = []
    /// The request that waits for a second person in the act's place; then nothing else changed.
    package var waiting: Approval?
    /// The receipt's answer, where it was given before; then nothing changed.
    package var replay: StoredAnswer?

    package init(
        before: Requirements, after: Requirements, subject: Requirement? = nil, campaign: CampaignRecord? = nil,
        hasChanged: Bool = false, replay: StoredAnswer? = nil
    ) {
        self.before = before
        self.after = after
        self.subject = subject
        self.campaign = campaign
        self.hasChanged = hasChanged
        self.replay = replay
    }
}

/// The requirements of all apps. Versions only rise (DESIGN, rule 1).
package protocol VersionStore: Sendable {
    /// Reports each decision that is committed here.
    var decisions: DecisionNotices { get }

    /// The record of one app, or nil when nothing was ever stored for it.
    func version(of app: AppKey) throws -> VersionRecord?

    /// All records, ordered by app and platform.
    func versions() throws -> [VersionRecord]

    /// The versions that were asked for, newest first.
    func history(of app: AppKey, limit: Int) throws -> [VersionChange]

    /// The requirements that were in force for everybody, newest first.
    func inForceHistory(of app: AppKey, limit: Int) throws -> [InForceChange]

    /// The only way to change requirements, and campaigns with them: reads all of an app's requirements and campaigns,
    /// asks `RequirementMachine`, and writes the differences, in one transaction.
    ///
    /// - Parameters:
    ///   - receipt: where one is given, the answer that `render` makes of the decision is stored with it in the same
    ///     transaction.
    ///   - render: called inside the transaction; an error that it throws undoes it.
    /// - Throws: `RequirementRefusal`, `StoreError`; then nothing has changed.
    func decide(
        _ app: AppKey, _ event: RequirementEvent, by actor: Signature, in surroundings: RequirementMachine.Surroundings,
        receipt: WebhookReceipt?, render: ((Decision) throws -> StoredAnswer)?
    ) throws -> (Decision, StoredAnswer?)

    /// The answer that was given to this webhook before; nil: none was.
    ///
    /// - Throws: `StoreError.webhookDiffers` where another body came with its id.
    func answer(to receipt: WebhookReceipt) throws -> StoredAnswer?

    /// Keeps the answer to a webhook that changes nothing, so that a replay answers alike.
    ///
    /// - Returns: the answer that counts: the one stored before, where there is one.
    func keep(_ answer: StoredAnswer, to receipt: WebhookReceipt, at now: Timestamp) throws -> StoredAnswer

    /// Forgets webhook ids received before `time`; returns how many. A body that is its own id (`sha256:`) is kept: its signature
    /// never ends, so neither may the memory of it.
    @discardableResult
    func forgetWebhooks(before time: Timestamp) throws -> Int

    /// A number that changes when another process (or another connection) has committed to the store
    /// (`PRAGMA data_version`, sqlite.org/pragma.html#pragma_data_version). Cheap enough to ask five times a second.
    func changeMark() throws -> Int64
}

extension VersionStore {
    /// Makes a decision without a receipt.
    @discardableResult
    package func decide(
        _ app: AppKey, _ event: RequirementEvent, by actor: Signature, in surroundings: RequirementMachine.Surroundings
    ) throws -> Decision {
        try decide(app, event, by: actor, in: surroundings, receipt: nil, render: nil).0
    }

    /// Applies a change to a campaign, which needs no verdict of an app store.
    ///
    /// - Returns: false where its state does not allow it.
    @discardableResult
    package func decide(
        _ campaign: CampaignRecord, _ event: CampaignChange, by actor: Signature
    ) throws -> Bool {
        do {
            return try decide(
                campaign.app, .campaign(campaign.key, event), by: actor,
                in: RequirementMachine.Surroundings(now: actor.at)
            ).hasChanged
        } catch is RequirementRefusal {
            return false
        }
    }

    /// Applies a bump, and returns the result.
    ///
    /// - Parameters:
    ///   - refused: the error that a refusal is thrown as; nil: a `StoreError`.
    ///   - render: makes the receipt's answer, inside the transaction.
    package func apply(
        _ bump: VersionBump, by actor: Signature, in surroundings: RequirementMachine.Surroundings,
        receipt: WebhookReceipt?, refused: ((RequirementRefusal) -> any Error)? = nil,
        render: @escaping (BumpOutcome) throws -> StoredAnswer
    ) throws -> AppliedBump {
        func outcome(_ decision: Decision) -> BumpOutcome {
            BumpOutcome(
                record: VersionRecord(bump.app, decision.after),
                requiredRose: decision.subject != nil, campaign: decision.campaign, blocked: decision.blocked,
                waiting: decision.waiting)
        }
        do {
            let (decision, answer) = try decide(
                bump.app, .asked(bump), by: actor, in: surroundings, receipt: receipt
            ) { try render(outcome($0)) }
            if let replay = decision.replay { return .replayed(replay) }
            return .applied(outcome(decision), answer ?? StoredAnswer(status: 200, body: []))
        } catch let refusal as RequirementRefusal {
            throw refused?(refusal) ?? StoreError(refusal, of: bump.app)
        }
    }

    /// Does what is due: makes the campaign that a requirement does not have yet (DESIGN, rule 2).
    ///
    /// - Returns: the decision, with the campaign created; unchanged where nothing was due.
    package func reconcile(_ app: AppKey, in surroundings: RequirementMachine.Surroundings) throws -> Decision {
        do {
            return try decide(
                app, .looked, by: Signature(by: InForce.ungated, via: "look", at: surroundings.now), in: surroundings)
        } catch let refusal as RequirementRefusal {
            throw StoreError(refusal, of: app)
        }
    }

    /// Lets blocked versions be used again.
    ///
    /// - Throws: `StoreError` where one of them is not blocked; then the others stay blocked.
    package func unblock(
        _ versions: [Version], of app: AppKey, by actor: Principal, reason: String?,
        in surroundings: RequirementMachine.Surroundings
    ) throws -> Decision {
        do {
            return try decide(
                app, .unblocked(versions, reason: reason),
                by: Signature(by: actor, via: VersionChange.withdrawal, at: surroundings.now), in: surroundings)
        } catch let refusal as RequirementRefusal {
            throw StoreError(refusal, of: app)
        }
    }

    /// Takes back an app's requirement.
    ///
    /// - Returns: nil where another version is required, or none.
    package func withdraw(
        _ required: Version, of app: AppKey, by actor: Principal, reason: String?, at now: Timestamp
    ) throws -> Withdrawal? {
        do {
            let decision = try decide(
                app, .withdrawn(required, reason: reason),
                by: Signature(by: actor, via: VersionChange.withdrawal, at: now),
                in: RequirementMachine.Surroundings(now: now))
            guard let row = decision.subject else { return nil }
            return Withdrawal(
                withdrawn: row.version, record: VersionRecord(app, decision.after), campaign: decision.campaign)
        } catch is RequirementRefusal {
            return nil
        }
    }
}
