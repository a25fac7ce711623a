// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// One user's data: found, and erased.
extension ConformanceCase {
    static let erasing: [ConformanceCase] = [
        ConformanceCase("a user's devices are found in every app, page by page, and so is a token") { subject in
            let other = AppKey(app: "com.example.other", platform: .ios)
            for number in 0..<5 {
                let app = number % 2 == 0 ? subject.app : other
                try subject.store.register([subject.registration(number, telephone: "138", app: app)], at: subject.now)
            }
            try subject.store.register([subject.registration(0, telephone: "139", app: other)], at: subject.now)
            let all = try subject.store.devices(telephone: "138", token: nil, after: 0, limit: 9)
            try same(all.map(\.registration.token), (0..<5).map(subject.token))
            try same(all.map(\.registration.app), [subject.app, other, subject.app, other, subject.app])
            try same(
                try subject.store.devices(telephone: "138", token: nil, after: all[1].id, limit: 2), [all[2], all[3]])
            let token = subject.token(0)
            let named = try subject.store.devices(telephone: nil, token: token.uppercased(), after: 0, limit: 9)
            try same(named.map(\.registration.telephone), ["138", "139"])
            try same(try subject.store.devices(telephone: nil, token: token, after: named[0].id, limit: 9), [named[1]])
            try same(try subject.store.devices(telephone: "139", token: token, after: 0, limit: 9), [named[1]])
            try same(try subject.store.devices(telephone: nil, token: nil, after: 0, limit: 9), [])
            _ = try subject.store.removeDevice(subject.app, token: token)
            try same(try subject.store.devices(telephone: "138", token: nil, after: 0, limit: 9).count, 4)
        },
        ConformanceCase("a user who is erased is in no device and no delivery, and what was sent stays") { subject in
            try subject.registerDevices(6)
            let first = try subject.announce("1")
            let shard = try subject.onlyShard(first)
            // Some are stored as rows, some in a batch.
            let commit = try subject.batch(shard) { device in
                device.id % 3 == 0
                    ? LedgerRow(device: device.id, state: .rejected, attempts: 1, reason: "Busy")
                    : LedgerRow(device: device.id, state: .accepted, attempts: 1)
            }
            try subject.commit([commit], at: subject.now)
            // Device 4 was the user's and is another's now; device 5 is the user's now.
            for number in 0..<3 {
                try subject.store.register([subject.registration(number, telephone: "u")], at: subject.now)
            }
            try subject.store.register([subject.registration(4, telephone: "u")], at: subject.now)
            let second = try subject.announce("2")
            let next = try subject.onlyShard(second)
            try subject.commit([try subject.batch(next)], at: subject.now)
            try subject.store.register([subject.registration(4, telephone: "new")], at: subject.now)
            try subject.store.register([subject.registration(5, telephone: "u")], at: subject.now)
            func list(_ campaign: CampaignRecord) throws -> [Delivery] {
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 99)
            }
            let before = try (list(first), list(second))
            try same(before.1.filter { $0.telephone == "u" }.count, 4)
            let counts = try subject.counts(second.key)

            let other = AppKey(app: "com.example.other", platform: .ios)
            try same(try subject.store.eraseUser("u") { $0 == other }, UserErasure(), "in another app")
            try same(try subject.store.eraseUser("u") { _ in true }, UserErasure(devices: 4, deliveries: 4, former: 1))
            try same(try subject.store.eraseUser("u") { _ in true }, UserErasure(), "the second time")

            try same(try subject.store.devices(telephone: "u", token: nil, after: 0, limit: 9), [])
            try same(try subject.store.devices(of: subject.app, after: 0, limit: 9).count, 2)
            try same(try subject.store.deliveries(telephone: "u", token: nil, after: nil, limit: 9), [])
            try same(try list(first), before.0, "other users' pushes")
            var expected = before.1
            for index in expected.indices where expected[index].telephone == "u" { expected[index].telephone = nil }
            try same(try list(second), expected, "what was sent")
            try same(try subject.counts(second.key), counts)
            try same(try subject.store.check { _ in true }.map(\.detail), [])

            // The device's next user was not pushed to.
            try subject.store.register([subject.registration(0, telephone: "next")], at: subject.now)
            let nexts = try subject.store.deliveries(telephone: "next", token: nil, after: nil, limit: 9)
            try same(nexts.filter { $0.campaign == second.id }, [])
        },
        ConformanceCase("a user who is erased while a push is on its way is not recorded again") { subject in
            try subject.registerDevices(6)
            // The user's device for long, one that has passed to another user since it was read, and one that comes back.
            let campaign = try subject.announce()
            let all = try subject.batch(try subject.onlyShard(campaign), limit: 5) { device in
                device.id % 2 == 0
                    ? LedgerRow(
                        device: device.id, state: .retrying, attempts: 1, reason: "Busy", nextAttemptAt: subject.now)
                    : LedgerRow(device: device.id, state: .accepted, attempts: 1)
            }
            try subject.store.register([subject.registration(1, telephone: "new")], at: subject.now)
            for number in [0, 1, 2, 3] {
                let erasure = try subject.store.eraseUser("138\(number)") { _ in true }
                try same(erasure.devices + erasure.former, 1, "\(number)")
            }
            try subject.store.register([subject.registration(2, telephone: "1382")], at: subject.now)
            try subject.store.register([subject.registration(3, telephone: "next")], at: subject.now)
            try subject.commit([all], at: subject.now)
            func list() throws -> [String?] {
                try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 5).map(\.telephone)
            }
            try same(try list(), [nil, nil, "1382", nil, "1384"])
            // Nor is it by the second try of a push that was on its way.
            let again = all.rows.filter { $0.state == .retrying }.map { row in
                var row = row
                (row.state, row.attempts, row.nextAttemptAt) = (.accepted, 2, nil)
                return row
            }
            try subject.commit([subject.retry(campaign.key, again, all.devices)], at: subject.now)
            try same(try list(), [nil, nil, "1382", nil, "1384"])
            try same(try subject.store.deliveries(telephone: "1383", token: nil, after: nil, limit: 9), [])
            try same(try subject.store.check { _ in true }.map(\.detail), [])
        },
        ConformanceCase("a user of very many devices is erased from every batch, and others stay in theirs") {
            subject in
            try subject.store.register(
                (0..<2_500).map { subject.registration($0, telephone: $0 % 5 == 3 ? "138\($0)" : "NULL") },
                at: subject.now)
            let campaign = try subject.announce()
            try subject.commit(
                [try subject.batch(try subject.onlyShard(campaign), limit: 9_999)], at: subject.now)
            let before = try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 9_999)
            try same(
                try subject.store.eraseUser("NULL") { _ in true }, UserErasure(devices: 2_000, deliveries: 2_000))
            let after = try subject.store.deliveries(of: campaign.key, DeliveryFilter(), after: 0, limit: 9_999)
            try same(after.map(\.telephone), before.map { $0.telephone == "NULL" ? nil : $0.telephone })
            try same(after.map(\.updatedAt), before.map(\.updatedAt))
            try same(after.map(\.state), before.map(\.state))
            try same(try subject.store.check { _ in true }.map(\.detail), [])
        },
        ConformanceCase("a user who is erased gets no push that was still to come") { subject in
            try subject.registerDevices(3)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let first = try subject.batch(shard, limit: 1) { device in
                LedgerRow(
                    device: device.id, state: .retrying, attempts: 1, reason: "Busy", nextAttemptAt: subject.now)
            }
            try subject.commit([first], at: subject.now)
            for telephone in ["1380", "1381"] {
                try same(try subject.store.eraseUser(telephone) { _ in true }.devices, 1)
            }
            var rows = DeviceRows()
            try subject.store.readDueRetries(
                campaign.key, channel: .production, at: subject.now, limit: 9, waves: nil, into: &rows)
            try same(rows.rows.map(\.telephone.isAbsent), [true], "the retry")
            try subject.store.readDevices(
                subject.app, channel: .production, after: first.cursor, through: .max, limit: 9, of: nil,
                without: nil, into: &rows)
            try same(rows.rows.count, 1, "the rest of the audience")
        },
        ConformanceCase("deliveries are listed by reason, state and token, wherever they are kept") { subject in
            try subject.registerDevices(12)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let commit = try subject.batch(shard, limit: 9) { device in
                switch device.id % 4 {
                case 0: LedgerRow(device: device.id, state: .rejected, attempts: 1, reason: "BadDeviceToken")
                case 1: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "alreadyCurrent")
                case 2: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
                default: LedgerRow(device: device.id, state: .accepted, attempts: 1)
                }
            }
            try subject.commit([commit], at: subject.now)
            func list(_ filter: DeliveryFilter, after: Int64 = 0, limit: Int = 99) throws -> [Delivery] {
                try subject.store.deliveries(of: campaign.key, filter, after: after, limit: limit)
            }
            let all = try list(DeliveryFilter())
            try same(all.count, 12)
            let states = DeliveryState.allCases.map(Optional.some) + [nil]
            for reason in ["BadDeviceToken", "alreadyCurrent", "noTelephone", "other", nil] {
                for state in states {
                    let filter = DeliveryFilter(state: state, reason: reason)
                    let expected = all.filter { filter.takes($0.state, $0.reason) }
                    try same(try list(filter), expected, "\(filter)")
                    var paged: [Delivery] = []
                    while let page = try Optional(list(filter, after: paged.last?.device ?? 0, limit: 2)), !page.isEmpty
                    {
                        paged += page
                    }
                    try same(paged, expected, "\(filter), two at a time")
                }
            }
            try same(try list(DeliveryFilter(token: subject.token(3))), [all[3]])
            try same(try list(DeliveryFilter(telephone: "1383", token: subject.token(3))), [all[3]])
            try same(try list(DeliveryFilter(telephone: "1384", token: subject.token(3))), [])
            try same(
                try list(DeliveryFilter(state: .pending, token: subject.token(3))).count,
                all[3].state == .pending ? 1 : 0)
            let user = DeliveryFilter(state: all[4].state, reason: all[4].reason, telephone: "1384")
            try same(try subject.store.deliveries(user, after: nil, limit: 9), [all[4]])
            try same(
                try subject.store.deliveries(DeliveryFilter(reason: "other", telephone: "1384"), after: nil, limit: 9),
                [])
        },
    ]
}
