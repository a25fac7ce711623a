// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// One relay records a campaign's outcomes, and each commit is recorded once.
extension ConformanceCase {
    static let runs: [ConformanceCase] = [
        ConformanceCase("of two that take over a campaign, one records its outcomes") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            try subject.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            let claims = [subject.store, subject.second ?? subject.store].map { store in
                (store: store, lease: Result { try store.claimRun(campaign.key) })
            }
            var recorded = 0
            for (store, claim) in claims {
                guard let lease = try claim.get() else { continue }
                let shard = try present(
                    try store.openShards(campaign.key, channel: .production).first, "the shard")
                let batch = try subject.batch(
                    Shard(campaign: campaign.key, channel: .production, range: shard), limit: 4)
                if try store.commit([batch], of: lease, at: subject.now) { recorded += 1 }
            }
            try same(recorded, 1)
            try same(try subject.counts(campaign.key).accepted, 4)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("of many that take over a campaign at once, no two have the same epoch, and the last records") {
            subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let batch = try subject.batch(shard)
            let stores = [subject.store, subject.second ?? subject.store]
            let leases = try await withThrowingTaskGroup(of: RunLease?.self) { group in
                for number in 0..<10 { group.addTask { try stores[number % 2].claimRun(campaign.key) } }
                return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            try check(!leases.isEmpty && Set(leases.map(\.epoch)).count == leases.count, "epochs: \(leases)")
            for lease in leases.sorted(by: { $0.epoch < $1.epoch }).dropLast() {
                try check(!(try subject.store.commit([batch], of: lease, at: subject.now)), "\(lease)")
            }
            let last = try present(leases.max { $0.epoch < $1.epoch }, "a lease")
            try check(try subject.store.commit([batch], of: last, at: subject.now), "the last")
            try same(try subject.counts(campaign.key).accepted, 10)
        },
        ConformanceCase("a commit whose answer was lost is recorded once, and its number is taken") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var lease = try subject.claim(campaign)
            let first = try subject.batch(shard, limit: 4) {
                $0.id % 2 == 0
                    ? LedgerRow(device: $0.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
                    : LedgerRow(device: $0.id, state: .accepted, attempts: 1)
            }
            for store in [subject.store, subject.store, subject.second ?? subject.store] {
                try check(try store.commit([first], of: lease, at: subject.now), "recorded, or found recorded")
            }
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.retrying, counts.pending, counts.audience], [2, 2, 6, 10])
            lease.commits += 1
            // A batch of retries has no cursor: only its number shows that it was recorded.
            let retry = subject.retry(
                campaign.key,
                first.rows.filter { $0.state == .retrying }.map {
                    LedgerRow(device: $0.device, state: .accepted, attempts: 2)
                })
            for _ in 0..<2 { try check(try subject.store.commit([retry], of: lease, at: subject.now), "a retry") }
            try same(try subject.counts(campaign.key).accepted, 4)
            // A lease that is ahead of the store shows that the store went back (`past`).
            var older = lease
            older.commits -= 1
            try check(!(try subject.store.commit([first], of: older, at: subject.now)), "number \(older.commits)")
            try same(try subject.counts(campaign.key).audience, 10)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a lease that is over records nothing but what is said of tokens") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let old = try subject.claim(campaign)
            try subject.store.releaseRun(old)
            var batch = try subject.batch(shard, limit: 4)
            let dead = try present(batch.rows.first?.device, "a device")
            batch.retirements = [TokenRetirement(device: dead, deadSince: subject.now, registeredAt: subject.now)]
            let before = try subject.record(campaign.key)
            try check(!(try subject.store.commit([batch], of: old, at: subject.now)), "given back")
            let new = try subject.claim(campaign)
            try check(!(try subject.store.commit([batch], of: old, at: subject.now)), "another's")
            try same(try subject.record(campaign.key), before)
            try same(try subject.store.openShards(campaign.key, channel: .production), [shard.range])
            try check(try subject.device(0).retiredAt != nil, "its token is dead whoever says so")
            try subject.store.releaseRun(old)
            try check(
                try subject.store.commit([batch], of: new, at: subject.now), "who was there before gives back nothing")
        },
        ConformanceCase("numbers go on from owner to owner") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let first = try subject.claim(campaign)
            let batch = try subject.batch(shard, limit: 4)
            try check(try subject.store.commit([batch], of: first, at: subject.now), "recorded")
            try subject.store.releaseRun(first)
            let second = try subject.claim(campaign)
            try same(second.commits, first.commits + 1)
            try check(second.epoch > first.epoch, "a newer epoch")
            // Sent again, because the answer never reached the former owner.
            try check(!(try subject.store.commit([batch], of: first, at: subject.now)), "another epoch")
            try same(try subject.counts(campaign.key).accepted, 4)
        },
        ConformanceCase("only a campaign that runs can be taken over") { subject in
            try subject.registerDevices(2)
            let campaign = try subject.announce(isGated: true)
            try same(try subject.store.claimRun(campaign.key), nil, "it waits")
            try subject.look("2.0.0")
            _ = try subject.claim(campaign)
            for state in [CampaignChange.paused, .cancelled] {
                _ = try subject.store.move(campaign.key, state, at: subject.now)
                try same(try subject.store.claimRun(campaign.key), nil, "\(state)")
            }
            try same(try subject.store.claimRun(CampaignKey(row: 99)), nil, "there is none")
        },
        ConformanceCase("whoever owns a campaign that has just ended records what was on its way") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var lease = try subject.claim(campaign)
            let first = try subject.batch(shard, limit: 4)
            let rest = try subject.batch(
                Shard(campaign: campaign.key, channel: .production, range: present(first.advanced, "the rest")),
                limit: 3)
            try check(try subject.store.commit([first], of: lease, at: subject.now), "recorded")
            lease.commits += 1
            try subject.store.expireCampaign(campaign.key, at: subject.now)
            try check(try subject.store.commit([rest], of: lease, at: subject.now), "recorded late")
            let counts = try subject.counts(campaign.key)
            try same([counts.accepted, counts.expired, counts.pending, counts.audience], [7, 3, 0, 10])
            try same(try subject.store.check { _ in true }, [], "faults")
        },
    ]
}

extension Subject {
    fileprivate func claim(_ campaign: CampaignRecord) throws -> RunLease {
        try present(try store.claimRun(campaign.key), "the run of campaign \(campaign.key.row)")
    }
}
