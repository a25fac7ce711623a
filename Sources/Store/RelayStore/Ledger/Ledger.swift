// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import Requirements
import UpgradeRules

/// One outcome, on its way into the ledger. The telephone is a slice of the commit's `DeviceRows`.
package struct LedgerRow: Sendable {
    package var device: Int64
    package var state: DeliveryState
    /// Attempts made in all, this one included; 0 for a filtered device.
    package var attempts: UInt16
    /// The push service's reason, a `FilterReason`, or nil.
    package var reason: String?
    /// Only for `.retrying`.
    package var nextAttemptAt: Timestamp?
    /// Only for `.retrying`: the service that tries again.
    package var channel: Channel
    /// The telephone that the push carried, as it was at that moment.
    package var telephone: ByteSlice
    /// Its wave of the campaign.
    package var wave: UInt8 = 0
    /// Whether it is a reminder: its wave has counted its push already.
    package var isReminder = false

    package init(
        device: Int64, state: DeliveryState, attempts: UInt16, reason: String? = nil, nextAttemptAt: Timestamp? = nil,
        channel: Channel = .production, telephone: ByteSlice = .absent
    ) {
        self.device = device
        self.state = state
        self.attempts = attempts
        self.reason = reason
        self.nextAttemptAt = nextAttemptAt
        self.channel = channel
        self.telephone = telephone
    }
}

extension LedgerRow {
    /// The part of the row that the ledger's rule judges.
    package var outcome: LedgerRule.Outcome {
        LedgerRule.Outcome(state, attempts: attempts, reason: reason, isScheduled: nextAttemptAt != nil)
    }
}

/// A token that turned out to belong to the push service's other environment.
package struct EnvironmentCorrection: Hashable, Sendable {
    package var device: Int64
    package var channel: Channel
    /// When it had been registered; a later registration takes precedence.
    package var registeredAt: Timestamp

    package init(device: Int64, channel: Channel, registeredAt: Timestamp) {
        self.device = device
        self.channel = channel
        self.registeredAt = registeredAt
    }
}

/// The results of one batch: written in one transaction (DESIGN, rule 5).
package struct LedgerCommit: Sendable {
    package var campaign: CampaignKey
    /// The shard that the batch came from, as it was read; nil for a batch of due retries.
    package var shard: ShardRange?
    /// The shard's new cursor.
    package var cursor: Int64
    /// Whether the shard has no device after the cursor.
    package var shardDone: Bool
    /// Ascending by device.
    package var rows: [LedgerRow]
    /// The devices that the rows' telephones are slices of.
    package var devices: DeviceRows
    package var retirements: [TokenRetirement]
    package var corrections: [EnvironmentCorrection] = []
    /// The changes that its services' answers make to the app's token doubts.
    package var doubts: [TokenDoubt] = []
    /// The figures that it adds to its campaign's waves; empty where there are none.
    package var waves: [WaveTally] = []
    /// How long its services took to answer; nil: they answered nothing.
    package var latency: LatencyStretch?

    package init(
        campaign: CampaignKey, shard: ShardRange?, cursor: Int64, shardDone: Bool, rows: [LedgerRow],
        devices: DeviceRows,
        retirements: [TokenRetirement]
    ) {
        self.campaign = campaign
        self.shard = shard
        self.cursor = cursor
        self.shardDone = shardDone
        self.rows = rows
        self.devices = devices
        self.retirements = retirements
    }

    /// Whether its outcomes may be packed.
    package var packs: Bool {
        LedgerRule.packs(shard?.packs, cursor: cursor, isDone: shardDone, last: rows.last?.device)
    }

    /// The shard as it is once the commit is recorded.
    package var advanced: ShardRange? {
        shard?.advanced(to: cursor, devices: rows.count, isDone: shardDone)
    }

    /// Makes every retry due at `now` at the latest.
    package mutating func bringForward(to now: Timestamp) {
        for index in rows.indices { rows[index].nextAttemptAt = rows[index].nextAttemptAt.map { min($0, now) } }
    }
}

/// The result of one push, as it is listed.
package struct Delivery: Hashable, Sendable {
    package var campaign: String
    package var app: AppKey
    package var device: Int64
    package var token: String
    package var telephone: String?
    package var state: DeliveryState
    package var reason: String?
    package var attempts: Int
    /// When it is tried again, while retrying.
    package var nextAttemptAt: Timestamp?
    package var updatedAt: Timestamp

    package init(
        campaign: String, app: AppKey, device: Int64, token: String, telephone: String?, state: DeliveryState,
        reason: String?, attempts: Int, nextAttemptAt: Timestamp?, updatedAt: Timestamp
    ) {
        self.campaign = campaign
        self.app = app
        self.device = device
        self.token = token
        self.telephone = telephone
        self.state = state
        self.reason = reason
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.updatedAt = updatedAt
    }
}

/// The place where a list of deliveries over several campaigns goes on.
package struct DeliveryPosition: Hashable, Sendable {
    /// The campaign's public id.
    package var campaign: String
    package var device: Int64

    package init(campaign: String, device: Int64) {
        self.campaign = campaign
        self.device = device
    }
}

extension Delivery {
    package var position: DeliveryPosition { DeliveryPosition(campaign: campaign, device: device) }

    /// Stands in the place of a telephone that was erased: nil would mean the device's present user. The API lets no
    /// control character into a telephone.
    package static let erased = "\u{0}erased"

    /// The delivery as it is listed: without the mark of an erased telephone.
    package var shown: Delivery {
        guard TelephoneRule.matches(telephone, Self.erased) else { return self }
        var delivery = self
        delivery.telephone = nil
        return delivery
    }
}

package protocol Ledger: Sendable {
    /// Reads up to `limit` devices of a shard behind `after` into `rows` (emptied first), in ascending id, removed ones
    /// left out, dead ones included. An empty result means that the shard has no more.
    ///
    /// - Parameter channel: the shard's. A device whose environment has changed since the audience was cut into shards
    ///   has the new one in its row. It still belongs to this shard, and is recorded as a retry of the other
    ///   environment.
    /// - Parameters:
    ///   - slice: only devices of one wave; nil: all.
    ///   - campaign: leaves out the devices that have a row of their own in this campaign's ledger: those of its
    ///     canary. nil: leaves out none.
    func readDevices(
        _ app: AppKey, channel: Channel, after: Int64, through last: Int64, limit: Int,
        of slice: WaveSlice?, without campaign: CampaignKey?, into rows: inout DeviceRows
    ) throws

    /// Reads up to `limit` devices whose retry by `channel` is due at `now` into `rows` (emptied first), ascending
    /// by device id, each with its attempts. A due retry whose device was removed since, or has even gone from the
    /// registry, is read too, with no telephone. A device that has gone has an unknown wave, given as 255.
    ///
    /// - Parameter waves: gives the wave of each device; nil: all are of the first.
    func readDueRetries(
        _ campaign: CampaignKey, channel: Channel, at now: Timestamp, limit: Int, waves: WaveDraw?,
        into rows: inout DeviceRows
    ) throws

    /// Makes due the retries that a clock deferred while it was ahead: retries recorded at a moment that is still to
    /// come, and retries without a schedule, which were due at once when they were recorded. The pause after a wave
    /// that ended at a moment still to come begins now. Called when a campaign begins, or goes on.
    func bringForward(_ campaign: CampaignKey, at now: Timestamp) throws

    /// When the campaign's next retry by `channel` is due; nil when none is scheduled.
    func nextRetry(_ campaign: CampaignKey, channel: Channel) throws -> Timestamp?

    /// Writes batches of a campaign in one transaction: ledger rows, counts, cursors, retirements. A row that exists (a
    /// retry) is replaced and the counts move from its old state to its new one. Rows of a campaign that has since been
    /// cancelled or superseded are written as they are: they were sent. Only `.retrying` becomes `.cancelled` there
    /// (after an expiry `.expired`), for nothing will try it again.
    ///
    /// The commit with the next number of the lease is recorded once. If a call threw, the commit may have been
    /// recorded all the same: a call with the same batches then records them or finds them recorded.
    ///
    /// - Returns: false where the lease is over, or the number is not the next. Then only the facts about tokens are
    ///   written, which hold whichever relay owns the campaign.
    /// - Throws: `StoreError`; `.conflict` where a batch contradicts the store, as it would at every further try. Then
    ///   nothing was recorded.
    func commit(_ batches: [LedgerCommit], of lease: RunLease, at now: Timestamp) throws -> Bool

    /// The last answers of an app's push service against tokens, each kind once.
    func tokenDoubts(of app: AppKey, channel: Channel) throws -> [TokenDoubt]

    /// The devices of a batch that have gone from the registry and have no older outcome to replace: their outcomes
    /// cannot be written. Asked for only after a conflict.
    func goneDevices(of batch: LedgerCommit) throws -> Set<Int64>

    /// Ascending by device id, from `after` (exclusive). Looks through a bounded part of the list: a page may hold less
    /// than `limit`, or nothing, although the list goes on.
    func deliveryPage(
        of campaign: CampaignKey, _ filter: DeliveryFilter, after: Int64, limit: Int
    ) throws -> DeliveryPage

    /// The deliveries to one user (by the telephone that was pushed to) or one device in every campaign, newest
    /// campaign first, including those still pending or cancelled before their turn. Within a campaign ascending by
    /// device, from `after` (exclusive; nil: from the newest campaign on). Campaigns that began since do not move the
    /// items behind `after`. Empty where `after` names an unknown campaign, or the filter names neither user nor
    /// device.
    func deliveries(_ filter: DeliveryFilter, after: DeliveryPosition?, limit: Int) throws -> [Delivery]

    /// How many devices got their present outcome in each stretch of time, ordered by time. A push that was sent again counts
    /// at its last outcome alone. Reads all outcomes of the campaign, in parts; once they are pruned there are none.
    ///
    /// - Parameter grain: the length of a stretch; they begin at whole multiples of it since 1970.
    func outcomes(of campaign: CampaignKey, each grain: Duration) throws -> [OutcomeCount]

    /// How long push services took to answer the campaign's requests, in order of time (`LatencyCourse`). Pruning deletes it.
    func latency(of campaign: CampaignKey) throws -> [LatencyStretch]
}
