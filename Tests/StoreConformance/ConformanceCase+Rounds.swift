// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    /// Campaigns that are opened again for some of their devices.
    static let rounds: [ConformanceCase] = [
        ConformanceCase("what was rejected is put in line again, in steps, and the counts move with it") { subject in
            try subject.registerDevices(2500)
            let campaign = try subject.announce()
            try subject.send(campaign) { number in number % 2 == 0 ? .rejected : .accepted }
            try same(try subject.record(campaign.key).figures.rejectedBy, ["Forbidden": 1250])
            let late = subject.now + .seconds(10_000)
            try same(try subject.retry(campaign, [.rejected], at: late), .opened)
            let open = try subject.record(campaign.key)
            try same([open.state], [.running])
            try same([open.facts.finishedAt, open.facts.expiresAt], [nil, late + .seconds(3600)])
            try check(open.isGathering, "devices are to be found")
            try check(!(try subject.store.completeIfDone(campaign.key, at: late)), "it is not done")
            // A limit on how many are in line: the step that reaches it is the last until some are sent.
            try same(try subject.gather(campaign, atMost: 1, at: late).devices, 1000)
            try same(try subject.gather(campaign, atMost: 1, at: late).progress, .full)
            let last = try subject.gather(campaign, at: late)
            try same(last.progress, .done)
            try same(last.devices, 250)
            try check(!last.opensShards, "none was left out")
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.retrying, counts.rejected, counts.audience], [1250, 1250, 0, 2500])
            try same(try subject.record(campaign.key).figures.rejectedBy.values.reduce(0, +), 0)
            try same(try subject.record(campaign.key).figures.rounds.map(\.devices), [1250])
            var devices = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: late, limit: 9999, waves: nil, into: &devices)
            try same(devices.rows.map(\.attempts), [UInt16](repeating: 1, count: 1250))
            try check(devices.rows.allSatisfy { $0.again == .untried }, "not tried since")
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a retry that was tried and failed is no longer untried") { subject in
            try subject.registerDevices(2)
            let campaign = try subject.announce()
            try subject.send(campaign) { _ in .rejected }
            try same(try subject.retry(campaign, [.rejected]), .opened)
            _ = try subject.gather(campaign)
            let first = try subject.device(0).id
            try subject.commit(
                [
                    subject.retry(
                        campaign.key,
                        [LedgerRow(device: first, state: .retrying, attempts: 2, nextAttemptAt: subject.now)])
                ], at: subject.now)
            var devices = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now, limit: 9, waves: nil, into: &devices)
            try same(devices.rows.map(\.again), [[], .untried])
        },
        ConformanceCase("a cancelled campaign goes on where it stood, the retries that it had with it") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let commit = try subject.batch(shard, limit: 4) {
                $0.id % 2 == 0
                    ? LedgerRow(device: $0.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
                    : LedgerRow(device: $0.id, state: .accepted, attempts: 1)
            }
            try subject.commit([commit], at: subject.now)
            try check(
                try subject.store.move(campaign.key, .cancelled, at: subject.now), "cancelled")
            try same(try subject.counts(campaign.key).cancelled, 8)
            try same(try subject.retry(campaign, [.expired]), .nothingLeft)
            try same(try subject.retry(campaign, [.cancelled]), .opened)
            try same(try subject.record(campaign.key).facts.reason, nil)
            try same(try subject.gather(campaign).progress, .done, "whoever was left out is in line already")
            try same(try subject.record(campaign.key).figures.rounds.map(\.devices), [8])
            let counts = try subject.counts(campaign.key)
            try same([counts.pending, counts.retrying, counts.accepted, counts.cancelled], [6, 2, 2, 0])
            let again = try present(try subject.open(campaign.key).first, "the shard")
            try same([again.cursor, again.last], [commit.cursor, shard.last])
            try same(try subject.store.check { _ in true }, [], "faults")
            // And once more: pushes counted as cancelled are now counted as expired.
            try subject.store.expireCampaign(campaign.key, at: subject.now)
            let end = try subject.counts(campaign.key)
            try same([end.expired, end.cancelled, end.audience], [8, 0, 10])
            try same(
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(state: .expired), after: 0, limit: 99)
                    .count, 8)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("what is not sent again stays counted as it was, and is told so") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let commit = try subject.batch(shard, limit: 4) {
                LedgerRow(device: $0.id, state: .rejected, attempts: 1, reason: "Forbidden")
            }
            try subject.commit([commit], at: subject.now)
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try same(try subject.retry(campaign, [.rejected]), .opened)
            while try subject.gather(campaign).progress != .done {}
            let counts = try subject.counts(campaign.key)
            try same([counts.retrying, counts.cancelled, counts.pending, counts.audience], [4, 6, 0, 10])
            try same(try subject.told(.cancelled, campaign), 6)
            try same(
                try subject.store.deliveries(telephone: "1387", token: nil, after: nil, limit: 9).map(\.state),
                [.cancelled])
            // Pushes that were in flight when it was cancelled are still taken out of that count.
            var rest = shard
            rest.range = commit.advanced ?? rest.range
            let late = try subject.batch(rest, limit: 2)
            try subject.commit([late], at: subject.now)
            try same(try subject.counts(campaign.key).cancelled, 4)
            try same(try subject.counts(campaign.key).audience, 10)
            try same(try subject.store.check { _ in true }, [], "faults")
            try subject.store.expireCampaign(campaign.key, at: subject.now)
            let end = try subject.counts(campaign.key)
            try same([end.expired, end.cancelled, end.audience], [4, 4, 10])
            try same(try subject.told(.cancelled, campaign), 4)
        },
        ConformanceCase("a campaign that was cancelled before it was planned begins as a new one") { subject in
            try subject.registerDevices(4)
            let campaign = try subject.announce()
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try subject.registerDevices(7)
            try same(try subject.counts(campaign.key).cancelled, 4, "those of then")
            try same(try subject.told(.cancelled, campaign), 4)
            try same(try subject.retry(campaign, [.cancelled]), .opened)
            try same(try subject.gather(campaign).progress, .done)
            let record = try subject.record(campaign.key)
            try check(!record.figures.isPlanned, "with the audience of now")
            try same(
                [record.figures.counts.pending, record.figures.counts.cancelled, record.figures.counts.audience],
                [7, 0, 7])
            try same(try subject.onlyShard(campaign).cursor, 0)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a campaign is opened again only where it is over and its version is the required one") {
            subject in
            try subject.registerDevices(3)
            let first = try subject.announce("2.0.0")
            try same(try subject.retry(first), .notOver(.running))
            _ = try subject.store.move(first.key, .paused, at: subject.now)
            try same(try subject.retry(first), .notOver(.paused))
            try same(try subject.remind(first), .notOver(.paused))
            let second = try subject.announce("3.0.0")
            try same(try subject.retry(first), .superseded)
            _ = try subject.store.move(second.key, .cancelled, at: subject.now)
            let third = try subject.announce("4.0.0")
            try same(try subject.retry(second), .superseded)
            try subject.send(third) { _ in .accepted }
            try same(try subject.retry(third), .nothingLeft)
            let after = try subject.record(third.key)
            try same(after.state, .completed, "a refusal changes nothing")
            try same(after.figures.rounds, [])
            try same(try subject.store.campaignInForce(of: subject.app)?.key, third.key)
            try same(try subject.store.campaignInForce(of: AppKey(app: "other", platform: .ios)), nil)
            let late = subject.now + .seconds(9)
            _ = try subject.store.prune(before: late, at: late) { _ in true }
            try same(try subject.remind(third), .pruned)
        },
        ConformanceCase("a reminder goes to those of the accepted who are wanted, first rows, then batches") {
            subject in
            try subject.registerDevices(3000)
            let campaign = try subject.announce()
            // Every tenth was accepted at the second attempt and has a row.
            try subject.send(campaign, attempts: { $0 % 10 == 0 ? 2 : 1 }) { $0 == 7 ? .rejected : .accepted }
            try same(try subject.remind(campaign), .opened)
            var devices: Int64 = 0
            var steps = 0
            var gathered = Gathered(.more)
            while gathered.progress == .more {
                gathered = try subject.gather(campaign) { $0.id % 2 == 0 }
                try check(gathered.devices <= 1000, "in steps")
                devices += gathered.devices
                steps += 1
                let counts = try subject.counts(campaign.key)
                try same([counts.audience, counts.retrying, counts.rejected], [3000, devices, 1])
                try same(try subject.store.check { _ in true }, [], "faults")
            }
            try same([gathered.progress], [.done])
            try check(steps > 3, "the rows, the batches, the end")
            let wanted = try subject.store.devices(of: subject.app, after: 0, limit: 9999).map(\.id)
                .filter { $0 % 2 == 0 && $0 != (try? subject.device(7).id) }
            try same(devices, Int64(wanted.count))
            var rows = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now, limit: 9999, waves: nil, into: &rows)
            try same(rows.rows.map(\.id), wanted)
            try check(rows.rows.allSatisfy { $0.again == [.untried, .reminder] }, "reminders")
            try same(try subject.record(campaign.key).figures.rounds.map(\.devices), [devices])
        },
        ConformanceCase("a reminder's filter sees the phone's system, of rows and of batches") { subject in
            try subject.store.register(
                (0..<4).map { number in
                    var device = subject.registration(number, telephone: "138\(number)", version: nil, app: nil)
                    device.osVersion = number % 2 == 0 ? try? Version("15.1") : nil
                    return device
                }, at: subject.now)
            let campaign = try subject.announce()
            // The first two have rows.
            try subject.send(campaign, attempts: { $0 < 2 ? 2 : 1 }) { _ in .accepted }
            try same(try subject.remind(campaign), .opened)
            var seen: [String?] = []
            var progress = CampaignLifecycle.Gathering.more
            while progress == .more {
                progress = try subject.store.gather(campaign.key, atMost: .max, at: subject.now) { row, rows in
                    let bytes = row.system.isAbsent ? nil : rows.bytes[row.system.range]
                    seen.append(bytes.map { String(decoding: $0, as: UTF8.self) })
                    return true
                }.progress
            }
            try same(seen, ["15.1", nil, "15.1", nil])
        },
        ConformanceCase("what does not become of a reminder takes nothing from the push before") { subject in
            try subject.registerDevices(6)
            let campaign = try subject.announce()
            try subject.send(campaign) { _ in .accepted }
            let before = try subject.store.deliveries(
                of: campaign.key, DeliveryFilter(), after: 0, limit: 99)
            try same(try subject.remind(campaign), .opened)
            while try subject.gather(campaign).devices < 6 {}
            try check(try subject.record(campaign.key).isGathering, "whether there are more is not known yet")
            let ids = try (0..<6).map { try subject.device($0).id }
            try subject.commit(
                [
                    subject.retry(
                        campaign.key,
                        [
                            LedgerRow(device: ids[0], state: .filtered, attempts: 1, reason: "alreadyCurrent"),
                            LedgerRow(device: ids[1], state: .expired, attempts: 2, reason: "TooManyRequests"),
                            LedgerRow(device: ids[2], state: .accepted, attempts: 2),
                            LedgerRow(device: ids[3], state: .unregistered, attempts: 2, reason: "Unregistered"),
                            LedgerRow(
                                device: ids[4], state: .retrying, attempts: 2, reason: "InternalServerError",
                                nextAttemptAt: subject.now + .seconds(60)),
                        ])
                ], at: subject.now)
            let counts = try subject.counts(campaign.key)
            try same(
                [counts.accepted, counts.unregistered, counts.retrying, counts.filtered, counts.expired],
                [3, 1, 2, 0, 0])
            try same(try subject.record(campaign.key).figures.rounds.map(\.devices), [4])
            try same(try subject.store.check { _ in true }, [], "faults")
            _ = try subject.announce("3.0.0")
            let end = try subject.record(campaign.key)
            try same(end.state, .superseded)
            try same(
                [end.figures.counts.accepted, end.figures.counts.cancelled, end.figures.counts.audience], [5, 0, 6])
            try same(end.figures.rounds.map(\.devices), [2])
            try check(!end.isGathering, "nor does it look for more")
            let after = try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 99)
            for number in [0, 1, 4, 5] { try same(after[number].state, .accepted) }
            for number in [0, 1, 5] { try same(after[number].telephone, before[number].telephone) }
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("each opening is an event, with the campaign as it then was") { subject in
            try subject.registerDevices(4)
            let campaign = try subject.announce()
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try subject.listen()
            try same(try subject.retry(campaign), .opened)
            let events = try subject.events()
            try same(events.compactMap { $0.campaign?.state }, [.running])
            try same(events.map { $0.campaign?.figures.counts.pending }, [4])
            try same(events.map { $0.campaign?.figures.counts.audience }, [4])
        },
    ]
}

extension Subject {
    /// Sends a campaign to its end; `outcome` by the device's place.
    fileprivate func send(
        _ campaign: CampaignRecord, attempts: (Int) -> UInt16 = { _ in 1 }, _ outcome: (Int) -> DeliveryState
    ) throws {
        let shard = try onlyShard(campaign)
        var number = -1
        let commit = try batch(shard, limit: 10_000, last: true) { device in
            number += 1
            let state = outcome(number)
            return LedgerRow(
                device: device.id, state: state, attempts: attempts(number),
                reason: state == .rejected ? "Forbidden" : nil)
        }
        try self.commit([commit], at: now)
        try check(try store.completeIfDone(campaign.key, at: now), "it is complete")
    }

    /// The number of deliveries listed in a state.
    fileprivate func told(_ state: DeliveryState, _ campaign: CampaignRecord) throws -> Int {
        try store.deliveries(of: campaign.key, DeliveryFilter(state: state), after: 0, limit: 9999).count
    }

    fileprivate func retry(
        _ campaign: CampaignRecord, _ states: Set<DeliveryState> = Set(CampaignRound.retried), at time: Timestamp? = nil
    ) throws -> Reopening {
        try store.reopen(
            campaign.key, for: RoundDraft(.retry(states), timeToLive: .seconds(3600)), at: time ?? now)
    }

    fileprivate func remind(_ campaign: CampaignRecord) throws -> Reopening {
        try store.reopen(
            campaign.key, for: RoundDraft(.reminder(dueAt: now), timeToLive: .seconds(3600)), at: now)
    }

    fileprivate func gather(
        _ campaign: CampaignRecord, atMost most: Int64 = 100_000, at time: Timestamp? = nil,
        wants: (DeviceRow) -> Bool = { _ in true }
    ) throws -> Gathered {
        try store.gather(campaign.key, atMost: most, at: time ?? now) { row, _ in wants(row) }
    }
}
