// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// A phone that gets another token.
extension ConformanceCase {
    static let replacing: [ConformanceCase] = [
        ConformanceCase("a phone that gets another token is one device, as it is registered now, and counted once") {
            subject in
            let (one, two) = (try subject.version("1.0"), try subject.version("2.0"))
            var old = subject.registration(1, telephone: "1", version: one)
            (old.environment, old.osVersion) = (.sandbox, one)
            try subject.store.register([old, subject.registration(3, telephone: "3", version: one)], at: subject.now)
            let id = try subject.device(1).id
            // The user may be another one: the phone is the same.
            let outcome = try subject.store.register(
                subject.registration(2, telephone: "2", version: two), replacing: subject.token(1), at: subject.now)
            try same(outcome.replaced, .moved)
            try check(outcome.isNew, "the new token had no device")
            try same(try subject.store.device(subject.app, token: subject.token(1)), nil, "the old token")
            let device = try subject.device(2)
            try same(device.id, id)
            try same(device.registration, subject.registration(2, telephone: "2", version: two), "nothing is kept")
            try same(device.retiredAt, nil)
            try check(device.registeredAt > subject.now, "told from what was registered in the same millisecond")
            let seen = try subject.store.seenVersions(of: subject.app).versions.map { "\($0.version) \($0.devices)" }
            try same(Set(seen), ["1.0 1", "2.0 1"])
            try same(try subject.store.devices(of: subject.app, after: 0, limit: 9).count, 2)
            try same(try subject.store.census().devices[subject.app], 2)
        },
        ConformanceCase("a token that replaces one without a device is registered as any other") { subject in
            let app = AppKey(app: "com.example.other", platform: .ios)
            try subject.store.register(
                [subject.registration(1), subject.registration(2, telephone: "2", app: app)], at: subject.now)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(1))
            for old in [subject.token(1), subject.token(2), subject.token(3)] {
                let outcome = try subject.store.register(
                    subject.registration(9, telephone: "9"), replacing: old, at: subject.now)
                try same(outcome.replaced, .unknown, "removed, another app's, never seen")
                try same(outcome.isNew, old == subject.token(1), "the first of them")
            }
            try same(try subject.device(9).registration.telephone, "9")
            try same(try subject.store.device(app, token: subject.token(2))?.registration.telephone, "2")
            try same(try subject.store.device(subject.app, token: subject.token(1)), nil)
        },
        ConformanceCase("where both tokens have devices, the new one's stays, and the old one's is removed") {
            subject in
            try subject.registerDevices(3)
            let id = try subject.device(2).id
            let outcome = try subject.store.register(
                subject.registration(2, telephone: "7"), replacing: subject.token(1).uppercased(), at: subject.now)
            try same(outcome.replaced, .removed)
            try check(!outcome.isNew, "the new token had a device")
            try same(try subject.device(2).id, id)
            try same(try subject.device(2).registration.telephone, "7")
            try same(try subject.store.device(subject.app, token: subject.token(1)), nil)
            try same(try subject.store.census().devices[subject.app], 2)
            // And back: the old token's row is still there, removed.
            let back = try subject.store.register(
                subject.registration(1, telephone: "8"), replacing: subject.token(2), at: subject.now)
            try same(back.replaced, .removed)
            try check(back.isNew, "it was removed")
            try same(try subject.store.census().devices[subject.app], 2)
        },
        ConformanceCase("whom a push was accepted for is not read again with the new token; who has yet to be is") {
            subject in
            try subject.registerDevices(4)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            try subject.commit([try subject.batch(shard, limit: 2)], at: subject.now)
            for (old, new) in [(0, 10), (3, 13)] {
                let outcome = try subject.store.register(
                    subject.registration(new, telephone: "138\(old)"), replacing: subject.token(old), at: subject.now)
                try same(outcome.replaced, .moved)
            }
            let rest = try subject.batch(try present(try subject.open(campaign.key).first, "the shard"))
            try same(
                rest.devices.rows.map { rest.devices.string($0.token) }, [subject.token(2), subject.token(13)],
                "who is left")
            try subject.commit([rest], at: subject.now)
            try same(try subject.counts(campaign.key)[.accepted], 4)
            try same(try subject.counts(campaign.key).audience, 4)
            let told = try subject.store.deliveries(
                telephone: nil, token: subject.token(10), after: nil, limit: 9)
            try same(told.map(\.state), [.accepted], "listed with the new token")
        },
        ConformanceCase("an answer about the old token does not retire the new one") { subject in
            try subject.registerDevices(2)
            let shard = try subject.onlyShard(try subject.announce())
            var batch = try subject.batch(shard)
            let device = try subject.device(0)
            try subject.store.register(
                subject.registration(10, telephone: "1380"), replacing: subject.token(0), at: subject.now)
            batch.retirements = [
                TokenRetirement(
                    device: device.id, deadSince: subject.now + .seconds(9), registeredAt: device.registeredAt)
            ]
            try subject.commit([batch], at: subject.now)
            try same(try subject.device(10).retiredAt, nil)
        },
    ]
}
