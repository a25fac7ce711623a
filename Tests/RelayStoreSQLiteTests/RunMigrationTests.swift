// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

/// Stores of version 20, whose campaigns and shards hold the columns that runs hold now.
@Suite("The step to runs") struct RunMigrationTests {
    private let fixture: StoreFixture
    private let relay: Signature

    init() throws {
        fixture = try StoreFixture()
        relay = .relay(at: fixture.now)
        try fixture.registerDevices(0..<60)
    }

    /// A campaign of 60 devices in three shards: the first is done except for two retries, with two refused; the second is
    /// begun, the third is not.
    private func campaign(waves: WavePlan? = nil) throws -> CampaignRecord {
        let store = fixture.store
        let bump = VersionBump(app: fixture.app, required: try Version("2"))
        _ = try store.apply(
            bump, actor: "tester", source: "test", at: fixture.now,
            draft: CampaignDraft(downloadURL: fixture.draft.downloadURL, timeToLive: .seconds(60), waves: waves),
            receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try store.openCampaigns().first)
        try store.planShards(campaign.key, shardSize: 20, waves: waves, at: fixture.now)
        var lease = try #require(try store.claimRun(campaign.key))
        for shard in try store.openShards(campaign.key, channel: .production).prefix(2) {
            let isFirst = shard.number == 0
            let batch = try batch(campaign, shard, store, isLast: isFirst) { device in
                switch device.id % 10 {
                case 0 where isFirst:
                    LedgerRow(device: device.id, state: .retrying, attempts: 1, nextAttemptAt: fixture.now)
                case 5 where isFirst:
                    LedgerRow(device: device.id, state: .rejected, attempts: 1, reason: "Forbidden")
                default: LedgerRow(device: device.id, state: .accepted, attempts: 1)
                }
            }
            #expect(try store.commit([batch], of: lease, at: fixture.now))
            lease.commits += 1
        }
        return try #require(try store.campaign(campaign.key))
    }

    private func batch(
        _ campaign: CampaignRecord, _ shard: ShardRange, _ store: SQLiteStore, isLast: Bool,
        outcome: (DeviceRow) -> LedgerRow = { LedgerRow(device: $0.id, state: .accepted, attempts: 1) }
    ) throws -> LedgerCommit {
        var devices = DeviceRows()
        try store.readDevices(
            fixture.app, channel: .production, after: shard.cursor, through: shard.last, limit: isLast ? 99 : 5,
            of: campaign.requirement.stages.map {
                WaveSlice(WaveDraw($0, requirement: campaign.requirement.id), number: shard.wave)
            },
            without: campaign.requirement.stages == nil ? nil : campaign.key, into: &devices)
        var commit = LedgerCommit(
            campaign: campaign.key, shard: shard, cursor: devices.rows.last?.id ?? shard.last, shardDone: isLast,
            rows: devices.rows.map(outcome), devices: devices, retirements: [])
        if campaign.requirement.stages != nil { commit.waves = [WaveTally(wave: shard.wave)] }
        return commit
    }

    /// Checks that a store's campaigns are the same before the step and after it.
    private func hold(_ key: CampaignKey) throws -> SQLiteStore {
        var before = try #require(try fixture.store.campaign(key))
        // Which service answered was not counted then.
        before.figures.channels = [:]
        let deliveries = try fixture.store.deliveries(of: key, DeliveryFilter(), after: 0, limit: 99)
        #expect(try fixture.store.check { _ in true } == [])
        try fixture.undoRuns()
        let store = try SQLiteStore(path: fixture.path)
        #expect(try store.campaign(key) == before)
        #expect(try store.deliveries(of: key, DeliveryFilter(), after: 0, limit: 99) == deliveries)
        #expect(try store.check { _ in true } == [])
        return store
    }

    /// Sends the rest, wave by wave.
    private func finish(_ campaign: CampaignRecord, _ store: SQLiteStore) throws {
        var lease = try #require(try store.claimRun(campaign.key))
        for _ in 0..<3 {
            for shard in try store.openShards(campaign.key, channel: .production) {
                let batch = try batch(campaign, shard, store, isLast: true)
                #expect(try store.commit([batch], of: lease, at: fixture.now))
                lease.commits += 1
            }
            try store.endWave(campaign.key, at: fixture.now)
            try store.beginNextWave(campaign.key, at: fixture.now)
        }
        var due = DeviceRows()
        try store.readDueRetries(
            campaign.key, channel: .production, at: fixture.now, limit: 99, waves: nil, into: &due)
        let retries = LedgerCommit(
            campaign: campaign.key, shard: nil, cursor: 0, shardDone: false,
            rows: due.rows.map { LedgerRow(device: $0.id, state: .accepted, attempts: 2) }, devices: due,
            retirements: [])
        #expect(try store.commit([retries], of: lease, at: fixture.now))
        #expect(try store.completeIfDone(campaign.key, at: fixture.now))
        let counts = try #require(try store.campaign(campaign.key)).figures.counts
        #expect(counts.accepted + counts.rejected == 60 && counts.audience == 60)
        #expect(try store.check { _ in true } == [])
    }

    @Test(
        "One that is open goes on where it stood, as a whole and in waves",
        arguments: [nil, WavePlan(ends: [5000, 10_000])])
    func open(waves: WavePlan?) throws {
        let campaign = try campaign(waves: waves)
        let store = try hold(campaign.key)
        defer { store.close() }
        try finish(campaign, store)
    }

    @Test("One that is halted goes on when it is resumed")
    func halted() throws {
        let campaign = try campaign()
        try fixture.store.decide(campaign, .suspended(.credential, "refused"), by: relay)
        let store = try hold(campaign.key)
        defer { store.close() }
        #expect(try store.claimRun(campaign.key) == nil)
        try store.decide(campaign, .resumed, by: relay)
        try finish(campaign, store)
    }

    @Test(
        "One that is over is opened again for those whom it left out", arguments: [DeliveryState.cancelled, .expired])
    func over(end: DeliveryState) throws {
        let campaign = try campaign()
        if end == .cancelled {
            try fixture.store.decide(campaign, .cancelled, by: relay)
        } else {
            try fixture.store.expireCampaign(campaign.key, at: fixture.now)
        }
        let store = try hold(campaign.key)
        defer { store.close() }
        #expect(try store.campaign(campaign.key)?.figures.counts[end] == 37)
        let draft = RoundDraft(.retry([end]), timeToLive: .seconds(60))
        #expect(try store.reopen(campaign.key, for: draft, at: fixture.now) == .opened)
        while try store.gather(campaign.key, atMost: 99, at: fixture.now, wants: { _, _ in true }).progress != .done {}
        try finish(campaign, store)
    }

    @Test("One that left out people, and was opened again for others, still leaves them out")
    func settled() throws {
        let campaign = try campaign()
        try fixture.store.decide(campaign, .cancelled, by: relay)
        let draft = RoundDraft(.retry([.rejected]), timeToLive: .seconds(60))
        #expect(try fixture.store.reopen(campaign.key, for: draft, at: fixture.now) == .opened)
        let store = try hold(campaign.key)
        defer { store.close() }
        #expect(try store.openShards(campaign.key, channel: .production) == [])
        #expect(try store.campaign(campaign.key)?.figures.counts.cancelled == 37)
    }

    @Test("One that a newer one took the place of, and one that was pruned, keep their counts")
    func superseded() throws {
        let campaign = try campaign()
        _ = try fixture.store.apply(
            VersionBump(app: fixture.app, required: try Version("3")), actor: "tester", source: "test",
            at: fixture.now, draft: fixture.draft, receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        #expect(try fixture.store.campaign(campaign.key)?.state == .superseded)
        let late = fixture.now + .seconds(99)
        var looks = 0
        _ = try? fixture.store.prune(before: late, at: late) { _ in
            looks += 1
            return looks < 1
        }
        let before = try #require(try fixture.store.campaign(campaign.key))
        #expect(before.figures.counts.cancelled == 37 && before.figures.counts.audience == 60)
        let store = try hold(campaign.key)
        defer { store.close() }
        _ = try store.prune(before: late, at: late) { _ in true }
        #expect(try store.campaign(campaign.key)?.figures.counts == before.figures.counts)
        #expect(try store.check { _ in true } == [])
    }
}
