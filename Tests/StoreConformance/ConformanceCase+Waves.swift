// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

extension ConformanceCase {
    static let waves: [ConformanceCase] = [
        ConformanceCase("the waves' shards hold each device of the audience once, in the wave that it is drawn for") {
            subject in
            let (campaign, draw) = try subject.waved(devices: 400, ends: [1_000, 4_000, 10_000], shardSize: 100)
            let waves = try subject.record(campaign.key).figures.waves
            try same(waves.list.map(\.end), [1_000, 4_000, 10_000])
            try same(waves.list.reduce(0) { $0 + $1.devices }, 400)
            try same(waves.list.map(\.pending), waves.list.map(\.devices))
            try same(waves.list.map { $0.begunAt != nil }, [true, false, false])
            try same(try subject.counts(campaign.key).pending, 400)
            var met: Set<Int64> = []
            for wave in 0..<3 {
                let shards = try subject.open(campaign.key)
                try check(!shards.isEmpty && shards.allSatisfy { $0.wave == wave }, "only shards of wave \(wave)")
                var devices = 0
                for shard in shards {
                    let rows = try subject.read(shard, draw)
                    devices += rows.count
                    for row in rows.rows { try check(met.insert(row.id).inserted, "device \(row.id) twice") }
                    try subject.commit([subject.accept(shard, rows)], at: subject.now)
                }
                try same(Int64(devices), waves.list[wave].devices)
                try same(try subject.open(campaign.key), [], "the next wave has not begun")
                try check(
                    !(try subject.store.completeIfDone(campaign.key, at: subject.now)) || wave == 2, "there is more")
                try subject.store.endWave(campaign.key, at: subject.now)
                try subject.store.beginNextWave(campaign.key, at: subject.now)
            }
            try same(met.count, 400)
            let end = try subject.record(campaign.key)
            try same(
                [end.figures.counts.accepted, end.figures.counts.pending, end.figures.counts.audience], [400, 0, 400])
            try same(end.figures.waves.list.map(\.accepted), waves.list.map(\.devices))
            try same(end.state, .completed)
        },
        ConformanceCase("a wave begins only when the one before is over") { subject in
            let (campaign, _) = try subject.waved(devices: 50, ends: [5_000, 10_000], shardSize: 100)
            try subject.listen(events: [.waveDone])
            try subject.store.beginNextWave(campaign.key, at: subject.now)
            try same(try subject.record(campaign.key).figures.waves.current?.number, 0)
            try subject.store.endWave(campaign.key, at: subject.now)
            try subject.store.endWave(campaign.key, at: subject.now + .seconds(9))
            try same(
                try subject.record(campaign.key).figures.waves.current?.endedAt, subject.now,
                "the second time does nothing")
            try same(
                try subject.events().compactMap { $0.campaign?.figures.waves.current?.number }, [0], "and is told once")
            try subject.store.beginNextWave(campaign.key, at: subject.now)
            try same(try subject.record(campaign.key).figures.waves.current?.number, 1)
            try subject.store.endWave(campaign.key, at: subject.now)
            try subject.store.beginNextWave(campaign.key, at: subject.now)
            try same(try subject.record(campaign.key).figures.waves.current?.number, 1, "there is none after it")
        },
        ConformanceCase("no wave ends of a campaign that does not run") { subject in
            let (campaign, _) = try subject.waved(devices: 50, ends: [5_000, 10_000], shardSize: 100)
            _ = try subject.store.move(campaign.key, .paused, at: subject.now)
            try subject.store.endWave(campaign.key, at: subject.now)
            try same(try subject.record(campaign.key).figures.waves.current?.endedAt, nil)
            _ = try subject.store.move(campaign.key, .resumed, at: subject.now)
            try subject.store.endWave(campaign.key, at: subject.now + .seconds(1))
            try same(try subject.record(campaign.key).figures.waves.current?.endedAt, subject.now + .seconds(1))
        },
        ConformanceCase("the pause after a wave that ended ahead of the clock begins when the campaign begins again") {
            subject in
            let (campaign, _) = try subject.waved(devices: 50, ends: [5_000, 10_000], shardSize: 100)
            try subject.store.endWave(campaign.key, at: subject.now + .seconds(3_600))
            try subject.store.bringForward(campaign.key, at: subject.now)
            try same(try subject.record(campaign.key).figures.waves.current?.endedAt, subject.now)
            try subject.store.bringForward(campaign.key, at: subject.now - .seconds(1))
            try same(
                try subject.record(campaign.key).figures.waves.current?.endedAt, subject.now, "a second is no leap")
        },
        ConformanceCase("what held a wave is released by going on, and by that only") { subject in
            let (campaign, _) = try subject.waved(devices: 50, ends: [5_000, 10_000], shardSize: 100)
            func move(_ event: CampaignChange) throws {
                try check(try subject.store.move(campaign.key, event, at: subject.now), "\(event)")
            }
            try check(!(try subject.store.releaseWave(campaign.key, at: subject.now)), "the wave is not over")
            try subject.store.endWave(campaign.key, at: subject.now)
            try move(.paused)
            try check(!(try subject.store.releaseWave(campaign.key, at: subject.now)), "paused")
            try move(.resumed)
            try same(try subject.releasedAt(campaign), nil, "nobody said anything about the wave")
            try check(try subject.store.holdWave(campaign.key, .approval, reason: "why", at: subject.now), "running")
            try check(
                !(try subject.store.holdWave(campaign.key, .approval, reason: "why", at: subject.now)),
                "suspended already")
            let held = try subject.record(campaign.key)
            try same([held.state.rawValue, held.facts.reason], ["suspended", "why"])
            try same(try subject.releasedAt(campaign), nil)
            try move(.resumed)
            try same(try subject.releasedAt(campaign), subject.now)

            let other = try subject.waved(devices: 0, ends: [5_000, 10_000], shardSize: 100, required: "3.0").0
            try subject.store.endWave(other.key, at: subject.now)
            try check(try subject.store.releaseWave(other.key, at: subject.now), "while it runs")
            try same(try subject.record(other.key).figures.waves.current?.releasedAt, subject.now)
        },
        ConformanceCase("a device without an outcome is listed once, whatever its wave") { subject in
            let (campaign, draw) = try subject.waved(devices: 120, ends: [2_000, 10_000], shardSize: 30)
            let shard = try present(try subject.open(campaign.key).first, "a shard")
            let rows = try subject.read(shard, draw)
            try subject.commit([subject.accept(shard, rows)], at: subject.now)
            var listed: [Int64] = []
            var after: Int64 = 0
            while true {
                let page = try subject.store.deliveries(
                    of: campaign.key, DeliveryFilter(), after: after, limit: 7)
                guard let last = page.last else { break }
                listed += page.map(\.device)
                after = last.device
            }
            try same(listed.count, 120)
            try same(Set(listed).count, 120)
            let pending = try subject.store.deliveries(
                of: campaign.key, DeliveryFilter(state: .pending), after: 0, limit: 1_000)
            try same(pending.count, 120 - rows.count)
            for number in 0..<120 {
                try same(
                    try subject.store.deliveries(telephone: "138\(number)", token: nil, after: nil, limit: 9).count, 1)
            }
        },
        ConformanceCase("a retry counts for the wave of its device") { subject in
            let (campaign, draw) = try subject.waved(devices: 60, ends: [5_000, 10_000], shardSize: 1_000)
            let shard = try present(try subject.open(campaign.key).first, "a shard")
            let rows = try subject.read(shard, draw)
            var tally = WaveTally(wave: 0)
            tally.retrying = Int64(rows.count)
            var commit = subject.accept(shard, rows) { id in
                LedgerRow(device: id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
            }
            commit.waves = [tally]
            try subject.commit([commit], at: subject.now)
            let count = Int64(rows.count)
            try same(try subject.waveCounts(campaign.key), [0, 0, count])
            var due = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now, limit: 1_000, waves: draw, into: &due)
            try same(due.rows.map(\.wave), [UInt8](repeating: 0, count: rows.count))
            try subject.again(campaign.key, due, WaveTally(wave: 0, accepted: 3, failed: 2, retrying: 1, again: 6))
            try same(try subject.waveCounts(campaign.key), [3, 2, count - 5])
            try subject.again(campaign.key, due, WaveTally(wave: 0, failed: count - 5, again: count - 5))
            try same(try subject.waveCounts(campaign.key), [3, count - 3, 0])
            // The campaign was opened again for the failed devices.
            try subject.again(campaign.key, due, WaveTally(wave: 0, accepted: 1, retrying: 1, again: 2))
            try same(try subject.waveCounts(campaign.key), [4, count - 5, 1])
            try subject.again(campaign.key, due, WaveTally(wave: 0, accepted: 2, again: 2))
            try same(try subject.waveCounts(campaign.key), [6, count - 6, 0])
            // Devices of a canary were not counted here.
            try subject.again(campaign.key, due, WaveTally(wave: 0, accepted: count, again: count))
            try same(try subject.waveCounts(campaign.key), [6 + count, 0, 0])
        },
    ]
}

extension Subject {
    /// The accepted, failed and retrying of the wave that has begun last.
    fileprivate func waveCounts(_ campaign: CampaignKey) throws -> [Int64?] {
        let wave = try record(campaign).figures.waves.current
        return [wave?.accepted, wave?.failed, wave?.retrying]
    }

    /// Counts answers to pushes that were tried before.
    fileprivate func again(_ campaign: CampaignKey, _ devices: DeviceRows, _ tally: WaveTally) throws {
        var commit = LedgerCommit(
            campaign: campaign, shard: nil, cursor: 0, shardDone: false, rows: [], devices: devices, retirements: [])
        commit.waves = [tally]
        try self.commit([commit], at: now)
    }

    /// A campaign that was cut into waves.
    func waved(
        devices: Int, ends: [Int], shardSize: Int, required: String = "2.0"
    ) throws -> (CampaignRecord, WaveDraw) {
        try registerDevices(devices)
        let campaign = try announce(required)
        let plan = try present(WavePlan(ends: ends), "the plan")
        try store.planShards(campaign.key, shardSize: shardSize, waves: plan, at: now)
        return (campaign, WaveDraw(plan, requirement: campaign.requirement.id))
    }

    /// The time at which the current wave's successor was let go.
    fileprivate func releasedAt(_ campaign: CampaignRecord) throws -> Timestamp? {
        let record = try record(campaign.key)
        return record.figures.waves.current?.releasedAt
    }

    fileprivate func read(_ shard: Shard, _ draw: WaveDraw) throws -> DeviceRows {
        var rows = DeviceRows()
        try store.readDevices(
            app, channel: shard.channel, after: shard.cursor, through: shard.last, limit: 1_000,
            of: WaveSlice(draw, number: shard.wave), without: shard.campaign, into: &rows)
        return rows
    }

    fileprivate func accept(
        _ shard: Shard, _ rows: DeviceRows,
        outcome: (Int64) -> LedgerRow = { LedgerRow(device: $0, state: .accepted, attempts: 1) }
    ) -> LedgerCommit {
        var commit = LedgerCommit(
            campaign: shard.campaign, shard: shard.range, cursor: shard.last, shardDone: true,
            rows: rows.rows.map { outcome($0.id) }, devices: rows, retirements: [])
        var tally = WaveTally(wave: shard.wave)
        tally.accepted = Int64(rows.count)
        commit.waves = [tally]
        return commit
    }
}
