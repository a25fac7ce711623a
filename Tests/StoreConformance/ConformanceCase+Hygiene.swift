// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    /// Changes in the registry by answers of the push service, and the pushes that a suspended campaign holds.
    static let hygiene: [ConformanceCase] = [
        ConformanceCase("what is usual of an app comes from its own campaigns") { subject in
            let other = AppKey(app: "com.example.other", platform: .ios)
            func finish(_ app: AppKey, _ state: DeliveryState) throws {
                try subject.registerDevices(10, app: app)
                let campaign = try subject.announce("1.5", app: app)
                let shard = try subject.onlyShard(campaign)
                var devices = DeviceRows()
                try subject.store.readDevices(
                    app, channel: shard.channel, after: shard.cursor, through: shard.last, limit: 100,
                    into: &devices)
                let rows = devices.rows.map { LedgerRow(device: $0.id, state: state, attempts: 1) }
                try subject.commit(
                    [
                        LedgerCommit(
                            campaign: campaign.key, shard: shard.range, cursor: shard.last, shardDone: true,
                            rows: rows,
                            devices: devices, retirements: [])
                    ], at: subject.now)
            }
            try finish(subject.app, .accepted)
            try finish(other, .unregistered)
            let next = try subject.announce("1.6")
            let own = try subject.store.answers(of: subject.app, before: next.key, campaigns: 100)
            try same([own.accepted, own.unregistered], [10, 0])
            let theirs = try subject.store.answers(of: other, before: next.key, campaigns: 100)
            try same([theirs.accepted, theirs.unregistered], [0, 10])
        },
        ConformanceCase("what was said against tokens is kept by app, environment and kind, until it is taken back") {
            subject in
            let other = AppKey(app: "com.example.other", platform: .ios)
            try subject.registerDevices(3, app: other)
            try subject.registerDevices(3)
            let (own, theirs) = (try subject.announce(), try subject.announce("1.5", app: other))
            func note(_ campaign: CampaignRecord, _ doubts: TokenDoubt...) throws {
                var commit = LedgerCommit(
                    campaign: campaign.key, shard: nil, cursor: 0, shardDone: false, rows: [], devices: DeviceRows(),
                    retirements: [])
                commit.doubts = doubts
                try subject.commit([commit], at: subject.now)
            }
            func doubts(_ app: AppKey, _ channel: Channel = .production) throws -> [TokenDoubt] {
                try subject.store.tokenDoubts(of: app, channel: channel)
            }
            let dead = TokenDoubt(.production, .dead, JudgedAnswers(answers: 15, against: 12))
            let moved = TokenDoubt(.production, .moved, JudgedAnswers(isSuspect: true))
            let sandbox = TokenDoubt(.sandbox, .dead, JudgedAnswers(answers: 3, against: 3, isSuspect: true))
            try same(try doubts(subject.app), [])
            try note(own, moved, dead)
            try note(theirs, sandbox)
            try same(try doubts(subject.app), [dead, moved])
            try same(try doubts(subject.app, .sandbox), [])
            try same(try doubts(other), [])
            try same(try doubts(other, .sandbox), [sandbox])
            let more = TokenDoubt(.production, .dead, JudgedAnswers(answers: 20, against: 13))
            try note(own, more, TokenDoubt(.production, .moved, JudgedAnswers()))
            try same(try doubts(subject.app), [more])
            try note(own, TokenDoubt(.sandbox, .dead, JudgedAnswers()))
            try same(try doubts(other, .sandbox), [sandbox], "another app's")
        },
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
            try subject.commit([commit], at: subject.now + .seconds(11))
            try same(try subject.device(0).retiredAt, subject.now + .seconds(5))
            try same(try subject.device(1).retiredAt, nil, "registered after it died")
            try same(try subject.device(2).retiredAt, nil)
            var rows = DeviceRows()
            try subject.store.readDevices(
                subject.app, channel: .production, after: 0, through: .max, limit: 9, into: &rows)
            try same(rows.rows.map(\.isDead), [true, false, false])
            try subject.store.register([subject.registration(0, telephone: "1")], at: subject.now + .seconds(20))
            try same(try subject.device(0).retiredAt, nil, "registering revives")
        },
        ConformanceCase("a dead token stays dead in an import, unless it was registered later") { subject in
            try subject.registerDevices(2)
            let shard = try subject.onlyShard(try subject.announce())
            var commit = try subject.batch(shard) {
                LedgerRow(device: $0.id, state: .unregistered, attempts: 1, reason: "Unregistered")
            }
            let death = subject.now + .seconds(5)
            commit.retirements = commit.rows.map {
                TokenRetirement(device: $0.device, deadSince: death, registeredAt: subject.now)
            }
            try subject.commit([commit], at: subject.now + .seconds(6))
            let dead = try subject.device(0)
            try same(dead.retiredAt, death)
            var line = DeviceChange(dead.registration)
            let unchanged = UpsertCounts(unchanged: 1)
            try same(try subject.imported(line), unchanged)
            try same(try subject.device(0), dead, "neither alive nor registered later")
            line.registeredAt = subject.now - .seconds(1)
            try same(try subject.imported(line), unchanged, "older than what is known")
            line.registeredAt = subject.now + .seconds(5)
            try same(try subject.imported(line), UpsertCounts(updated: 1))
            try same(try subject.device(0).retiredAt, death, "registered before it died")
            try same(try subject.device(0).registeredAt, death)
            line.telephone = .set("another")
            try same(try subject.imported(line), UpsertCounts(updated: 1))
            try same(try subject.device(0).retiredAt, death, "dead, with a new user")
            line.registeredAt = death + .milliseconds(1)
            try same(try subject.imported(line), UpsertCounts(updated: 1))
            try same(try subject.device(0).retiredAt, nil, "registered after it died")
            try same(try subject.device(0).registeredAt, death + .milliseconds(1))
            line.deadSince = death
            try same(try subject.imported(line), unchanged, "its death was before")
            _ = try subject.store.change(
                DeviceChange(token: subject.token(1)), of: subject.app, at: death - .seconds(1))
            try same(try subject.device(1).retiredAt, nil, "its app registers it, whatever the clocks say")
        },
        ConformanceCase("what a device told itself later an import leaves as it is, and counts") { subject in
            try subject.registerDevices(1, version: try subject.version("1.8.0"))
            func seen(_ text: String, after: Int64) throws {
                _ = try subject.store.sawVersion(
                    try subject.version(text), app: subject.app, token: subject.token(0),
                    at: subject.now + .seconds(after))
            }
            var line = DeviceChange(
                token: subject.token(0), telephone: .set("1380"), version: .set(try subject.version("1.8.0")))
            let kept = UpsertCounts(unchanged: 1, versionsKept: 1)
            try seen("2.6.1", after: 4)
            try same(try subject.imported(line), kept, "the morning's file")
            // The back end knows of a registration that the relay does not, and the device has reported its version since.
            line.registeredAt = subject.now + .seconds(2)
            try same(try subject.imported(line), UpsertCounts(updated: 1, versionsKept: 1))
            try same(try subject.device(0).registration.version?.text, "2.6.1")
            try same(try subject.imported(line), kept)
            // An older app, installed on the phone again.
            line.registeredAt = subject.now + .seconds(5)
            try same(try subject.imported(line), UpsertCounts(updated: 1))
            try same(try subject.device(0).registration.version?.text, "1.8.0")
        },
        ConformanceCase("when a version was seen decides, where an import knows it") { subject in
            func line(_ text: String, seen after: Int64) throws -> DeviceChange {
                let version = try subject.version(text)
                return DeviceChange(
                    token: subject.token(0), version: .set(version), seenAt: subject.now + .seconds(after))
            }
            let kept = UpsertCounts(unchanged: 1, versionsKept: 1)
            try same(try subject.imported(try line("1.8.0", seen: -90)), UpsertCounts(inserted: 1))
            try same(try subject.device(0).registeredAt, subject.now - .seconds(90), "it was registered by then")
            try same(try subject.imported(try line("1.8.0", seen: -90)), UpsertCounts(unchanged: 1))
            try same(try subject.imported(try line("1.9.0", seen: -80)), UpsertCounts(updated: 1))
            try same(try subject.imported(try line("2.0.0", seen: -85)), kept, "an older look at a newer version")
            try same(try subject.imported(try line("1.7.0", seen: -80)), kept, "at the same moment the newer one")
            try same(try subject.imported(try line("1.8.1", seen: -70)), UpsertCounts(updated: 1), "put back")
            try same(try subject.device(0).registration.version?.text, "1.8.1")
            try same(try subject.imported(try line("1.8.1", seen: -60)), UpsertCounts(updated: 1), "seen once more")
            try same(try subject.imported(try line("1.8.0", seen: -65)), kept, "an older file")
            try same(try subject.device(0).seenAt, subject.now - .seconds(60))
            _ = try subject.store.sawVersion(
                try subject.version("2.6.1"), app: subject.app, token: subject.token(0), at: subject.now)
            try same(try subject.imported(try line("1.8.1", seen: -1)), kept, "the device told it later")
            try same(try subject.imported(try line("1.8.1", seen: 1_000_000)), UpsertCounts(updated: 1))
            try check(try subject.device(0).seenAt.map { $0 <= subject.now + .seconds(10) } == true, "not tomorrow")
        },
        ConformanceCase("what an import says of a system and a country is as old as it says") { subject in
            var device = subject.registration(0, telephone: "1", version: try subject.version("1.9.0"))
            (device.osVersion, device.country) = (try subject.version("17.1"), "DE")
            try subject.store.register([device, subject.registration(1)], at: subject.now)
            func line(_ number: Int, _ system: String, _ country: String, seen after: Int64?) throws -> DeviceChange {
                DeviceChange(
                    token: subject.token(number), version: .set(try subject.version("1.9.0")),
                    osVersion: .set(try subject.version(system)), country: .set(country),
                    seenAt: after.map { subject.now + .seconds($0) })
            }
            try subject.imported(try line(0, "18.0", "AT", seen: -60))
            try same(try subject.places(0), ["17.1", "DE"], "the device told it later")
            try subject.imported(try line(0, "17.0", "AT", seen: nil))
            try same(try subject.places(0), ["17.1", "AT"], "no phone goes back to an older system")
            try subject.imported(try line(1, "16.0", "FR", seen: -60))
            try same(try subject.places(1), ["16.0", "FR"], "nothing was known")
            try subject.imported(try line(0, "17.0", "CH", seen: 2))
            try same(try subject.places(0), ["17.0", "CH"], "seen later")
            func seen(_ system: String, after: Int64, stored: Int64) throws {
                try subject.store.sawVersions(
                    [
                        Sighting(
                            app: subject.app, token: subject.token(0), version: try subject.version("1.9.0"),
                            system: try subject.version(system), at: subject.now + .seconds(after))
                    ], at: subject.now + .seconds(stored))
            }
            try seen("18.0", after: 5, stored: 6)
            try same(try subject.device(0).seenAt, subject.now + .seconds(5), "a login told another system")
            try subject.imported(try line(0, "17.0", "FR", seen: 4))
            try same(try subject.places(0), ["18.0", "CH"], "yesterday's file")
            try seen("17.5", after: 4, stored: 7)
            try same(try subject.places(0), ["18.0", "CH"], "a login that waited for the store")
        },
        ConformanceCase("what an export tells of lives and deaths an import keeps, in another registry too") {
            subject in
            let (before, death) = (subject.now - .seconds(100), subject.now - .seconds(50))
            var dead = DeviceChange(token: subject.token(0), registeredAt: before, deadSince: death)
            try same(try subject.imported(dead), UpsertCounts(inserted: 1))
            try same([try subject.device(0).registeredAt, try subject.device(0).retiredAt], [before, death])
            try same(try subject.imported(dead), UpsertCounts(unchanged: 1))
            dead.deadSince = nil
            try same(try subject.imported(dead), UpsertCounts(unchanged: 1), "not told is not alive")
            try same(
                try subject.imported(DeviceChange(token: subject.token(1), registeredAt: before)),
                UpsertCounts(inserted: 1))
            try same(
                try subject.imported(DeviceChange(token: subject.token(1), deadSince: death)), UpsertCounts(updated: 1))
            try same(try subject.device(1).retiredAt, death)
            let future = subject.now + .seconds(1_000_000)
            try same(
                try subject.imported(DeviceChange(token: subject.token(2), registeredAt: future)),
                UpsertCounts(inserted: 1))
            try check(try subject.device(2).registeredAt <= subject.now + .seconds(10), "nobody registers tomorrow")
            try same(
                try subject.imported(DeviceChange(token: subject.token(3), deadSince: death)), UpsertCounts(inserted: 1)
            )
            try same([try subject.device(3).registeredAt, try subject.device(3).retiredAt], [death, death])
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
            try subject.commit([commit], at: subject.now + .seconds(2))
            try same(try subject.device(0).retiredAt, nil)
        },
        ConformanceCase("an environment is corrected unless the device was registered again") { subject in
            try subject.registerDevices(2)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            var commit = try subject.batch(shard)
            try subject.store.register([subject.registration(1, telephone: "1")], at: subject.now + .seconds(1))
            commit.corrections = commit.rows.map {
                EnvironmentCorrection(device: $0.device, channel: .sandbox, registeredAt: subject.now)
            }
            try subject.commit([commit], at: subject.now + .seconds(2))
            try same(try subject.device(0).registration.environment, .sandbox)
            try same(try subject.device(1).registration.environment, .production, "its app knows better")
        },
        ConformanceCase("what a clock deferred that was ahead is due when the campaign begins again") { subject in
            try subject.registerDevices(2)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            let ahead = subject.now + .seconds(3_600)
            let commit = try subject.batch(shard) { device in
                LedgerRow(
                    device: device.id, state: .retrying, attempts: 1, reason: "InvalidProviderToken",
                    nextAttemptAt: ahead + .seconds(60))
            }
            func due() throws -> Int {
                try subject.store.bringForward(campaign.key, at: subject.now)
                var rows = DeviceRows()
                try subject.store.readDueRetries(
                    campaign.key, channel: .production, at: subject.now, limit: 9, waves: nil, into: &rows)
                return rows.count
            }
            try subject.commit([commit], at: subject.now)
            try same(try due(), 0, "these have a schedule to keep")
            var again = commit
            again.shard = nil
            try subject.commit([again], at: ahead)
            try same(try due(), 2)
        },
    ]
}

extension Subject {
    /// The system and the country of a device.
    fileprivate func places(_ number: Int) throws -> [String?] {
        let registration = try device(number).registration
        return [registration.osVersion?.text, registration.country]
    }

    /// Imports one line, ten seconds later.
    @discardableResult
    fileprivate func imported(_ line: DeviceChange) throws -> UpsertCounts {
        var batch = RegistrationBatch(app: app)
        batch.append(line)
        return try store.register(batch, at: now + .seconds(10)) { _ in }
    }
}
