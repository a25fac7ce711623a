// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let ledger: [ConformanceCase] = [
        ConformanceCase("a batch is read by id, with every column, without the removed and with the dead") { subject in
            let other = AppKey(app: "other", platform: .ios)
            try subject.store.register(
                [
                    DeviceRegistration(
                        app: subject.app, token: subject.token(1), telephone: "138é",
                        version: try subject.version("1.02")),
                    subject.registration(2, telephone: "x", app: other), subject.registration(3, telephone: "y"),
                    subject.registration(4), subject.registration(5, telephone: ""),
                ], at: subject.now)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(3))
            var rows = DeviceRows()
            try subject.store.readDevices(
                subject.app, channel: .production, after: 0, through: .max, limit: 10, into: &rows)
            try same(rows.rows.map { rows.string($0.token) }, [1, 4, 5].map(subject.token))
            let first = rows.rows[0]
            try same(rows.string(first.telephone), "138é")
            try same(rows.string(first.version), "1.02")
            try same(first.channel, .production)
            try same([first.registeredAt, Int64(first.attempts)], [subject.now.milliseconds, 0])
            try check(!first.isDead, "alive")
            try check(rows.rows[1].telephone.isAbsent && rows.rows[1].version.isAbsent, "NULL is absent")
            try check(!rows.rows[2].telephone.isAbsent && rows.rows[2].telephone.length == 0, "empty is not absent")
            try subject.store.readDevices(
                subject.app, channel: .production, after: first.id, through: .max, limit: 1, into: &rows)
            try same(rows.rows.map { rows.string($0.token) }, [subject.token(4)], "the batch was emptied first")
            try subject.store.readDevices(
                subject.app, channel: .production, after: 0, through: first.id, limit: 9, into: &rows)
            try same(rows.count, 1)
            try subject.store.readDevices(
                subject.app, channel: .production, after: 5, through: .max, limit: 9, into: &rows)
            try check(rows.isEmpty, "the end")
            try subject.store.readDevices(
                AppKey(app: "none", platform: .ios), channel: .production, after: 0, through: .max, limit: 9,
                into: &rows)
            try check(rows.isEmpty, "an app that nobody registered for")
        },
        ConformanceCase("a commit moves counts and cursor, and the audience always adds up") { subject in
            try subject.registerDevices(20)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let states: [(DeliveryState, String?)] = [
                (.accepted, nil), (.rejected, "BadDeviceToken"), (.rejected, "PayloadEmpty"),
                (.rejected, "BadDeviceToken"), (.unregistered, "Unregistered"), (.expired, nil),
                (.filtered, "noTelephone"), (.filtered, "alreadyCurrent"), (.retrying, "InternalServerError"),
            ]
            var number = 0
            let commit = try subject.batch(shard, limit: states.count) { device in
                defer { number += 1 }
                let (state, reason) = states[number]
                return LedgerRow(
                    device: device.id, state: state, attempts: 1, reason: reason,
                    nextAttemptAt: state == .retrying ? subject.now + .seconds(7) : nil)
            }
            try subject.commit([commit], at: subject.now)
            let record = try subject.record(campaign.key)
            var counts = CampaignCounts()
            (counts.pending, counts.accepted, counts.rejected, counts.unregistered) = (11, 1, 3, 1)
            (counts.expired, counts.filtered, counts.retrying) = (1, 2, 1)
            try same(record.figures.counts, counts)
            try same(record.figures.counts.audience, 20)
            try same(record.figures.rejectedBy, ["BadDeviceToken": 2, "PayloadEmpty": 1])
            try same(record.figures.filteredBy, [.noTelephone: 1, .alreadyCurrent: 1])
            try same(try subject.store.nextRetry(campaign.key, channel: .production), subject.now + .seconds(7))
            let again = try present(try subject.open(campaign.key).first, "the shard")
            try same(again.cursor, commit.cursor)
            try subject.commit([try subject.batch(again, last: true)], at: subject.now)
            try same(try subject.open(campaign.key), [], "done")
            let end = try subject.counts(campaign.key)
            try same([end.pending, end.accepted, end.audience], [0, 12, 20])
            try same(try subject.store.check { _ in true }, [], "faults, with several reasons of each kind")
        },
        ConformanceCase("each channel's answers are counted, and no outcome that is none") { subject in
            let fcm = Channel(.fcm, on: .ios)
            try subject.listen()
            try subject.registerDevices(7)
            let campaign = try subject.announce()
            let outcomes: [(DeliveryState, UInt16, Channel)] = [
                (.accepted, 1, .production), (.accepted, 1, fcm), (.accepted, 1, fcm), (.unregistered, 1, fcm),
                // The relay itself refused it, filtered it, or it goes out again.
                (.rejected, 0, fcm), (.filtered, 0, .production), (.retrying, 1, .production),
            ]
            var number = 0
            let commit = try subject.batch(try subject.onlyShard(campaign), last: true) { device in
                defer { number += 1 }
                let (state, attempts, channel) = outcomes[number]
                return LedgerRow(
                    device: device.id, state: state, attempts: attempts,
                    reason: state == .filtered ? "noTelephone" : state == .accepted ? nil : "Reason",
                    nextAttemptAt: state == .retrying ? subject.now : nil, channel: channel)
            }
            try subject.commit([commit], at: subject.now)
            func answers(_ channel: Channel) throws -> [Int64] {
                let found = try subject.record(campaign.key).figures.channels[channel] ?? ChannelAnswers()
                return ChannelAnswers.states.map { found[$0] }
            }
            try same(try answers(.production), [1, 0, 0])
            try same(try answers(fcm), [2, 0, 1])
            let waiting = commit.rows[6].device
            try subject.commit(
                [
                    subject.retry(
                        campaign.key,
                        [
                            LedgerRow(
                                device: waiting, state: .rejected, attempts: 2, reason: "Reason", channel: .production)
                        ])
                ], at: subject.now)
            try same(try answers(.production), [1, 1, 0])
            let figures = try subject.record(campaign.key).figures
            try same(figures.answersOfChannels.map(\.channel), [.production, fcm])
            try same(figures.rejectedBy, ["Reason": 2], "reasons are counted as before")
            try same(try subject.store.check { _ in true }, [], "faults")
            try subject.store.move(campaign.key, .paused, at: subject.now)
            let event = try present(try subject.events().last, "an event")
            guard case .campaign(let sent) = event.subject else {
                throw ConformanceFailure(description: "no event of a campaign: \(event)")
            }
            try same(sent.figures.channels, figures.channels, "receivers are sent them")
        },
        ConformanceCase("a retry replaces its row and moves the counts") { subject in
            try subject.registerDevices(3)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var due = subject.now
            let commit = try subject.batch(shard) { device in
                due = due + .seconds(1)
                return LedgerRow(device: device.id, state: .retrying, attempts: 1, reason: "busy", nextAttemptAt: due)
            }
            try subject.commit([commit], at: subject.now)
            try same(try subject.counts(campaign.key).retrying, 3)
            var rows = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now, limit: 9, waves: nil, into: &rows)
            try check(rows.isEmpty, "nothing is due")
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now + .seconds(2), limit: 9, waves: nil, into: &rows
            )
            try same(rows.rows.map(\.id), commit.rows.prefix(2).map(\.device))
            try same(rows.rows.map(\.attempts), [1, 1])
            try same(rows.string(rows.rows[0].telephone), "1380")
            let outcomes = [
                LedgerRow(device: rows.rows[0].id, state: .accepted, attempts: 2, telephone: rows.rows[0].telephone),
                LedgerRow(
                    device: rows.rows[1].id, state: .retrying, attempts: 2, nextAttemptAt: subject.now + .seconds(99)),
            ]
            try subject.commit([subject.retry(campaign.key, outcomes, rows)], at: subject.now + .seconds(2))
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.retrying, counts.audience], [1, 2, 3])
            try same(try subject.store.nextRetry(campaign.key, channel: .production), subject.now + .seconds(3))
            let list = try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 9)
            try same(list.map(\.state), [.accepted, .retrying, .retrying])
            try same(list.map(\.attempts), [2, 2, 1])
            try same(list[0].updatedAt, subject.now + .seconds(2))
            try same(list[1].nextAttemptAt, subject.now + .seconds(99))
        },
        ConformanceCase("due retries come in ascending id, the longest due first to be taken") { subject in
            try subject.registerDevices(4)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var seconds = 10
            let commit = try subject.batch(shard) { device in
                seconds -= 1
                return LedgerRow(
                    device: device.id, state: .retrying, attempts: 3, nextAttemptAt: subject.now + .seconds(seconds))
            }
            try subject.commit([commit], at: subject.now)
            var rows = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now + .seconds(60), limit: 2, waves: nil,
                into: &rows)
            try same(rows.rows.map(\.id), commit.rows.suffix(2).map(\.device))
            _ = try subject.store.removeDevice(subject.app, token: subject.token(3))
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now + .seconds(60), limit: 9, waves: nil,
                into: &rows)
            try same(rows.count, 4, "the removed one is read too")
            try check(rows.rows[3].telephone.isAbsent, "without its user")
        },
        ConformanceCase("a commit is written as a whole or not at all") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let good = try subject.batch(shard, limit: 5)
            let before = try subject.record(campaign.key)
            var unknownDevice = good
            unknownDevice.rows.append(LedgerRow(device: 999_999, state: .accepted, attempts: 1))
            var noTime = good
            noTime.rows.append(LedgerRow(device: good.cursor + 1, state: .retrying, attempts: 1))
            var pending = good
            pending.rows.append(LedgerRow(device: good.cursor + 1, state: .pending, attempts: 1))
            var noShard = good
            noShard.shard?.number = 7
            var noCampaign = good
            noCampaign.campaign = CampaignKey(row: 99)
            for bad in [unknownDevice, noTime, pending, noShard, noCampaign] {
                try fails(.conflict) { try subject.commit([good, bad], at: subject.now) }
                try same(try subject.record(campaign.key), before)
                try same(try subject.open(campaign.key).first?.cursor, shard.cursor)
            }
            try subject.commit([good], at: subject.now)
            try same(try subject.counts(campaign.key).accepted, 5)
        },
        ConformanceCase(
            "of a batch that refers to devices that are gone, the rest can be written", where: .references
        ) { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let retrying = try subject.batch(shard, limit: 2) {
                LedgerRow(device: $0.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
            }
            try subject.commit([retrying], at: subject.now)
            var next = shard
            next.range = retrying.advanced ?? next.range
            var batch = try subject.batch(next, limit: 5)
            try same(try subject.store.goneDevices(of: batch), [])
            for device in [777_777, 999_999] as [Int64] {
                batch.rows.append(LedgerRow(device: device, state: .accepted, attempts: 1))
            }
            try fails(.conflict) { try subject.commit([batch], at: subject.now) }
            let gone = try subject.store.goneDevices(of: batch)
            try same(gone, [777_777, 999_999])
            batch.rows.removeAll { gone.contains($0.device) }
            try subject.commit([batch], at: subject.now)
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.retrying, counts.pending, counts.audience], [5, 2, 3, 10])
            var again = subject.retry(
                campaign.key, retrying.rows.map { LedgerRow(device: $0.device, state: .accepted, attempts: 2) })
            again.rows.append(LedgerRow(device: 999_999, state: .accepted, attempts: 2))
            try same(try subject.store.goneDevices(of: again), [999_999])
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a batch of a shard that is elsewhere by now is a conflict, and changes nothing") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let first = try subject.batch(shard, limit: 6)
            try subject.commit([first], at: subject.now)
            let before = try subject.record(campaign.key)
            let stale = try subject.batch(shard, limit: 3) {
                LedgerRow(device: $0.id, state: .rejected, attempts: 1, reason: "TopicDisallowed")
            }
            try fails(.conflict) { try subject.commit([stale], at: subject.now) }
            try same(try subject.record(campaign.key), before)
            try same(try subject.open(campaign.key).first?.range, first.advanced, "the shard")
        },
        ConformanceCase("batches of several shards go into one commit") { subject in
            let other = AppKey(app: "other", platform: .ios)
            try subject.registerDevices(20)
            let (one, two) = (try subject.announce(), try subject.announce(app: other))
            try subject.store.planShards(two.key, shardSize: 10, waves: nil, at: subject.now)
            try subject.store.planShards(one.key, shardSize: 5, waves: nil, at: subject.now)
            let batches = try subject.open(one.key).map { try subject.batch($0) }
            try same(batches.count, 4)
            try subject.commit(batches, at: subject.now)
            let counts = try subject.counts(one.key)
            try same([counts.accepted, counts.pending, counts.audience], [20, 0, 20])
            try check(try subject.store.completeIfDone(one.key, at: subject.now), "one is done")
            try check(try subject.store.completeIfDone(two.key, at: subject.now), "two had nobody")
        },
        ConformanceCase("a device removed before its turn leaves the audience when its shard is done") { subject in
            try subject.registerDevices(5)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(4))
            let batch = try subject.batch(shard, last: true)
            try same(batch.rows.count, 4)
            try subject.commit([batch], at: subject.now)
            let counts = try subject.counts(campaign.key)
            try same([counts.pending, counts.accepted, counts.audience], [0, 4, 4])
            try check(try subject.store.completeIfDone(campaign.key, at: subject.now), "done")
        },
    ]

    static let leftovers: [ConformanceCase] = [
        ConformanceCase("what was in flight when its campaign was cancelled is written as it ended") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let first = try subject.batch(shard, limit: 2) {
                LedgerRow(device: $0.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
            }
            try subject.commit([first], at: subject.now)
            var next = shard
            next.range = first.advanced ?? next.range
            var number = 0
            let inFlight = try subject.batch(next, limit: 3) { device in
                number += 1
                return LedgerRow(
                    device: device.id, state: number == 1 ? .retrying : .accepted, attempts: 1,
                    nextAttemptAt: number == 1 ? subject.now : nil)
            }
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try same(try subject.counts(campaign.key).cancelled, 10)
            let lateRetry = subject.retry(
                campaign.key, [LedgerRow(device: first.rows[0].device, state: .accepted, attempts: 2)])
            try subject.commit([inFlight, lateRetry], at: subject.now)
            let counts = try subject.counts(campaign.key)
            try same(
                [counts.accepted, counts.cancelled, counts.retrying, counts.pending, counts.audience], [3, 7, 0, 0, 10])
            try same(try subject.store.nextRetry(campaign.key, channel: .production), nil, "nothing is tried again")
            for (state, expected) in [(DeliveryState.accepted, 3), (.cancelled, 7), (.retrying, 0), (.pending, 0)] {
                let list = try subject.store.deliveries(
                    of: campaign.key, DeliveryFilter(state: state), after: 0, limit: 99)
                try same(list.count, expected, "\(state)")
            }
        },
        ConformanceCase("what was in flight when its campaign expired is written as it ended") { subject in
            try subject.registerDevices(4)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let inFlight = try subject.batch(shard, limit: 3)
            try subject.store.expireCampaign(campaign.key, at: subject.now)
            try subject.commit([inFlight], at: subject.now)
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.expired, counts.audience], [3, 1, 4])
        },
    ]
}
