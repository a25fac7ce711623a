// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let maintenance: [ConformanceCase] = [
        ConformanceCase("pruning takes the deliveries of old campaigns and keeps campaign, counts and reasons") {
            subject in
            try subject.registerDevices(300)
            let old = try subject.finished("2.0.0")
            var kept = try subject.record(old.key)
            kept.facts.isPruned = true
            let late = subject.now + .seconds(100_000)
            let report = try subject.store.prune(before: late, at: late) { _ in true }
            try same([report.campaigns, report.deliveries], [1, 300], "what went")
            let after = try subject.record(old.key)
            try same(after, kept, "the campaign")
            try check(
                after.figures.counts.audience == 300 && after.figures.filteredBy[.noTelephone] == 10, "its counts")
            try check(
                try subject.store.deliveries(of: old.key, DeliveryFilter(), after: 0, limit: 9).isEmpty,
                "no deliveries, nor devices that look as if they had been left out")
            try check(
                try subject.store.deliveries(telephone: "1385", token: nil, after: nil, limit: 9).isEmpty, "of a user")
            try check(
                try subject.store.reconcile(subject.app, draft: subject.draft(), at: late).campaign == nil, "rule 2")
            try same(try subject.store.check { _ in true }, [], "faults")
            // A device that upgrades afterwards is not counted, because its ledger is gone.
            try subject.store.register([subject.registration(1, version: try subject.version("9"))], at: late)
            try same(try subject.record(old.key).figures.upgraded, 0)
            try check(try subject.store.prune(before: late, at: late) { _ in true }.isEmpty, "the second time")
        },
        ConformanceCase("pruning leaves alone what is young or open") { subject in
            try subject.registerDevices(50)
            let old = try subject.finished("2.0.0")
            let open = try subject.announce("3.0.0", at: subject.now + .seconds(10))
            let shard = try subject.onlyShard(open)
            try subject.commit([try subject.batch(shard, limit: 20)], at: subject.now)
            let young = try subject.store.prune(before: subject.now, at: subject.now) { _ in true }
            try check(young.isEmpty, "nothing ended before that: \(young)")
            let late = subject.now + .seconds(100_000)
            try same(try subject.store.prune(before: late, at: late) { _ in true }.campaigns, 1)
            try same(
                try subject.store.deliveries(of: old.key, DeliveryFilter(), after: 0, limit: 99).count, 0)
            try same(
                try subject.store.deliveries(of: open.key, DeliveryFilter(), after: 0, limit: 99).count, 50)
            try same(try subject.counts(open.key).accepted, 20)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a pruning that is stopped goes on the next time") { subject in
            try subject.registerDevices(1000)
            _ = try subject.finished("2.0.0")
            let late = subject.now + .seconds(100_000)
            var looks = 0
            let first = try subject.store.prune(before: late, at: late) { _ in
                looks += 1
                return looks < 2
            }
            try check(first.deliveries > 0 && first.deliveries < 1000, "stopped in between: \(first.deliveries)")
            try same(try subject.store.check { _ in true }, [], "faults")
            // The rest goes, too, even if it would not be old enough for the second limit.
            let second = try subject.store.prune(before: subject.now - .seconds(1), at: late) { _ in true }
            try same(first.deliveries + second.deliveries, 1000)
        },
        ConformanceCase("dead and removed devices go when nothing names them any more, with the counts of the registry")
        {
            subject in
            try subject.registerDevices(30, version: try subject.version("1.0"))
            let campaign = try subject.finished("2.0.0")
            let dead = try (3...7).map { try subject.device($0).id }
            try subject.commit(
                [
                    LedgerCommit(
                        campaign: campaign.key, shard: nil, cursor: 0, shardDone: false, rows: [],
                        devices: DeviceRows(),
                        retirements: dead.map {
                            TokenRetirement(
                                device: $0, deadSince: subject.now + .seconds(1), registeredAt: subject.now)
                        })
                ], at: subject.now)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(9))
            try subject.store.register([subject.registration(11, telephone: "another")], at: subject.now)
            let late = Timestamp(seconds: 7_000_000_000)
            // The campaign is as old as they are, so it goes in the same pruning, and they after it.
            let report = try subject.store.prune(before: late, at: late) { _ in true }
            try same([report.devices, report.formerTelephones], [6, 2], "devices, former telephones")
            try check(try subject.store.device(subject.app, token: subject.token(3)) == nil, "gone")
            try check(try subject.store.device(subject.app, token: subject.token(11)) != nil, "alive")
            try same(
                try subject.store.devices(of: subject.app, after: 0, limit: 99).count, 24)
            try same(try subject.announce("3.0.0", at: late).figures.counts.pending, 24, "the next audience")
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("devices stay while a campaign of their app is open") { subject in
            try subject.registerDevices(5)
            let campaign = try subject.announce()
            _ = try subject.onlyShard(campaign)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(1))
            let late = Timestamp(seconds: 7_000_000_000)
            let report = try subject.store.prune(before: late, at: late) { _ in true }
            try same([report.devices, report.formerTelephones, report.campaigns], [0, 0, 0])
        },
        ConformanceCase("devices stay for an hour after the end of a campaign: what was in flight may still come in") {
            subject in
            try subject.registerDevices(5)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let inFlight = try subject.batch(shard, limit: 4)
            let left = try subject.device(4).id
            // Called dead a day before the end: the device whose push is out, and one that the campaign never came to.
            try subject.commit(
                [
                    LedgerCommit(
                        campaign: campaign.key, shard: nil, cursor: 0, shardDone: false, rows: [],
                        devices: DeviceRows(),
                        retirements: [inFlight.rows[3].device, left].map {
                            TokenRetirement(device: $0, deadSince: subject.now, registeredAt: subject.now)
                        })
                ], at: subject.now)
            let end = subject.now + .seconds(100_000)
            _ = try subject.store.move(campaign.key, .cancelled, at: end)
            let soon = end + .seconds(1800)
            try same(try subject.store.prune(before: soon - .seconds(3600), at: soon) { _ in true }.devices, 0)
            try subject.commit([inFlight], at: soon)
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.cancelled, counts.audience], [4, 1, 5])
            let late = end + .seconds(3601)
            try same(
                try subject.store.prune(before: end - .seconds(1), at: late) { _ in true }.devices, 1,
                "the one that no outcome names")
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("what comes in after its campaign was pruned is in no list and no count") { subject in
            try subject.registerDevices(5)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var inFlight = try subject.batch(shard, limit: 4)
            let dead = inFlight.rows[0].device
            inFlight.retirements = [
                TokenRetirement(device: dead, deadSince: subject.now + .seconds(1), registeredAt: subject.now)
            ]
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            // The disk takes no writes, or no relay looks, for longer than records are kept.
            let late = subject.now + .seconds(100_000)
            _ = try subject.store.prune(before: late, at: late) { _ in true }
            let before = try subject.record(campaign.key)
            try check(!(try subject.commit([inFlight], at: late)), "its run is over")
            try same(try subject.record(campaign.key), before, "the campaign")
            try check(
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 9).isEmpty,
                "no deliveries")
            let device = try subject.store.devices(of: subject.app, after: dead - 1, limit: 1).first
            try check(device?.retiredAt != nil, "the token is dead")
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("webhook ids and ended alerts go") { subject in
            for number in 0..<500 {
                _ = try subject.store.keep(
                    StoredAnswer(status: 200, body: []), to: WebhookReceipt(id: "\(number)", hook: "h", body: []),
                    at: subject.now)
            }
            try subject.store.setAlert(
                AlertRecord(
                    app: subject.app, message: "m", isBlocking: true, endsAt: subject.now + .seconds(1),
                    createdAt: subject.now, createdBy: "t"))
            let late = subject.now + .seconds(100)
            let report = try subject.store.prune(before: late, at: late) { _ in true }
            try same([report.webhooks, report.alerts], [500, 1], "webhooks, alerts")
        },
        ConformanceCase(
            "a snapshot is the store as it was, and what is written meanwhile is not in it", where: .snapshots
        ) { subject in
            try subject.registerDevices(100)
            let snapshot = try subject.store.snapshot { _ in true }
            var bytes: Int64 = 0
            while true {
                let piece = try snapshot.read(atMost: 10_000)
                if piece.isEmpty { break }
                bytes += Int64(piece.count)
            }
            try check(bytes == snapshot.size && bytes > 0, "all of it: \(bytes) of \(snapshot.size)")
            do {
                _ = try subject.store.snapshot { _ in false }
                try check(false, "given up and answered all the same")
            } catch is StoreError {}
        },
    ]

    static let outbox: [ConformanceCase] = [
        ConformanceCase("every change of state is an event, with the campaign as it was; counts alone are none") {
            subject in
            try subject.registerDevices(40)
            try subject.listen()
            let campaign = try subject.announce(isGated: true)
            try subject.look(campaign.requirement.version.text)
            let shard = try subject.onlyShard(campaign)
            let batch = try subject.batch(shard, limit: 30) { device in
                LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
            }
            try subject.commit([batch], at: subject.now)
            _ = try subject.store.move(campaign.key, .suspended(.credential, "why"), at: subject.now)
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now + .seconds(9))
            let events = try subject.events()
            let campaigns = events.compactMap(\.campaign)
            try same(
                events.map(\.type.rawValue), ["waiting", "running", "suspended", "cancelled"].map { "campaign.\($0)" })
            try same(campaigns.map(\.facts.reason), ["not out yet", nil, "why", nil])
            try same(campaigns.map(\.figures.counts.audience), [40, 40, 40, 40], "audiences")
            try same(campaigns.map(\.figures.counts.pending), [40, 40, 10, 0], "pending")
            try same(campaigns.map(\.figures.counts.cancelled), [0, 0, 0, 10], "cancelled")
            try same(campaigns.map { $0.figures.filteredBy[.noTelephone] }, [nil, nil, 30, 30], "reasons")
            try same(campaigns[3].facts.finishedAt, subject.now + .seconds(9))
            try same(events.map(\.at), [0, 0, 0, 9].map { subject.now + .seconds($0) })
            try same(Set(events.map(\.id)).count, 4)
            try check(events.allSatisfy { $0.id.utf8.count == 32 }, "ids")
        },
        ConformanceCase(
            "a superseded campaign is told before the one that took its place; a completed and an expired one too"
        ) {
            subject in
            try subject.registerDevices(3)
            try subject.listen()
            _ = try subject.announce("1.0")
            let second = try subject.announce("2.0")
            try subject.store.expireCampaign(second.key, at: subject.now)
            let third = try subject.announce("3.0")
            try subject.commit([try subject.batch(subject.onlyShard(third), last: true)], at: subject.now)
            try check(try subject.store.completeIfDone(third.key, at: subject.now), "completed")
            let events = try subject.events()
            try same(
                events.compactMap(\.campaign).map { "\($0.requirement.version) \($0.state.rawValue)" },
                ["1.0 running", "1.0 superseded", "2.0 running", "2.0 completed", "3.0 running", "3.0 completed"])
            try same(events.map { $0.campaign?.figures.counts.audience }, [3, 3, 3, 3, 3, 3])
            try same(events[3].campaign?.figures.counts.expired, 3)
            try same(events[5].campaign?.figures.counts.accepted, 3)
        },
        ConformanceCase("a receiver is told what happens from its adoption on, once, and only what it wants") {
            subject in
            let first = try subject.announce("1.0")
            try subject.listen(events: [.paused])
            _ = try subject.store.move(first.key, .paused, at: subject.now)
            _ = try subject.store.move(first.key, .resumed, at: subject.now)
            for _ in 0..<3 {
                try subject.listen(events: [.paused])
                try subject.store.addressEvents(limit: 100, at: subject.now)
            }
            try same(try subject.events().map(\.type), [.paused])
        },
        ConformanceCase("a clock that is set back holds up no notification, and lets none pass by an older one") {
            subject in
            try subject.listen()
            let campaign = try subject.announce("1.0")
            try subject.store.addressEvents(limit: 99, at: subject.now)
            let before = subject.now - .seconds(90)
            _ = try subject.store.move(campaign.key, .cancelled, at: before)
            try same(try subject.events(at: before).map(\.type), [.running, .cancelled])
            // A retry, and a hold, that were set by a clock far ahead.
            let ahead = subject.now + .seconds(8 * 86_400)
            _ = try subject.announce("2.0")
            try subject.store.addressEvents(limit: 99, at: subject.now)
            let due = try present(try subject.store.dueNotification(for: Subject.receiver, at: subject.now), "due")
            try subject.store.record(
                .init(number: 1, at: ahead, milliseconds: 1, status: 429, error: nil), of: due.row,
                then: .retry(at: ahead + .seconds(5), holdUntil: ahead + .seconds(5)), at: ahead)
            try same(try subject.events().map(\.type), [.running])
        },
        ConformanceCase("a receiver that falls too far behind loses the oldest") { subject in
            try subject.listen()
            let campaign = try subject.announce("1.0")
            for number in 0..<10 {
                _ = try subject.store.move(campaign.key, number % 2 == 0 ? .paused : .resumed, at: subject.now)
            }
            try subject.store.addressEvents(limit: 4, at: subject.now)
            let all = try subject.store.notifications(campaign: campaign.id, state: nil, before: nil, limit: 99)
            try same(
                all.map(\.state.rawValue), Array(repeating: "pending", count: 4) + Array(repeating: "dropped", count: 7)
            )
            try same(
                try subject.store.notifications(campaign: nil, state: .dropped, before: all[5].row, limit: 2).map(
                    \.row),
                [all[6].row, all[7].row], "a page")
        },
        ConformanceCase(
            "notifications that ended are forgotten, with events that nobody waits for; pending ones are not"
        ) {
            subject in
            try subject.listen()
            let campaign = try subject.announce("1.0")
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try subject.store.addressEvents(limit: 99, at: subject.now)
            let due = try present(try subject.store.dueNotification(for: Subject.receiver, at: subject.now), "due")
            try subject.store.record(
                .init(number: 1, at: subject.now, milliseconds: 3, status: 200, error: nil), of: due.row,
                then: .delivered, at: subject.now)
            let late = Timestamp(seconds: 7_000_000_000)
            try same(
                try subject.store.forgetNotifications(before: late), 3,
                "a notification and its event, and requirement.inForce, which nobody wanted")
            let rest = try subject.store.notifications(campaign: nil, state: nil, before: nil, limit: 9)
            try same(rest.map(\.type), ["campaign.cancelled"])
            try subject.store.adoptReceivers([], at: late)
            try same(
                try subject.store.notifications(campaign: nil, state: nil, before: nil, limit: 9).map(\.state.rawValue),
                ["dropped"])
            try same(try subject.store.forgetNotifications(before: late + .seconds(1)), 2)
        },
    ]
}

extension Subject {
    static let receiver = "https://ci.example.com/hook"

    /// A completed campaign with every device of the app, 50 at a time, every thirtieth filtered.
    func finished(_ required: String) throws -> CampaignRecord {
        let campaign = try announce(required)
        var shard = try onlyShard(campaign)
        while shard.cursor < shard.last {
            let commit = try batch(shard, limit: 50) { device in
                device.id % 30 == 0
                    ? LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
                    : LedgerRow(device: device.id, state: .accepted, attempts: 1)
            }
            try self.commit([commit], at: now)
            shard.range = commit.advanced ?? shard.range
        }
        try check(try store.completeIfDone(campaign.key, at: now), "completed")
        return try record(campaign.key)
    }

    /// Listens to changes of a campaign's state, unless other events are given.
    func listen(events: Set<EventType> = Set(CampaignState.allCases.map { EventType($0) })) throws {
        try store.adoptReceivers([NotificationReceiver(url: Self.receiver, events: events)], at: now)
    }

    /// Takes everything that is pending for the receiver, in its order.
    func events(at time: Timestamp? = nil) throws -> [RelayEvent] {
        let now = time ?? now
        try store.addressEvents(limit: 1000, at: now)
        var events: [RelayEvent] = []
        while let due = try store.dueNotification(for: Self.receiver, at: now) {
            events.append(due.event)
            try store.record(
                .init(number: due.attempts + 1, at: now, milliseconds: 1, status: 200, error: nil), of: due.row,
                then: .delivered, at: now)
        }
        return events
    }
}
