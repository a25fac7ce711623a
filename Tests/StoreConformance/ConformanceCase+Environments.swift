// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    /// Production and sandbox are two services: each has its own work.
    static let channels: [ConformanceCase] = [
        ConformanceCase("shards are planned for each environment, and leased by it") { subject in
            try subject.registerDevices(60) { $0 % 3 == 0 ? .sandbox : .production }
            let campaign = try subject.announce()
            try same(try subject.store.channels(of: campaign.key), [], "nothing is planned")
            try subject.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            try same(try subject.store.channels(of: campaign.key), [.production, .sandbox])
            try same(try subject.counts(campaign.key).pending, 60)
            var numbers: [Int] = []
            for (channel, devices) in [(Channel.production, 40), (.sandbox, 20)] {
                let shards = try subject.open(campaign.key, channel: channel)
                try check(!shards.isEmpty && shards.allSatisfy { $0.channel == channel }, "\(channel)")
                numbers += shards.map(\.number)
                let read = try shards.map { try subject.read($0) }
                try check(read.allSatisfy { (1...10).contains($0.count) }, "the shards' size")
                let rows = read.flatMap(\.rows)
                try same(rows.count, devices)
                try same(Set(rows.map(\.id)).count, devices)
                try check(rows.allSatisfy { $0.channel == channel }, "each of \(channel)")
            }
            try same(numbers, Array(0..<numbers.count), "production first")
        },
        ConformanceCase("an environment without devices has no shard") { subject in
            for (number, channel) in [Channel.production, .sandbox].enumerated() {
                let app = AppKey(app: "app\(number)", platform: .ios)
                try subject.registerDevices(25, app: app) { _ in channel }
                let campaign = try subject.announce(app: app)
                try subject.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
                try same(try subject.store.channels(of: campaign.key), [channel])
                try same(try subject.open(campaign.key, channel: channel).count, 3)
                try same(try subject.open(campaign.key, channel: channel.other), [])
            }
            let nobody = try subject.announce("3.0")
            try subject.store.planShards(nobody.key, shardSize: 10, waves: nil, at: subject.now)
            try same(try subject.store.channels(of: nobody.key), [])
        },
        ConformanceCase("each device has its turn once, whatever becomes of its environment meanwhile") { subject in
            for byCorrection in [false, true] {
                let app = AppKey(app: "app\(byCorrection)", platform: .ios)
                try subject.registerDevices(48, app: app) { $0 % 4 == 1 ? .sandbox : .production }
                let campaign = try subject.announce(app: app)
                try subject.store.planShards(campaign.key, shardSize: 9, waves: nil, at: subject.now)
                // After each batch some devices move, in both directions, behind and before the cursors.
                var step = 0
                let turns = try subject.sendAll(campaign) {
                    step += 1
                    let moves = (0..<48).filter { ($0 * 7 + step) % 5 == 0 }
                    try subject.move(moves, of: campaign, byCorrection: byCorrection)
                }
                try check(step > 8, "\(step) batches")
                try same(turns.values.filter { $0 != 1 }.count, 0, "turns")
                try same(turns.count, 48)
                let end = try subject.record(campaign.key)
                try same(
                    [end.figures.counts.accepted, end.figures.counts.pending, end.figures.counts.retrying], [48, 0, 0])
                try same(end.state, .completed)
                try same(try subject.store.channels(of: campaign.key), [])
            }
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a device that moves before its turn comes with its new environment") { subject in
            try subject.registerDevices(4) { $0 == 3 ? .sandbox : .production }
            let campaign = try subject.announce()
            try subject.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            try subject.move([1, 3], of: campaign, byCorrection: false)
            let production = try present(try subject.open(campaign.key).first, "a shard")
            try same(try subject.read(production).rows.map(\.channel), [.production, .sandbox, .production])
            let sandbox = try present(try subject.open(campaign.key, channel: .sandbox).first, "a shard")
            try same(try subject.read(sandbox).rows.map(\.channel), [.production])
            // There and back again.
            try subject.move([1], of: campaign, byCorrection: false)
            try same(
                try subject.read(production).rows.map(\.channel), [.production, .production, .production])
        },
        ConformanceCase("the next campaign takes devices as they are then") { subject in
            try subject.registerDevices(30) { $0 < 10 ? .sandbox : .production }
            let first = try subject.announce()
            try subject.store.planShards(first.key, shardSize: 100, waves: nil, at: subject.now)
            try subject.move(Array(5..<20), of: first, byCorrection: false)
            let second = try subject.announce("3.0")
            try subject.move([29], of: first, byCorrection: false)
            try subject.store.planShards(second.key, shardSize: 100, waves: nil, at: subject.now)
            let sandbox = try present(try subject.open(second.key, channel: .sandbox).first, "a shard")
            try same(
                try subject.read(sandbox).rows.map(\.id),
                try ([0, 1, 2, 3, 4] + Array(10..<20) + [29]).map { try subject.device($0).id })
            let production = try present(try subject.open(second.key).first, "a shard")
            try same(try subject.read(production).count, 14)
            // The first campaign was superseded, and lists each device once.
            try same(try subject.pages(first).map(\.device), try (0..<30).map { try subject.device($0).id })
            try same(try subject.counts(first.key).cancelled, 30)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a retry is its environment's, and what the other has is nothing to it") { subject in
            try subject.registerDevices(20)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var number = 0
            let commit = try subject.batch(shard, last: true) { device in
                number += 1
                return LedgerRow(
                    device: device.id, state: .retrying, attempts: 1,
                    nextAttemptAt: subject.now + .seconds(number <= 15 ? 1 : 5),
                    channel: number <= 15 ? .sandbox : .production)
            }
            try subject.commit([commit], at: subject.now)
            try same(try subject.store.channels(of: campaign.key), [.production, .sandbox])
            func due(_ channel: Channel, after seconds: Int64) throws -> [Int64] {
                var rows = DeviceRows()
                try subject.store.readDueRetries(
                    campaign.key, channel: channel, at: subject.now + .seconds(seconds), limit: 99, waves: nil,
                    into: &rows)
                return rows.rows.map(\.id)
            }
            func next(_ channel: Channel) throws -> Timestamp? {
                try subject.store.nextRetry(campaign.key, channel: channel)
            }
            let devices = commit.rows.map(\.device)
            try same(try due(.production, after: 4), [])
            try same(try due(.production, after: 9), Array(devices[15...]))
            try same(try due(.sandbox, after: 9), Array(devices[..<15]))
            try same(
                [try next(.production), try next(.sandbox)], [subject.now + .seconds(5), subject.now + .seconds(1)])
            // One is handed to production, the rest of the sandbox is over.
            let moved = LedgerRow(
                device: devices[0], state: .retrying, attempts: 1, nextAttemptAt: subject.now, channel: .production)
            let rest = devices[1..<15].map {
                LedgerRow(device: $0, state: .rejected, attempts: 2, reason: "BadDeviceToken", channel: .sandbox)
            }
            try subject.commit([subject.retry(campaign.key, [moved] + rest)], at: subject.now)
            try same(try due(.production, after: 1), [devices[0]])
            try same([try next(.production), try next(.sandbox)], [subject.now, nil])
            try same(try subject.store.channels(of: campaign.key), [.production])
            let counts = try subject.counts(campaign.key)
            try same([counts.retrying, counts.rejected], [6, 14])
        },
        ConformanceCase("what one environment has left is listed, page by page, beside what the other has recorded") {
            subject in
            for (required, done) in [("2.0", Channel.production), ("3.0", .sandbox)] {
                try subject.registerDevices(1500) { $0 % 3 == 0 ? .sandbox : .production }
                let campaign = try subject.announce(required)
                try subject.store.planShards(campaign.key, shardSize: 400, waves: nil, at: subject.now)
                for shard in try subject.open(campaign.key, channel: done) {
                    try subject.commit([try subject.batch(shard, last: true)], at: subject.now)
                }
                let all = try subject.pages(campaign)
                try same(all.map(\.device), try (0..<1500).map { try subject.device($0).id })
                let sandbox = Set(
                    try stride(from: 0, to: 1500, by: 3).map { try subject.device($0).id })
                try check(
                    all.allSatisfy {
                        ($0.state == .accepted) == (sandbox.contains($0.device) == (done == .sandbox))
                    }, "only \(done) has gone out")
                try same(try subject.counts(campaign.key).pending, done == .production ? 500 : 1000)
                for number in [0, 1, 600, 601] {
                    let list = try subject.store.deliveries(
                        telephone: nil, token: subject.token(number), after: nil, limit: 1)
                    try same(list, all.filter { $0.token == subject.token(number) })
                }
                // A device that comes up to the requirement counts, in either environment.
                let version = try subject.version(required)
                for number in 0..<6 {
                    try subject.store.sawVersion(
                        version, app: subject.app, token: subject.token(number), at: subject.now)
                }
                try same(try subject.record(campaign.key).figures.upgraded, done == .production ? 4 : 2)
                try same(try subject.store.check { _ in true }, [], "faults")
                let left = try subject.open(campaign.key, channel: done.other)
                for shard in left {
                    try subject.commit([try subject.batch(shard, last: true)], at: subject.now)
                }
                try same(try subject.pages(campaign).filter { $0.state == .accepted }.count, 1500)
                try check(try subject.store.completeIfDone(campaign.key, at: subject.now), "all are done")
                try same(try subject.counts(campaign.key).audience, 1500)
                try same(try subject.store.check { _ in true }, [], "faults")
            }
        },
        ConformanceCase("a cancelled campaign lists each device of each environment once") { subject in
            try subject.registerDevices(90) { $0 % 3 == 0 ? .sandbox : .production }
            let unplanned = try subject.announce()
            let campaign = try subject.announce("3.0")
            try same(try subject.pages(unplanned).map(\.state), [DeliveryState](repeating: .cancelled, count: 90))
            try subject.store.planShards(campaign.key, shardSize: 20, waves: nil, at: subject.now)
            for channel in [Channel.production, .sandbox] {
                let shard = try present(try subject.open(campaign.key, channel: channel).last, "a shard")
                try subject.commit([try subject.batch(shard, limit: 7)], at: subject.now)
            }
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            let list = try subject.pages(campaign)
            try same(Set(list.map(\.device)).count, 90)
            try same(list.filter { $0.state == .accepted }.count, 14)
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.cancelled, counts.pending], [14, 76, 0])
            // Those that move afterwards are listed once at most, by their outcome where they have one.
            try subject.move(Array(0..<90), of: campaign, byCorrection: false)
            let later = try subject.pages(campaign)
            try same(Set(later.map(\.device)).count, later.count, "once each")
            try same(later.filter { $0.state == .accepted }.count, 14)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("waves are cut for each environment, and a wave is over when both are") { subject in
            try subject.registerDevices(300) { $0 % 3 == 0 ? .sandbox : .production }
            let campaign = try subject.announce()
            let plan = try present(WavePlan(ends: [3_000, 10_000]), "the plan")
            try subject.store.planShards(campaign.key, shardSize: 40, waves: plan, at: subject.now)
            let draw = WaveDraw(plan, requirement: campaign.requirement.id)
            var met: [Int64: Int] = [:]
            for wave in 0..<2 {
                for channel in [Channel.production, .sandbox] {
                    let shards = try subject.open(campaign.key, channel: channel)
                    try check(!shards.isEmpty && shards.allSatisfy { $0.wave == wave }, "wave \(wave)")
                    for shard in shards {
                        var rows = DeviceRows()
                        try subject.store.readDevices(
                            subject.app, channel: channel, after: shard.cursor, through: shard.last,
                            limit: 1_000, of: WaveSlice(draw, number: wave), without: campaign.key, into: &rows)
                        for row in rows.rows { met[row.id, default: 0] += 1 }
                        try check(rows.rows.allSatisfy { $0.channel == channel }, "each of \(channel)")
                        var tally = WaveTally(wave: wave)
                        tally.accepted = Int64(rows.count)
                        var commit = LedgerCommit(
                            campaign: campaign.key, shard: shard.range, cursor: shard.last, shardDone: true,
                            rows: rows.rows.map { LedgerRow(device: $0.id, state: .accepted, attempts: 1) },
                            devices: rows, retirements: [])
                        commit.waves = [tally]
                        try subject.commit([commit], at: subject.now)
                    }
                    try same(
                        try subject.record(campaign.key).figures.waves.list[wave].pending == 0, channel == .sandbox)
                }
                try subject.store.endWave(campaign.key, at: subject.now)
                try subject.store.beginNextWave(campaign.key, at: subject.now)
            }
            try same(met.count, 300)
            try check(met.values.allSatisfy { $0 == 1 }, "each once")
            try check(try subject.store.completeIfDone(campaign.key, at: subject.now), "all are done")
            try same(try subject.counts(campaign.key).accepted, 300)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
    ]
}

extension Subject {
    /// Registers devices 0..<count of the app, each in its `environment`.
    func registerDevices(
        _ count: Int, app other: AppKey? = nil, channel: (Int) -> Channel
    ) throws {
        try store.register(
            (0..<count).map { number in
                var device = registration(number, telephone: "138\(number)", app: other)
                device.environment = channel(number).environment
                return device
            }, at: now)
    }

    func read(_ shard: Shard, limit: Int = 1_000, in draw: WaveDraw? = nil) throws -> DeviceRows {
        var rows = DeviceRows()
        try store.readDevices(
            try record(shard.campaign).app, channel: shard.channel, after: shard.cursor, through: shard.last,
            limit: limit, of: draw.map { WaveSlice($0, number: shard.wave) },
            without: draw == nil ? nil : shard.campaign, into: &rows)
        return rows
    }

    /// Moves devices to the other environment.
    func move(_ numbers: [Int], of campaign: CampaignRecord, byCorrection: Bool) throws {
        let devices = try numbers.map { try present(try store.device(campaign.app, token: token($0)), "device \($0)") }
        guard byCorrection else {
            try store.register(
                devices.map { device in
                    var registration = device.registration
                    registration.environment = registration.channel.other.environment
                    return registration
                }, at: now)
            return
        }
        var commit = retry(campaign.key, [])
        commit.corrections = devices.map {
            EnvironmentCorrection(
                device: $0.id, channel: $0.registration.channel.other, registeredAt: $0.registeredAt)
        }
        try self.commit([commit], at: now)
    }

    /// Sends a campaign as a fan-out of two services does: each reads its own shards and retries, a few devices at a time, and
    /// hands devices that have moved to the other service.
    ///
    /// - Parameter draw: nil if the campaign has no waves.
    /// - Returns: how often each device was sent to.
    func sendAll(
        _ campaign: CampaignRecord, in draw: WaveDraw? = nil, afterBatch: () throws -> Void = {}
    ) throws -> [Int64: Int] {
        var turns: [Int64: Int] = [:]
        func rows(_ devices: DeviceRows, by channel: Channel) -> [LedgerRow] {
            devices.rows.map { device in
                guard device.channel == channel else {
                    return LedgerRow(
                        device: device.id, state: .retrying, attempts: device.attempts, nextAttemptAt: now,
                        channel: device.channel, telephone: device.telephone)
                }
                turns[device.id, default: 0] += 1
                return LedgerRow(device: device.id, state: .accepted, attempts: 1, telephone: device.telephone)
            }
        }
        while true {
            let channels = try store.channels(of: campaign.key)
            guard !channels.isEmpty else { break }
            var areWaiting = draw != nil
            for channel in channels {
                if let shard = try open(campaign.key, channel: channel).first {
                    let devices = try read(shard, limit: 4, in: draw)
                    let commit = LedgerCommit(
                        campaign: campaign.key, shard: shard.range, cursor: devices.rows.last?.id ?? shard.last,
                        shardDone: devices.count < 4, rows: rows(devices, by: channel), devices: devices,
                        retirements: [])
                    try self.commit([commit], at: now)
                    try afterBatch()
                    areWaiting = false
                    continue
                }
                var devices = DeviceRows()
                try store.readDueRetries(
                    campaign.key, channel: channel, at: now, limit: 4, waves: draw, into: &devices)
                try self.commit([retry(campaign.key, rows(devices, by: channel), devices)], at: now)
                if !devices.isEmpty { areWaiting = false }
            }
            guard areWaiting else { continue }
            try store.endWave(campaign.key, at: now)
            try store.beginNextWave(campaign.key, at: now)
        }
        try check(try store.completeIfDone(campaign.key, at: now), "all are done")
        return turns
    }

    /// Every delivery of a campaign, a few on each page.
    func pages(_ campaign: CampaignRecord) throws -> [Delivery] {
        var found: [Delivery] = []
        while true {
            let page = try store.deliveries(
                of: campaign.key, DeliveryFilter(), after: found.last?.device ?? 0, limit: 70)
            found += page
            if page.count < 70 { return found }
        }
    }
}
