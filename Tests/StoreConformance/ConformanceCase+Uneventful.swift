// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    /// Pushes that a driver may keep many at a time, because nothing happened to them, are still listed one by one.
    static let uneventful: [ConformanceCase] = [
        ConformanceCase("every device of a large batch is told as it was recorded, page by page, by state and alone") {
            subject in
            let campaign = try subject.mixedCampaign(2500)
            let all = try subject.list(campaign)
            try same(all.map(\.device), try subject.store.devices(of: subject.app, after: 0, limit: 9999).map(\.id))
            for (number, delivery) in all.enumerated() {
                try same(delivery, try subject.mixed(number, campaign), "device \(number)")
            }
            for limit in [1, 7, 999, 1000, 1001] {
                for after in [0, 1, 998, 999, 1000, 1001, 2499, 2500].map({ $0 == 0 ? 0 : all[$0 - 1].device }) {
                    for state in [nil, DeliveryState.accepted, .filtered, .rejected, .retrying] {
                        let expected = all.filter { $0.device > after && (state == nil || $0.state == state) }
                        try same(
                            try subject.store.deliveries(
                                of: campaign.key, DeliveryFilter(state: state), after: after, limit: limit),
                            Array(expected.prefix(limit)), "\(limit) behind \(after), \(state?.name ?? "all")")
                    }
                }
            }
            for number in [0, 1, 5, 77, 1000, 2499] {
                let token = subject.token(number)
                try same(
                    try subject.store.deliveries(telephone: nil, token: token, after: nil, limit: 9), [all[number]])
            }
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("whom a push was for stays as it was, whoever the device belongs to afterwards") { subject in
            let campaign = try subject.mixedCampaign(30)
            let before = try subject.list(campaign)
            try subject.store.register([subject.registration(2, telephone: "another")], at: subject.now)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(4))
            try same(try subject.list(campaign), before)
            func of(_ telephone: String) throws -> [Delivery] {
                try subject.store.deliveries(telephone: telephone, token: nil, after: nil, limit: 9)
            }
            try same(try of("another"), [])
            try same(try of(try present(before[2].telephone, "a telephone")), [before[2]])
            try same(try of(try present(before[4].telephone, "a telephone")), [before[4]])
        },
        ConformanceCase("a device whose push was uneventful can be recorded again, and only that one changes") {
            subject in
            let campaign = try subject.mixedCampaign(1200)
            let before = try subject.list(campaign)
            let counts = try subject.counts(campaign.key)
            let changed = before[600]
            try same(changed.state, .accepted)
            let late = subject.now + .seconds(9)
            try subject.commit(
                [
                    subject.retry(
                        campaign.key,
                        [LedgerRow(device: changed.device, state: .rejected, attempts: 2, reason: "Forbidden")])
                ], at: late)
            let after = try subject.list(campaign)
            try same([after[600].state, after[600].state], [.rejected, .rejected])
            try same(after[600].updatedAt, late)
            for number in before.indices where number != 600 { try same(after[number], before[number], "\(number)") }
            let now = try subject.counts(campaign.key)
            try same([now.accepted, now.rejected], [counts.accepted - 1, counts.rejected + 1])
            try same(now.audience, 1200)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("who has upgraded stays counted, once, when its push is recorded again") { subject in
            let campaign = try subject.mixedCampaign(40)
            func upgrade(_ version: String) throws -> Int64 {
                for number in 0..<40 {
                    try subject.store.sawVersion(
                        try subject.version("1.0"), app: subject.app, token: subject.token(number), at: subject.now)
                    try subject.store.sawVersion(
                        try subject.version(version), app: subject.app, token: subject.token(number), at: subject.now)
                }
                return try subject.record(campaign.key).figures.upgraded
            }
            let current = try subject.list(campaign).count { $0.reason == "alreadyCurrent" }
            try check(current > 0, "somebody was current")
            let upgraded = Int64(40 - current)
            try same(try upgrade("2.0.0"), upgraded, "all but those that were current")
            try same(try upgrade("3.0.0"), upgraded, "each once")
            let list = try subject.list(campaign)
            let accepted = try present(list.first { $0.state == .accepted }, "an accepted one")
            try subject.commit(
                [
                    subject.retry(
                        campaign.key, [LedgerRow(device: accepted.device, state: .accepted, attempts: 2)])
                ], at: subject.now)
            try same(try upgrade("4.0.0"), upgraded, "and recorded again")
            try same(try subject.store.check { _ in true }, [], "faults")
            let late = Timestamp(seconds: 7_000_000_000)
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try same(try subject.store.prune(before: late, at: late) { _ in true }.deliveries, 40)
            try same(try subject.record(campaign.key).figures.upgraded, upgraded, "pruned")
        },
    ]
}

extension Subject {
    /// A campaign whose devices had every kind of outcome, between devices of another app, with all kinds of telephones.
    fileprivate func mixedCampaign(_ count: Int) throws -> CampaignRecord {
        let other = AppKey(app: "other", platform: .ios)
        for start in stride(from: 0, to: count, by: 10) {
            try store.register(
                (start..<min(start + 10, count)).map { registration($0, telephone: telephone($0)) }, at: now)
            // From no gap to one that takes several digits.
            try store.register(
                (0..<(start % 70)).map { registration(1_000_000 + start * 100 + $0, telephone: "x", app: other) },
                at: now)
        }
        let campaign = try announce()
        let shard = try onlyShard(campaign)
        var number = 0
        let commit = try batch(shard, limit: count, last: true) { device in
            defer { number += 1 }
            let (state, attempts, reason) = Self.outcome(number)
            return LedgerRow(
                device: device.id, state: state, attempts: attempts, reason: reason,
                nextAttemptAt: state == .retrying ? now + .seconds(60) : nil)
        }
        try self.commit([commit], at: now)
        return try record(campaign.key)
    }

    private static func outcome(_ number: Int) -> (DeliveryState, UInt16, String?) {
        switch number % 11 {
        case 1: (.filtered, 0, "noTelephone")
        case 3: (.filtered, 0, "alreadyCurrent")
        case 5: (.filtered, 0, number % 2 == 0 ? "notInAudience" : "knownDead")
        case 7 where number % 5 == 0: (.rejected, 1, "BadDeviceToken")
        case 8 where number % 5 == 0: (.retrying, 1, "InternalServerError")
        case 9 where number % 5 == 0: (.accepted, 3, nil)
        default: (.accepted, 1, nil)
        }
    }

    private func telephone(_ number: Int) -> String? {
        switch number % 13 {
        case 1: nil
        case 3: ""
        case 5: String(repeating: "0123456789", count: 13) + "\(number)"
        case 7: "電話\u{1}\(number)"
        default: "138\(number)"
        }
    }

    fileprivate func mixed(_ number: Int, _ campaign: CampaignRecord) throws -> Delivery {
        let (state, attempts, reason) = Self.outcome(number)
        return Delivery(
            campaign: campaign.id, app: app, device: try device(number).id, token: token(number),
            telephone: telephone(number), state: state, reason: reason, attempts: Int(attempts),
            nextAttemptAt: state == .retrying ? now + .seconds(60) : nil, updatedAt: now)
    }

    fileprivate func list(_ campaign: CampaignRecord) throws -> [Delivery] {
        try store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 100_000)
    }
}
