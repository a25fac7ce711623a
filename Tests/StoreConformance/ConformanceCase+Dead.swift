// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Dead tokens in the order in which the relay learned of them.
extension ConformanceCase {
    static let dead: [ConformanceCase] = [
        ConformanceCase("dead tokens are listed in the order in which they were learnt of, also by a clock set back") {
            subject in
            try subject.registerDevices(6)
            try same(try subject.dead(), [])
            // The push service's own time does not order them.
            try subject.kill([4, 1], since: .seconds(5), at: subject.now + .seconds(10))
            let first = try subject.deadDevices()
            try same(try subject.dead(), [4, 1])
            try same(first[0].record.retiredAt, subject.now + .seconds(5))
            try same(first[0].record.registration.telephone, "1384")
            try subject.kill([0], since: .seconds(1), at: subject.now + .seconds(10))
            try subject.kill([5], since: .seconds(2), at: subject.now - .seconds(3600))
            try same(try subject.dead(), [4, 1, 0, 5])
            try same(try subject.dead(after: first[1].place), [0, 5])
            try same(try subject.dead(after: first[0].place, limit: 2), [1, 0])
            try same(try subject.dead(after: DeadPlace(before: subject.now + .seconds(10))), [4, 1, 0, 5])
            try same(try subject.dead(after: DeadPlace(before: subject.now + .seconds(11))), [])
            let other = AppKey(app: subject.app.app, platform: .android)
            try same(try subject.store.deadDevices(of: other, after: DeadPlace(order: 0), limit: 9), [])
            try same(
                try (subject.second ?? subject.store).deadDevices(of: subject.app, after: first[0].place, limit: 9)
                    .map(\.record.registration.token), [1, 0, 5].map(subject.token))
        },
        ConformanceCase("who is registered again, removed or replaced is not among the dead; who dies again is behind")
        {
            subject in
            try subject.registerDevices(6)
            try subject.kill([0, 1, 2, 3, 4], since: .seconds(1), at: subject.now + .seconds(1))
            let later = subject.now + .seconds(2)
            try subject.store.register([subject.registration(0, telephone: "1380")], at: later)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(1))
            _ = try subject.store.eraseUser("1382") { _ in true }
            try subject.store.register(
                subject.registration(9, telephone: "1383"), replacing: subject.token(3), at: later)
            try same(try subject.dead(), [4])
            let last = try present(try subject.deadDevices().last, "the last one").place
            try subject.kill([0], since: .seconds(3), at: subject.now + .seconds(3))
            try same(try subject.dead(after: last), [0])
            // A removed device that is registered again and dies is listed.
            try subject.store.register([subject.registration(1)], at: later)
            try subject.kill([1], since: .seconds(9), at: subject.now + .seconds(9))
            try same(try subject.dead(after: last), [0, 1])
        },
        ConformanceCase("what an import calls dead is among them, and what it revives is not; a dry run does neither") {
            subject in
            try subject.registerDevices(2)
            func line(_ number: Int, dead: Int64? = nil, registered: Int64? = nil) -> DeviceChange {
                DeviceChange(
                    token: subject.token(number), registeredAt: registered.map { subject.now + .seconds($0) },
                    deadSince: dead.map { subject.now + .seconds($0) })
            }
            func take(_ lines: [DeviceChange], isDryRun: Bool = false) throws {
                var batch = RegistrationBatch(app: subject.app)
                for line in lines { batch.append(line) }
                _ = try subject.store.register(batch, at: subject.now + .seconds(60), isDryRun: isDryRun) { _ in }
            }
            try take([line(0, dead: 1), line(7, dead: 1)], isDryRun: true)
            try same(try subject.dead(), [])
            try take([line(0, dead: 1), line(7, dead: 1)])
            try same(Set(try subject.dead()), [0, 7])
            let last = try present(try subject.deadDevices().last, "the last one").place
            try take([line(0, dead: 1), line(7, dead: 1)])
            try same(try subject.dead(after: last), [], "nothing new")
            try take([line(0, registered: 5), line(1, dead: 2)])
            try same(try subject.dead(after: last), [1])
            try same(Set(try subject.dead()), [7, 1])
            try take([line(0, dead: 6), line(7, dead: 9, registered: 8)])
            try same(Set(try subject.dead(after: last)), [1, 0, 7], "dead again")
            // Many new ones at a time, for which a driver may take another way.
            try take((1000..<1200).map { line($0, dead: $0 < 1150 ? 3 : nil) })
            try same(try subject.dead(limit: 999).count, 4 - 1 + 150)
        },
        ConformanceCase("a receiver that asks for them is told of dead tokens, so many at a time, each once") {
            subject in
            try subject.registerDevices(8)
            try subject.announce()
            try subject.listen(events: EventType.usual)
            try subject.kill([0], since: .seconds(1), at: subject.now)
            try subject.store.noteDeadTokens(limit: 2, at: subject.now)
            try same(try subject.events(), [], "it did not ask for them")
            try subject.listen(events: [.dead])
            try subject.store.noteDeadTokens(limit: 2, at: subject.now)
            try same(try subject.events(), [], "those of before")
            try subject.kill([1, 2, 3, 4, 5], since: .seconds(1), at: subject.now)
            try subject.store.register([subject.registration(2, telephone: "1382")], at: subject.now + .seconds(2))
            for _ in 0..<2 { try subject.store.noteDeadTokens(limit: 2, at: subject.now + .seconds(3)) }
            try subject.store.addressEvents(limit: 1000, at: subject.now)
            let listed = try subject.store.notifications(campaign: nil, state: .pending, before: nil, limit: 9)
            try same(listed.map(\.type), ["devices.dead", "devices.dead"])
            try same(listed.map(\.app), [subject.app, subject.app])
            try same(listed.map(\.campaign), [nil, nil])
            // Alive again before the event is sent.
            try subject.store.register([subject.registration(5, telephone: "1385")], at: subject.now + .seconds(4))
            let events = try subject.events()
            try same(events.map(\.type), [EventType.dead, .dead])
            try same(Set(events.map(\.id)).count, 2)
            let tokens = events.map { event -> [String] in
                guard case .dead(let app, let devices, _) = event.subject, app == subject.app else { return [] }
                return devices.map(\.record.registration.token)
            }
            try same(tokens, [[1, 3].map(subject.token), [4].map(subject.token)])
            guard case .dead(_, _, let last) = events[1].subject else { return }
            try same(try subject.dead(after: last), [], "where its list goes on")
        },
        ConformanceCase("dead tokens of many commits at a time are in one order, and none is passed over") { subject in
            try subject.registerDevices(60)
            let second = subject.second ?? subject.store
            let devices = try subject.store.devices(of: subject.app, after: 0, limit: 60)
            try await many(6) { number in
                for device in devices[number * 10..<number * 10 + 10] {
                    var batch = RegistrationBatch(app: subject.app)
                    batch.append(DeviceChange(token: device.registration.token, deadSince: subject.now))
                    let store = number % 2 == 0 ? subject.store : second
                    _ = try store.register(batch, at: subject.now, isDryRun: false) { _ in }
                }
            }
            let places = try subject.deadDevices(limit: 99).map(\.place)
            try same(places.count, 60)
            try same(Set(places).count, 60)
            try same(places, places.sorted())
        },
    ]
}

extension Subject {
    func deadDevices(after place: DeadPlace = DeadPlace(order: 0), limit: Int = 99) throws -> [DeadDevice] {
        try store.deadDevices(of: app, after: place, limit: limit)
    }

    /// The numbers of the dead devices.
    func dead(after place: DeadPlace = DeadPlace(order: 0), limit: Int = 99) throws -> [Int] {
        try deadDevices(after: place, limit: limit).compactMap { Int($0.record.registration.token, radix: 16) }
    }

    /// Makes a push service call the tokens of these devices dead.
    func kill(_ numbers: [Int], since: Duration, at time: Timestamp) throws {
        let campaign = try store.campaigns(before: nil, limit: 1).first ?? announce()
        let retirements = try numbers.map {
            let device = try device($0)
            return TokenRetirement(
                device: device.id, deadSince: now + since, registeredAt: device.registeredAt)
        }
        try commit(
            [
                LedgerCommit(
                    campaign: campaign.key, shard: nil, cursor: 0, shardDone: false, rows: [], devices: DeviceRows(),
                    retirements: retirements)
            ], at: time)
    }
}
