// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    /// A newer campaign has devices as they are; a superseded one that comes back has those that have moved since, each once.
    static let moved: [ConformanceCase] = [
        ConformanceCase("a device that moves while its campaign is over has its turn when that comes back") { subject in
            for (number, waves) in [nil, WavePlan(ends: [3_000, 10_000])].enumerated() {
                let superseded = try Superseded(of: subject, number, waves: waves, devices: 120) {
                    $0 % 3 == 0 ? .sandbox : .production
                }
                var turns = try superseded.begin(batches: 3)
                try superseded.moveAndAnnounce((0..<120).filter { $0 * 7 % 5 < 2 })
                try same(try subject.pages(superseded.campaign).count, 120, "each is listed")
                try same(try subject.counts(superseded.campaign.key).audience, 120)
                try same(try subject.store.check { _ in true }, [], "faults")
                turns.merge(try superseded.comeBack(), uniquingKeysWith: +)
                try superseded.checkTurns(turns, 120)
            }
        },
        ConformanceCase("a device that had its turn in one environment has no other one in its new one") { subject in
            let superseded = try Superseded(of: subject, 0, waves: nil, devices: 90) {
                $0 % 3 == 0 ? .sandbox : .production
            }
            var turns: [Int64: Int] = [:]
            for shard in try subject.open(superseded.campaign.key) {
                let commit = try subject.batch(shard)
                try subject.commit([commit], at: subject.now)
                for row in commit.rows { turns[row.device, default: 0] += 1 }
            }
            try subject.giveBack(superseded.campaign.key)
            // Twice, and back in between: the store knows where they were counted as long as the campaign may come back.
            let numbers = (0..<90).filter { $0 % 5 == 0 }
            try superseded.moveAndAnnounce(numbers)
            try superseded.moveAndAnnounce(numbers, "4.0")
            try superseded.moveAndAnnounce(numbers, "5.0")
            try same(try subject.store.check { _ in true }, [], "faults")
            turns.merge(try superseded.comeBack(), uniquingKeysWith: +)
            try superseded.checkTurns(turns, 90)
        },
        ConformanceCase("pushes on their way of a campaign that is over are recorded beside devices that move") {
            subject in
            for (number, waves) in [nil, WavePlan(ends: [3_000, 10_000])].enumerated() {
                let superseded = try Superseded(of: subject, number, waves: waves, devices: 60) {
                    $0 % 2 == 0 ? .sandbox : .production
                }
                var commits: [LedgerCommit] = []
                for channel in [Channel.production, .sandbox] {
                    let shards = try subject.open(superseded.campaign.key, channel: channel)
                    guard let shard = shards.first else { continue }
                    commits.append(try subject.batch(shard, limit: 5, in: superseded.draw))
                }
                try superseded.moveAndAnnounce(Array(0..<60))
                for commit in commits {
                    try check(try subject.commit([commit], at: subject.now), "it is recorded")
                }
                try same(try subject.store.check { _ in true }, [], "faults")
                try subject.giveBack(superseded.campaign.key)
                try superseded.moveAndAnnounce((0..<60).filter { $0 % 4 == 0 }, "4.0")
                var turns: [Int64: Int] = [:]
                for row in commits.flatMap(\.rows) { turns[row.device, default: 0] += 1 }
                turns.merge(try superseded.comeBack(), uniquingKeysWith: +)
                try superseded.checkTurns(turns, 60)
            }
        },
        ConformanceCase("a campaign whose time ran out has those that have moved since when it is sent again") {
            subject in
            let expired = try Superseded(of: subject, 0, waves: nil, devices: 60) {
                $0 < 20 ? .sandbox : .production
            }
            var turns = try expired.begin(batches: 2)
            try subject.store.expireCampaign(expired.campaign.key, at: subject.now)
            let counts = try subject.counts(expired.campaign.key)
            try expired.moveAndAnnounce((0..<60).filter { $0 % 3 == 0 })
            try same(try subject.counts(expired.campaign.key), counts)
            try same(try subject.pages(expired.campaign).count, 60, "each is listed")
            try same(try subject.store.check { _ in true }, [], "faults")
            try expired.withdrawNewer()
            let draft = RoundDraft(.retry([.expired]), timeToLive: .seconds(60))
            try same(try subject.store.reopen(expired.campaign.key, for: draft, at: subject.now), .opened)
            var progress = CampaignLifecycle.Gathering.more
            while progress != .done {
                progress = try subject.store.gather(
                    expired.campaign.key, atMost: 1_000, at: subject.now, wants: { _, _ in true }
                ).progress
            }
            turns.merge(try subject.sendAll(expired.campaign), uniquingKeysWith: +)
            try expired.checkTurns(turns, 60)
        },
    ]
}

/// A campaign that gives way to newer ones, of an app of its own, and the turns of its devices.
private struct Superseded {
    let subject: Subject
    let app: AppKey
    let campaign: CampaignRecord
    let draw: WaveDraw?

    init(
        of subject: Subject, _ number: Int, waves: WavePlan?, devices: Int, channel: (Int) -> Channel
    ) throws {
        self.subject = subject
        app = AppKey(app: "moved\(number)", platform: .ios)
        try subject.registerDevices(devices, app: app, channel: channel)
        let campaign = try subject.announce("2.0", app: app)
        self.campaign = campaign
        draw = waves.map { WaveDraw($0, requirement: campaign.requirement.id) }
        try subject.store.planShards(campaign.key, shardSize: 25, waves: waves, at: subject.now)
    }

    /// Sends some batches of each environment, and gives the campaign back.
    ///
    /// - Returns: how often each device was sent to.
    func begin(batches: Int) throws -> [Int64: Int] {
        var turns: [Int64: Int] = [:]
        for _ in 0..<batches {
            for channel in [Channel.production, .sandbox] {
                guard let shard = try subject.open(campaign.key, channel: channel).first else { continue }
                let commit = try subject.batch(shard, limit: 4, in: draw)
                try subject.commit([commit], at: subject.now)
                for row in commit.rows { turns[row.device, default: 0] += 1 }
            }
        }
        try subject.giveBack(campaign.key)
        return turns
    }

    /// Moves devices to the other environment, and cuts a newer campaign.
    func moveAndAnnounce(_ numbers: [Int], _ version: String = "3.0") throws {
        let newer = try subject.announce(version, app: app)
        try subject.move(numbers, of: campaign, byCorrection: false)
        try subject.store.planShards(newer.key, shardSize: 25, waves: nil, at: subject.now)
    }

    func withdrawNewer() throws {
        while let newest = try subject.store.version(of: app)?.required, newest != campaign.requirement.version {
            _ = try subject.store.withdraw(newest, of: app, by: .operator("mary"), reason: nil, at: subject.now)
        }
    }

    /// - Returns: how often each device was sent to from then on.
    func comeBack() throws -> [Int64: Int] {
        try withdrawNewer()
        try same(try subject.record(campaign.key).state, .running)
        return try subject.sendAll(campaign, in: draw)
    }

    func checkTurns(_ turns: [Int64: Int], _ devices: Int) throws {
        try same(turns.count, devices, "each has a turn")
        try same(turns.filter { $0.value != 1 }, [:], "none has two")
        let end = try subject.record(campaign.key)
        try same(end.state, .completed)
        try same([end.figures.counts.accepted, end.figures.counts.audience], [Int64(devices), Int64(devices)])
        try same(try subject.store.check { _ in true }, [], "faults")
    }
}

extension Subject {
    /// The next devices of a shard, all of them accepted.
    fileprivate func batch(_ shard: Shard, limit: Int = 1_000, in draw: WaveDraw? = nil) throws -> LedgerCommit {
        let devices = try read(shard, limit: limit, in: draw)
        return LedgerCommit(
            campaign: shard.campaign, shard: shard.range, cursor: devices.rows.last?.id ?? shard.last,
            shardDone: devices.count < limit,
            rows: devices.rows.map { LedgerRow(device: $0.id, state: .accepted, attempts: 1, telephone: $0.telephone) },
            devices: devices, retirements: [])
    }
}
