// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import UpgradeRules

extension ConformanceCase {
    static let campaigns: [ConformanceCase] = [
        ConformanceCase("campaigns are listed newest first, page by page; open ones oldest first") { subject in
            let apps = (0..<4).map { AppKey(app: "app\($0)", platform: .ios) }
            let made = try apps.map { try subject.announce(app: $0) }.map(\.key)
            try same(try subject.store.campaigns(before: nil, limit: 2).map(\.key), [made[3], made[2]])
            try same(try subject.store.campaigns(before: made[2], limit: 9).map(\.key), [made[1], made[0]])
            try same(try subject.store.openCampaigns().map(\.key), made)
            try same(try subject.store.campaign(CampaignKey(row: 99)), nil)
            try same(try subject.store.campaign(id: "000000000000"), nil)
            try same(Set(try subject.store.openCampaigns().map(\.id)).count, 4)
        },
        ConformanceCase("the time to live of a campaign that waits counts from its start") { subject in
            let campaign = try subject.announce(isGated: true)
            func move(_ event: CampaignChange, _ seconds: Int) throws {
                try check(
                    try subject.store.move(campaign.key, event, at: subject.now + .seconds(seconds)), "moved")
            }
            try move(.paused, 10)
            try same(try subject.record(campaign.key).facts.expiresAt, campaign.facts.expiresAt, "still waiting")
            try subject.look(campaign.requirement.version.text, at: subject.now + .seconds(50))
            try move(.resumed, 100)
            try same(try subject.record(campaign.key).facts.expiresAt, campaign.facts.expiresAt + .seconds(100))
            try move(.paused, 200)
            try move(.resumed, 300)
            try same(
                try subject.record(campaign.key).facts.expiresAt, campaign.facts.expiresAt + .seconds(200),
                "a pause does not eat it up")
        },
        ConformanceCase("a campaign moves only from a state that was named") { subject in
            let key = try subject.announce(isGated: true).key
            func move(_ event: CampaignChange, _ seconds: Int) throws -> Bool {
                try subject.store.move(key, event, at: subject.now + .seconds(seconds))
            }
            try check(!(try move(.suspended(.credential, "no"), 1)), "it was waiting")
            try same(try subject.record(key).state, .waiting)
            try check(try subject.look("2.0.0", at: subject.now + .seconds(2)), "started")
            try same(try subject.record(key).facts.startedAt, subject.now + .seconds(2))
            try check(try move(.suspended(.credential, "a bad credential"), 3), "suspended")
            try same(try subject.record(key).facts.reason, "a bad credential")
            try check(try move(.resumed, 4), "resumed")
            try same(try subject.record(key).facts.startedAt, subject.now + .seconds(2), "started once")
            try same(try subject.record(key).facts.reason, nil)
            try check(try move(.cancelled, 5), "cancelled")
            try check(!(try move(.resumed, 6)), "final")
            try same(try subject.record(key).facts.finishedAt, subject.now + .seconds(5))
            try check(
                !(try subject.store.move(CampaignKey(row: 99), .paused, at: subject.now)), "unknown")
        },
        ConformanceCase("who wants a campaign at any hour is kept with it, until it is paused or sent again") {
            subject in
            var bump = VersionBump(app: subject.app, required: try subject.version("2.0.0"))
            bump.isUrgent = true
            try subject.store.decide(
                subject.app, .asked(bump), by: Signature(by: "ann", via: "cli", at: subject.now),
                in: RequirementMachine.Surroundings(
                    now: subject.now,
                    draft: CampaignDraft(downloadURL: "https://example.com/app", timeToLive: .seconds(3600))))
            let key = try present(try subject.store.openCampaigns().first, "the campaign").key
            func move(_ event: CampaignChange, _ seconds: Int) throws -> CampaignRecord {
                _ = try subject.store.move(key, event, at: subject.now + .seconds(seconds))
                return try subject.record(key)
            }
            try same(try subject.record(key).facts.urgentBy, "ann")
            try same(try move(.hurried, 1).facts.urgentAt, subject.now, "who wanted it first stays named")
            try check(!(try move(.paused, 2).isUrgent), "a pause ends it")
            try check(!(try move(.resumed, 3).isUrgent), "and it stays so")
            try same(try move(.hurried, 4).facts.urgentAt, subject.now + .seconds(4))
            try check(try move(.cancelled, 5).isUrgent, "what was is kept")
            try same(try move(.hurried, 6).facts.urgentAt, subject.now + .seconds(4), "final")
            try check(!(try move(.reopened(timeToLive: .seconds(60)), 7).isUrgent), "sent again it is no emergency")
        },
        ConformanceCase("a campaign goes on, or is opened again, and is sent whatever the hour, in one act") {
            subject in
            try subject.registerDevices(3)
            let key = try subject.announce().key
            let ann = Signature(by: .operator("ann (uid 1001)"), via: "campaign", at: subject.now)
            try check(!(try subject.resume(key, whateverTheHour: ann)), "it runs")
            try check(!(try subject.record(key).isUrgent), "what was refused has changed nothing")
            _ = try subject.store.move(key, .paused, at: subject.now)
            try check(try subject.resume(key, whateverTheHour: ann), "it goes on")
            try same(try subject.record(key).facts.urgentBy, ann.by)
            _ = try subject.store.move(key, .cancelled, at: subject.now)
            var draft = RoundDraft(.retry([.cancelled]), timeToLive: .seconds(3600))
            draft.isUrgent = true
            try same(try subject.store.reopen(key, for: draft, by: ann), .opened)
            try check(try subject.record(key).isUrgent, "sent again")
            var filter = AuditFilter()
            filter.campaign = try subject.record(key).id
            let acts = try subject.store.audit(filter, before: nil, limit: 99).filter { $0.actor == ann.principal }
            try same(
                acts.reversed().map { "\($0.action)" },
                ["campaign.resume", "campaign.hurry", "campaign.retry", "campaign.hurry"])
        },
        ConformanceCase("of many that move a campaign at once, one does") { subject in
            let key = try subject.announce().key
            let moved = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try subject.store.move(key, .paused, at: subject.now) ? 1 : 0
                    }
                }
                return try await group.reduce(0, +)
            }
            try same(moved, 1)
        },
        ConformanceCase("cancelling counts what is pending or retrying as cancelled") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let commit = try subject.batch(shard, limit: 3) {
                LedgerRow(device: $0.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
            }
            try subject.commit([commit], at: subject.now)
            try check(
                try subject.store.move(campaign.key, .cancelled, at: subject.now), "cancelled")
            let counts = try subject.counts(campaign.key)
            try same([counts.pending, counts.retrying, counts.cancelled, counts.audience], [0, 0, 10, 10])
            try same(try subject.store.nextRetry(campaign.key, channel: .production), nil)
            try same(try subject.open(campaign.key), [])
        },
        ConformanceCase("cancelling before planning cancels the whole registry") { subject in
            try subject.registerDevices(4)
            let campaign = try subject.announce(isGated: true)
            try same([campaign.figures.counts.pending, campaign.figures.counts.audience], [4, 4])
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try subject.store.planShards(campaign.key, shardSize: 2, waves: nil, at: subject.now)
            try same(try subject.open(campaign.key), [], "nothing is planned afterwards")
            let counts = try subject.counts(campaign.key)
            try same([counts.pending, counts.cancelled, counts.audience], [0, 4, 4])
            try same(
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(state: .cancelled), after: 0, limit: 9)
                    .count, 4)
        },
        ConformanceCase("expiring counts the rest as expired and completes, from any open state") { subject in
            try subject.registerDevices(5)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let commit = try subject.batch(shard, limit: 2) {
                LedgerRow(
                    device: $0.id, state: $0.id % 2 == 0 ? .retrying : .accepted, attempts: 1,
                    nextAttemptAt: $0.id % 2 == 0 ? subject.now : nil)
            }
            try subject.commit([commit], at: subject.now)
            _ = try subject.store.move(campaign.key, .paused, at: subject.now)
            let end = subject.now + .seconds(3600)
            try subject.store.expireCampaign(campaign.key, at: end)
            let record = try subject.record(campaign.key)
            try same(record.state, .completed)
            try same(record.facts.finishedAt, end)
            try same(
                [record.figures.counts.accepted, record.figures.counts.expired, record.figures.counts.audience],
                [1, 4, 5])
            try same(
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(state: .expired), after: 0, limit: 9)
                    .count, 4)
            try subject.store.expireCampaign(campaign.key, at: end + .seconds(1))
            try same(try subject.record(campaign.key), record, "the second time changes nothing")
        },
        ConformanceCase("a campaign completes when its shards are done and nothing is retried") { subject in
            try subject.registerDevices(2)
            let campaign = try subject.announce()
            func completes() throws -> Bool { try subject.store.completeIfDone(campaign.key, at: subject.now) }
            try check(!(try completes()), "not planned")
            let shard = try subject.onlyShard(campaign)
            try check(!(try completes()), "nothing sent")
            let commit = try subject.batch(shard) {
                LedgerRow(device: $0.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
            }
            try subject.commit([commit], at: subject.now)
            try check(!(try completes()), "retrying")
            try subject.commit(
                [
                    subject.retry(
                        campaign.key, commit.rows.map { LedgerRow(device: $0.device, state: .accepted, attempts: 2) })
                ], at: subject.now)
            _ = try subject.store.move(campaign.key, .paused, at: subject.now)
            try check(!(try completes()), "paused")
            _ = try subject.store.move(campaign.key, .resumed, at: subject.now)
            try check(try completes(), "done")
            try check(!(try completes()), "done already")
            try same(try subject.record(campaign.key).state, .completed)
            try same(try subject.record(campaign.key).facts.finishedAt, subject.now)
        },
        ConformanceCase("a campaign without an audience completes at once") { subject in
            let campaign = try subject.announce()
            try subject.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            try check(try subject.store.completeIfDone(campaign.key, at: subject.now), "nobody to tell")
            try same(try subject.counts(campaign.key).audience, 0)
        },
        ConformanceCase("waves without devices complete at once, and the open paths hear of the force for everybody") {
            subject in
            var draft = subject.draft()
            draft.waves = WavePlan(ends: [1_000, 10_000])
            let decision = try subject.store.decide(
                subject.app, .asked(VersionBump(app: subject.app, required: try subject.version("2.0.0"))),
                by: Signature(by: .tester, at: subject.now), in: .waiting(for: nil, draft: draft, at: subject.now))
            let campaign = try present(decision.campaign, "the campaign")
            try same(decision.after.inForce, nil)
            try subject.store.planShards(campaign.key, shardSize: 10, waves: draft.waves, at: subject.now)
            let heard = Mutex<[Version?]>([])
            subject.store.decisions.hear { fact in
                guard case .decided(let record, isAwaited: false) = fact else { return }
                heard.withLock { $0.append(record.requirements.inForce?.version) }
            }
            try check(try subject.store.completeIfDone(campaign.key, at: subject.now), "no wave has a device")
            try same(heard.withLock { $0 }, [try subject.version("2.0.0")])
        },
    ]

    static let planning: [ConformanceCase] = [
        ConformanceCase("shards cover the app's devices once, in order, each of about the size asked for") { subject in
            let other = AppKey(app: "other", platform: .ios)
            try subject.store.register(
                (0..<100).map { subject.registration($0, telephone: "1", app: $0 % 4 == 3 ? other : nil) },
                at: subject.now)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(0))
            let campaign = try subject.announce()
            try same(campaign.figures.counts.pending, 74, "before planning, the registry's count")
            try check(!campaign.figures.isPlanned, "not planned yet")
            try subject.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            try subject.store.planShards(campaign.key, shardSize: 3, waves: nil, at: subject.now)
            try check(try subject.record(campaign.key).figures.isPlanned, "planned")
            try same(try subject.counts(campaign.key).audience, 74)
            let shards = try subject.open(campaign.key)
            try same(shards.map(\.number), Array(0..<8))
            var seen: [Int64] = []
            var rows = DeviceRows()
            for (number, shard) in shards.enumerated() {
                try subject.store.readDevices(
                    subject.app, channel: .production, after: shard.cursor, through: shard.last, limit: 1000,
                    into: &rows)
                try same(rows.count, number < 7 ? 10 : 4, "devices of shard \(number)")
                seen += rows.rows.map(\.id)
            }
            try same(seen, try subject.store.devices(of: subject.app, after: 0, limit: 100).map(\.id))
        },
        ConformanceCase("who registers after planning is not of the audience") { subject in
            try subject.registerDevices(3)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            try subject.store.register([subject.registration(77, telephone: "1")], at: subject.now)
            var rows = DeviceRows()
            try subject.store.readDevices(
                subject.app, channel: .production, after: shard.cursor, through: shard.last, limit: 9, into: &rows)
            try same(rows.count, 3)
            try same(try subject.counts(campaign.key).audience, 3)
            try same(try subject.store.deliveries(telephone: "1", token: nil, after: nil, limit: 9), [])
        },
    ]
}

extension Subject {
    /// - Returns: false if it was refused.
    fileprivate func resume(_ campaign: CampaignKey, whateverTheHour actor: Signature) throws -> Bool {
        var surroundings = RequirementMachine.Surroundings(now: now)
        surroundings.isUrgent = true
        do {
            return try store.decide(app, .campaign(campaign, .resumed), by: actor, in: surroundings).hasChanged
        } catch is RequirementRefusal {
            return false
        }
    }
}
