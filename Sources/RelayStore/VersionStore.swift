// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// What was asked for, for one app and platform, and what of it is in force.
package struct VersionRecord: Hashable, Sendable {
    package var app: AppKey
    package var latest: Version?
    package var required: Version?
    package var downloadURL: String?
    package var message: String?
    /// The only telephones that a requirement is announced to; nil means everyone.
    package var telephones: [String]?
    package var updatedAt: Timestamp
    package var builds = BuildNumbers()
    /// Not part of the history's records.
    package var inForce = InForce()

    /// What was asked for alone, as the history keeps it.
    package var asked: VersionRecord {
        var record = self
        record.inForce = InForce()
        return record
    }

    /// Whether anything that was asked for is not in force yet.
    package var isWaiting: Bool {
        required.map { !inForce.holds($0, onlyFor: telephones) } ?? false || latest != inForce.latest
    }

    package init(
        app: AppKey, latest: Version? = nil, required: Version? = nil, downloadURL: String? = nil,
        message: String? = nil, telephones: [String]? = nil, updatedAt: Timestamp
    ) {
        self.app = app
        self.latest = latest
        self.required = required
        self.downloadURL = downloadURL
        self.message = message
        self.telephones = telephones
        self.updatedAt = updatedAt
    }
}

/// One entry of the history: the record as it was after a change, with who changed it and by which way.
package struct VersionChange: Hashable, Sendable {
    package var record: VersionRecord
    /// Who: a token's name, a user of the control socket ("alice (uid 1000)"), a webhook's source; "unknown" when another program wrote to the database.
    package var actor: String
    /// By which way: "webhook", "api", "cli", "database", …
    package var source: String

    package init(record: VersionRecord, actor: String, source: String) {
        self.record = record
        self.actor = actor
        self.source = source
    }
}

/// A wish to raise versions. Versions that are nil stay as they are; a bump that raises `required` replaces the audience with
/// its own (nil: everyone), and one that raises anything brings its own texts (nil: the configuration's).
package struct VersionBump: Hashable, Sendable {
    package var app: AppKey
    package var latest: Version?
    package var required: Version?
    package var downloadURL: String?
    package var message: String?
    package var telephones: [String]?
    package var builds = BuildNumbers()
    /// Whether somebody means it although it is implausible.
    package var isConfirmed = false

    package init(
        app: AppKey, latest: Version? = nil, required: Version? = nil, downloadURL: String? = nil,
        message: String? = nil, telephones: [String]? = nil
    ) {
        self.app = app
        self.latest = latest
        self.required = required
        self.downloadURL = downloadURL
        self.message = message
        self.telephones = telephones
    }
}

/// What a bump did.
package struct BumpOutcome: Sendable {
    /// The record after the bump.
    package var record: VersionRecord
    /// Whether `required` rose.
    package var requiredRose: Bool
    /// The campaign that the rise started; nil when `required` did not rise.
    package var campaign: CampaignRecord?

    package init(record: VersionRecord, requiredRose: Bool, campaign: CampaignRecord?) {
        self.record = record
        self.requiredRose = requiredRose
        self.campaign = campaign
    }
}

/// What a withdrawal did.
package struct Withdrawal: Sendable {
    /// What was required until now.
    package var withdrawn: Version
    /// The record after it.
    package var record: VersionRecord
    /// The campaign of what was withdrawn; nil where it had none.
    package var campaign: CampaignRecord?

    package init(withdrawn: Version, record: VersionRecord, campaign: CampaignRecord?) {
        self.withdrawn = withdrawn
        self.record = record
        self.campaign = campaign
    }
}

extension VersionChange {
    /// The source of a change that took a requirement back: the only one that may let a version fall.
    package static let withdrawal = "withdraw"
}

/// A webhook's id and the answer that it got, kept so that a replay answers alike and changes nothing.
package struct WebhookReceipt: Hashable, Sendable {
    /// The sender's id for the event (`webhook-id`, `X-GitHub-Delivery`, a digest of the body where there is none).
    package var id: String
    /// Which hook received it, for example "version": ids of different hooks do not collide.
    package var hook: String
    /// What was signed: an id stands for one body.
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

/// The version store. Versions only rise (DESIGN, rule 1).
package protocol VersionStore: Sendable {
    /// The record of one app, or nil when nothing was ever stored for it.
    func version(of app: AppKey) throws -> VersionRecord?

    /// All records, ordered by app and platform.
    func versions() throws -> [VersionRecord]

    /// Newest first.
    func history(of app: AppKey, limit: Int) throws -> [VersionChange]

    /// Applies a bump and, when `required` rises, creates its campaign, in one transaction with what comes into force.
    ///
    /// - Parameters:
    ///   - draft: what the configuration adds to a campaign; nil makes no campaign (the watcher does later).
    ///   - waitingReason: why versions of this app first wait for their gate; nil: they are in force at once.
    ///   - receipt: with one, the answer that `render` makes of the outcome is stored in the same transaction.
    /// - Returns: the outcome, or the answer stored before when `receipt` is known already (then nothing changes).
    /// - Throws: `StoreError.versionWouldFall` when either version would fall; `.noDownloadURL` when a campaign would have
    ///   none. A `required` above `latest` is no error: `latest` rises with it.
    func apply(
        _ bump: VersionBump, actor: String, source: String, at now: Timestamp, draft: CampaignDraft?,
        waitingReason: String?, receipt: WebhookReceipt?, render: (BumpOutcome) throws -> StoredAnswer
    ) throws -> AppliedBump

    /// Takes back what an app requires, in one transaction: what was asked for before it is asked for again and, where it was
    /// in force, in force again; its campaign ends as cancelled. The history keeps both. The version may be announced again,
    /// with a campaign of its own.
    ///
    /// - Returns: nil where another version is required, or none.
    func withdraw(
        _ required: Version, of app: AppKey, by actor: String, reason: String?, at now: Timestamp
    ) throws -> Withdrawal?

    /// The answer that was given to this webhook before, if it was.
    ///
    /// - Throws: `StoreError.webhookDiffers` where another body came with its id.
    func answer(to receipt: WebhookReceipt) throws -> StoredAnswer?

    /// Keeps the answer to a webhook that changes nothing, so that a replay answers alike.
    ///
    /// - Returns: the answer that counts: the one stored before, where there is one.
    func keep(_ answer: StoredAnswer, to receipt: WebhookReceipt, at now: Timestamp) throws -> StoredAnswer

    /// Forgets webhook ids received before `time`; returns how many.
    @discardableResult
    func forgetWebhooks(before time: Timestamp) throws -> Int

    /// Creates the campaign of `app` if its required version has none yet (DESIGN, rule 2), and puts it in force where it does
    /// not wait; then older campaigns are superseded (rule 6). Idempotent: the database allows one campaign per app, platform
    /// and required version.
    ///
    /// - Parameter waitingReason: why it first waits for its gate; nil: it does not.
    /// - Returns: the campaign created, or nil when there was nothing to do.
    func reconcile(
        _ app: AppKey, draft: CampaignDraft, waitingReason: String?, at now: Timestamp
    ) throws -> CampaignRecord?

    /// A number that changes when another process (or another connection) has committed to the store
    /// (`PRAGMA data_version`, sqlite.org/pragma.html#pragma_data_version). Cheap enough to ask five times a second.
    func changeMark() throws -> Int64
}

extension VersionStore {
    /// Applies a bump of an app that has no gate.
    package func apply(
        _ bump: VersionBump, actor: String, source: String, at now: Timestamp, draft: CampaignDraft?,
        receipt: WebhookReceipt?, render: (BumpOutcome) throws -> StoredAnswer
    ) throws -> AppliedBump {
        try apply(
            bump, actor: actor, source: source, at: now, draft: draft, waitingReason: nil, receipt: receipt,
            render: render)
    }

    /// Creates the missing campaign of an app that has no gate.
    package func reconcile(_ app: AppKey, draft: CampaignDraft, at now: Timestamp) throws -> CampaignRecord? {
        try reconcile(app, draft: draft, waitingReason: nil, at: now)
    }
}

/// What `VersionStore.apply` came to.
package enum AppliedBump: Sendable {
    case applied(BumpOutcome, StoredAnswer)
    /// The same webhook was answered before: this is that answer.
    case replayed(StoredAnswer)
}
