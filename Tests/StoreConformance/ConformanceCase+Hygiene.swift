// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension ConformanceCase {
    /// What answers of the push service change in the registry, and what a suspended campaign holds.
    static let hygiene: [ConformanceCase] = [
        ConformanceCase("a dead token is retired unless it was registered later than it died") { subject in
            try subject.registerDevices(3)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            try subject.store.register([subject.registration(1, telephone: "1")], at: subject.now + .seconds(10))
            var commit = try subject.batch(shard) {
                LedgerRow(device: $0.id, state: .unregistered, attempts: 1, reason: "Unregistered")
            }
            commit.retirements = commit.rows.prefix(2).map {
                TokenRetirement(
                    device: $0.device, deadSince: subject.now + .seconds(5), registeredAt: subject.now)
            }
            try subject.store.commit([commit], at: subject.now + .seconds(11))
            try same(try subject.device(0).retiredAt, subject.now + .seconds(5))
            try same(try subject.device(1).retiredAt, nil, "registered after it died")
            try same(try subject.device(2).retiredAt, nil)
            var rows = DeviceRows()
            try subject.store.readDevices(
                subject.app, environment: .production, after: 0, through: .max, limit: 9, into: &rows)
            try same(rows.rows.map(\.isDead), [true, false, false])
            try subject.store.register([subject.registration(0, telephone: "1")], at: subject.now + .seconds(20))
            try same(try subject.device(0).retiredAt, nil, "registering revives")
        },
        ConformanceCase("a token that was registered again since it was pushed to is kept, whatever the clocks say") {
            subject in
            try subject.registerDevices(1)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var commit = try subject.batch(shard) {
                LedgerRow(device: $0.id, state: .unregistered, attempts: 1, reason: "Unregistered")
            }
            try subject.store.register([subject.registration(0, telephone: "1")], at: subject.now + .seconds(1))
            commit.retirements = commit.rows.map {
                TokenRetirement(
                    device: $0.device, deadSince: subject.now + .seconds(3_600), registeredAt: subject.now)
            }
            try subject.store.commit([commit], at: subject.now + .seconds(2))
            try same(try subject.device(0).retiredAt, nil)
        },
        ConformanceCase("an environment is corrected unless the device was registered again") { subject in
            try subject.registerDevices(2)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var commit = try subject.batch(shard)
            try subject.store.register([subject.registration(1, telephone: "1")], at: subject.now + .seconds(1))
            commit.corrections = commit.rows.map {
                EnvironmentCorrection(device: $0.device, environment: .sandbox, registeredAt: subject.now)
            }
            try subject.store.commit([commit], at: subject.now + .seconds(2))
            try same(try subject.device(0).registration.environment, .sandbox)
            try same(try subject.device(1).registration.environment, .production, "its app knows better")
        },
        ConformanceCase("what was held under a clock that was ahead is due when the campaign goes on") { subject in
            try subject.registerDevices(2)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let ahead = subject.now + .seconds(3_600)
            var number = 0
            let commit = try subject.batch(shard) { device in
                defer { number += 1 }
                return LedgerRow(
                    device: device.id, state: .retrying, attempts: 1, reason: "InvalidProviderToken",
                    nextAttemptAt: number == 0 ? ahead : ahead + .seconds(60))
            }
            try subject.store.commit([commit], at: ahead)
            _ = try subject.store.moveCampaign(
                campaign.key, from: [.running], to: .suspended, reason: "the clock", at: ahead)
            _ = try subject.store.moveCampaign(
                campaign.key, from: [.suspended], to: .running, reason: nil, at: subject.now)
            var rows = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, environment: .production, at: subject.now, limit: 9, waves: nil, into: &rows)
            try same(rows.rows.map { rows.string($0.token) }, [subject.token(0)], "the other has a schedule to keep")
        },
    ]
}
