// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let deliveries: [ConformanceCase] = [
        ConformanceCase("a campaign's deliveries are paged by device, pending ones among them") { subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            try subject.store.planShards(campaign.key, shardSize: 5, waves: nil, at: subject.now)
            let shards = try subject.open(campaign.key)
            for shard in shards {
                let batch = try subject.batch(shard, limit: 3) { device in
                    LedgerRow(
                        device: device.id, state: device.id % 2 == 0 ? .accepted : .rejected, attempts: 1,
                        reason: device.id % 2 == 0 ? nil : "BadDeviceToken")
                }
                try subject.commit([batch], at: subject.now)
            }
            func list(_ state: DeliveryState?, after: Int64 = 0, limit: Int = 99) throws -> [Delivery] {
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(state: state), after: after, limit: limit)
            }
            let all = try list(nil)
            try same(all.count, 10)
            try same(all.map(\.device), try subject.store.devices(of: nil, after: 0, limit: 99).map(\.id))
            try same(all[0].campaign, campaign.id)
            try same(all[0].token, subject.token(0))
            try same(all[0].telephone, "1380")
            var paged: [Delivery] = []
            while true {
                let page = try list(nil, after: paged.last?.device ?? 0, limit: 3)
                if page.isEmpty { break }
                paged += page
            }
            try same(paged, all)
            let counts = try subject.counts(campaign.key)
            for state in DeliveryState.allCases {
                let some = try list(state)
                try same(Int64(some.count), counts[state], "\(state)")
                try check(some.allSatisfy { $0.state == state }, "\(state)")
                try same(some, all.filter { $0.state == state })
            }
            let second = try present(try list(.pending, limit: 2).last, "a pending one")
            try same(try list(.pending, after: second.device, limit: 1), [try list(.pending)[2]])
            try same(try list(.rejected).first?.reason, "BadDeviceToken")
            try same(
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(telephone: "1381"), after: 0, limit: 9),
                [all[1]])
            try same(
                try subject.store.deliveries(of: CampaignKey(row: 9), DeliveryFilter(), after: 0, limit: 9),
                [])
        },
        ConformanceCase("before planning every device is pending, for the campaign and for its user") { subject in
            try subject.registerDevices(3)
            let campaign = try subject.announce(isGated: true)
            let list = try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 9)
            try same(list.map(\.state), [.pending, .pending, .pending])
            try same(try subject.store.deliveries(telephone: "1381", token: nil, after: nil, limit: 9), [list[1]])
        },
        ConformanceCase("a user's deliveries are newest campaign first, by the telephone that was pushed to") {
            subject in
            try subject.registerDevices(3)
            let first = try subject.announce("1")
            let shard = try subject.onlyShard(first)
            try subject.commit([try subject.batch(shard, limit: 2)], at: subject.now)
            // Device 0 goes to another user; device 2 has not had its turn when the next campaign comes.
            try subject.store.register([subject.registration(0, telephone: "new")], at: subject.now)
            let second = try subject.announce("2")
            try subject.store.planShards(second.key, shardSize: 9, waves: nil, at: subject.now)
            func of(_ telephone: String) throws -> [String] {
                try subject.store.deliveries(telephone: telephone, token: nil, after: nil, limit: 9).map {
                    "\($0.campaign == first.id ? 1 : 2) \($0.state.name) \($0.telephone ?? "-")"
                }
            }
            try same(try of("1380"), ["1 accepted 1380"], "the old user")
            try same(try of("new"), ["2 pending new"], "the new user")
            try same(try of("1381"), ["2 pending 1381", "1 accepted 1381"])
            try same(try of("1382"), ["2 pending 1382", "1 cancelled 1382"])
            try same(try of("138"), [])
            let byToken = try subject.store.deliveries(
                telephone: nil, token: subject.token(0).uppercased(), after: nil, limit: 9)
            try same(byToken.map(\.telephone), ["new", "1380"])
            try same(
                try subject.store.deliveries(telephone: nil, token: subject.token(0), after: nil, limit: 1).map(
                    \.campaign),
                [second.id])
            try same(
                try subject.store.deliveries(telephone: "1380", token: subject.token(0), after: nil, limit: 9).map(
                    \.campaign),
                [first.id])
            try same(try subject.store.deliveries(telephone: "1380", token: subject.token(1), after: nil, limit: 9), [])
            try same(try subject.store.deliveries(telephone: nil, token: nil, after: nil, limit: 9), [])
        },
        ConformanceCase("a user's deliveries are paged over campaigns, whatever begins meanwhile") { subject in
            // Three devices of one user and one of another between them.
            for number in 0..<4 {
                let telephone = number == 1 ? "other" : "same"
                try subject.store.register([subject.registration(number, telephone: telephone)], at: subject.now)
            }
            for version in ["1", "2", "3"] { _ = try subject.announce(version) }
            func page(_ after: DeliveryPosition?, _ limit: Int) throws -> [Delivery] {
                try subject.store.deliveries(telephone: "same", token: nil, after: after, limit: limit)
            }
            let all = try page(nil, 99)
            try same(all.count, 9)
            for limit in 1...4 {
                var paged = try page(nil, limit)
                while true {
                    let next = try page(paged.last?.position, limit)
                    if next.isEmpty { break }
                    try check(next.count <= limit, "at most \(limit)")
                    paged += next
                }
                try same(paged, all, "\(limit) at a time")
            }
            let fourth = try present(all.dropFirst(3).first, "a fourth")
            _ = try subject.announce("4")
            try same(try page(fourth.position, 99).map(\.position), all.dropFirst(4).map(\.position))
            try same(try page(DeliveryPosition(campaign: "000000000000", device: 1), 9), [])
        },
        ConformanceCase("a user finds what was filtered, and what was sent to a device removed since") { subject in
            try subject.registerDevices(3)
            try subject.store.register([subject.registration(2)], at: subject.now)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let commit = try subject.batch(shard) { device in
                switch device.id % 3 {
                case 1: LedgerRow(device: device.id, state: .accepted, attempts: 1)
                case 2: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "alreadyCurrent")
                default: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
                }
            }
            try subject.commit([commit], at: subject.now)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(0))
            try subject.store.register([subject.registration(2, telephone: "1382")], at: subject.now)
            let removed = try subject.store.deliveries(telephone: "1380", token: nil, after: nil, limit: 9)
            try same(removed.map(\.state), [.accepted])
            try same(removed.map(\.token), [subject.token(0)])
            try same(
                try subject.store.deliveries(telephone: nil, token: subject.token(0), after: nil, limit: 9), removed)
            let filtered = try subject.store.deliveries(telephone: "1381", token: nil, after: nil, limit: 9)
            try same(filtered.map(\.reason), ["alreadyCurrent"])
            try same(
                try subject.store.deliveries(telephone: "1382", token: nil, after: nil, limit: 9), [],
                "nobody was logged in when its turn came")
        },
        ConformanceCase("outcomes are counted by the time that they were recorded at, packed or not, each device once")
        {
            subject in
            try subject.registerDevices(10)
            let campaign = try subject.announce()
            let minute = Duration.seconds(60)
            try same(try subject.store.outcomes(of: campaign.key, each: minute), [])
            try subject.store.planShards(campaign.key, shardSize: 5, waves: nil, at: subject.now)
            var commits: [LedgerCommit] = []
            for (number, shard) in try subject.open(campaign.key).enumerated() {
                var place = 0
                let commit = try subject.batch(shard) { device in
                    defer { place += 1 }
                    switch place {
                    case 0: return LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
                    case 1:
                        return LedgerRow(
                            device: device.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
                    case 2: return LedgerRow(device: device.id, state: .rejected, attempts: 1, reason: "BadDeviceToken")
                    default: return LedgerRow(device: device.id, state: .accepted, attempts: 1)
                    }
                }
                try subject.commit([commit], at: subject.now + .seconds(Int64(number) * 90))
                commits.append(commit)
            }
            // The second retry of the first shard is taken, four minutes later.
            let retried = commits[0].rows.filter { $0.state == .retrying }.map {
                LedgerRow(device: $0.device, state: .accepted, attempts: 2)
            }
            try subject.commit(
                [subject.retry(campaign.key, retried, commits[0].devices)], at: subject.now + .seconds(240))
            // 20 seconds of the first minute are over at the subject's time.
            let first = subject.now - .seconds(20)
            func count(_ minutes: Int64, _ state: DeliveryState, _ devices: Int64) -> OutcomeCount {
                OutcomeCount(from: first + .seconds(minutes * 60), state: state, devices: devices)
            }
            try same(
                try subject.store.outcomes(of: campaign.key, each: minute),
                [
                    count(0, .accepted, 2), count(0, .rejected, 1), count(0, .filtered, 1), count(1, .accepted, 2),
                    count(1, .retrying, 1), count(1, .rejected, 1), count(1, .filtered, 1), count(4, .accepted, 1),
                ])
            let counts = try subject.counts(campaign.key)
            let whole = try subject.store.outcomes(of: campaign.key, each: .seconds(86_400))
            for state in DeliveryState.allCases {
                try same(whole.filter { $0.state == state }.reduce(0) { $0 + $1.devices }, counts[state], "\(state)")
            }
            try same(try subject.store.outcomes(of: CampaignKey(row: 99), each: minute), [])
        },
        ConformanceCase(
            "how long answers took is recorded with the outcomes, added up by stretch, and pruned with them"
        ) {
            subject in
            try subject.registerDevices(30)
            let campaign = try subject.announce()
            func latency(_ milliseconds: [Int64], at time: Duration) -> LatencyStretch {
                var histogram = LatencyHistogram()
                for time in milliseconds { histogram.add(.milliseconds(time)) }
                return LatencyStretch(at: subject.now + time, begunAt: subject.now, latency: histogram)
            }
            func kept(_ store: any RelayStore) throws -> [[Int64]] {
                try store.latency(of: campaign.key).map { stretch in
                    [(stretch.from - subject.now).milliseconds / 1000, stretch.length.milliseconds / 1000]
                        + stretch.latency.counts.map(Int64.init)
                }
            }
            try same(try kept(subject.store), [])
            try subject.store.planShards(campaign.key, shardSize: 5, waves: nil, at: subject.now)
            // Two batches of one second in one commit, one of the same second in the next, then one of another; one without answers.
            let shards = try subject.open(campaign.key)
            var commits = try shards.map { try subject.batch($0, last: true) }
            commits[0].latency = latency([1, 100], at: .zero)
            commits[1].latency = latency([100], at: .milliseconds(900))
            commits[2].latency = latency([100, 60_000], at: .milliseconds(10))
            commits[3].latency = latency([2], at: .seconds(150))
            try subject.commit([commits[0], commits[1]], at: subject.now)
            try subject.commit([commits[2]], at: subject.now)
            try subject.commit([commits[3]], at: subject.now + .seconds(150))
            try subject.commit([commits[4], commits[5]], at: subject.now + .seconds(150))
            func counts(_ full: [Int: Int64]) -> [Int64] { (0..<LatencyHistogram.bucketCount).map { full[$0] ?? 0 } }
            // 1.7e9 s is no multiple of 10 s.
            let second = (subject.now.milliseconds / 1000 + 150) / 10 * 10 - subject.now.milliseconds / 1000
            let whole = [[0, 1] + counts([1: 1, 8: 3, 17: 1]), [second, 10] + counts([2: 1])]
            try same(try kept(subject.store), whole)
            try same(try kept(subject.second ?? subject.store), whole, "also by a relay that takes over")
            // A commit that is recorded already adds nothing; nor does one of a lease that is over.
            try same(try subject.store.latency(of: CampaignKey(row: 99)).count, 0)
            _ = try subject.store.completeIfDone(campaign.key, at: subject.now + .seconds(150))
            let late = subject.now + .seconds(86_400)
            _ = try subject.store.prune(before: late, at: late) { _ in true }
            try same(try kept(subject.store), [])
        },
    ]

    static let tokens: [ConformanceCase] = [
        ConformanceCase("API tokens are found by hash until they are revoked, and a name is used once") { subject in
            let hash = [UInt8](repeating: 7, count: 32)
            let token = AccessToken(
                name: "ci", scopes: [.status, .versions], createdAt: subject.now, revokedAt: nil)
            try subject.store.addToken(token, hash: hash)
            try same(try subject.store.token(hash: hash), token)
            let bound = AccessToken(
                name: "team", scopes: [.status], apps: ["com.example.a", "com.example.b"], createdAt: subject.now,
                revokedAt: nil)
            try subject.store.addToken(bound, hash: [UInt8](repeating: 5, count: 32))
            try same(try subject.store.token(hash: [UInt8](repeating: 5, count: 32)), bound)
            try same(try subject.store.token(hash: [UInt8](repeating: 8, count: 32)), nil)
            try fails(.nameTaken) { try subject.store.addToken(token, hash: [UInt8](repeating: 9, count: 32)) }
            let later = subject.now + .seconds(1)
            try check(try subject.store.revokeToken(name: "ci", at: later), "revoked")
            try check(!(try subject.store.revokeToken(name: "ci", at: later)), "revoked already")
            try check(!(try subject.store.revokeToken(name: "other", at: later)), "unknown")
            try same(try subject.store.token(hash: hash), nil)
            try fails(.nameTaken) { try subject.store.addToken(token, hash: [UInt8](repeating: 9, count: 32)) }
            try same(try subject.store.tokens().map(\.revokedAt), [later, nil])
        },
        ConformanceCase("the change mark can be asked for and stays while nothing happens") { subject in
            let mark = try subject.store.changeMark()
            try same(try subject.store.changeMark(), mark)
        },
    ]
}
