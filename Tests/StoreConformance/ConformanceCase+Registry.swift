// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let registry: [ConformanceCase] = [
        ConformanceCase("a device is kept as it was registered, an iOS token in lower case") { subject in
            let token = "ABCDEF" + subject.token(1).dropFirst(6)
            let device = DeviceRegistration(
                app: subject.app, token: token, telephone: " +86 138\u{e9}", version: try subject.version("1.01"),
                environment: .sandbox)
            try same(try subject.store.register([device], at: subject.now), UpsertCounts(inserted: 1, updated: 0))
            let record = try present(try subject.store.device(subject.app, token: token), "the device")
            try same(record.registration.token, token.lowercased())
            try same(record.registration.telephone, device.telephone)
            try same(record.registration.version?.text, "1.01")
            try same(record.registration.environment, .sandbox)
            try same(record.registration.app, subject.app)
            try same([record.registeredAt, record.retiredAt], [subject.now, nil])
            try same(try subject.store.device(AppKey(app: "other", platform: .ios), token: token), nil)
        },
        ConformanceCase("an Android token keeps its case") { subject in
            let app = AppKey(app: "a", platform: .android)
            let device = DeviceRegistration(app: app, token: "aB:C", telephone: "", version: nil)
            try subject.store.register([device], at: subject.now)
            try same(
                try subject.store.device(app, token: "aB:C")?.registration, device, "an empty telephone is not nil")
            try same(try subject.store.device(app, token: "ab:c"), nil)
        },
        ConformanceCase("registering again updates, within one batch too") { subject in
            let counts = try subject.store.register(
                [
                    subject.registration(1, telephone: "1"), subject.registration(2, telephone: "2"),
                    subject.registration(1, telephone: "3", version: try subject.version("2")),
                ], at: subject.now)
            try same(counts, UpsertCounts(inserted: 2, updated: 1))
            try same(try subject.device(1).registration.telephone, "3")
            let later = subject.now + .seconds(1)
            try subject.store.register([subject.registration(1)], at: later)
            let record = try subject.device(1)
            try same(record.registration.telephone, nil, "the user logged out")
            try same(record.registration.version, nil)
            try same(record.registeredAt, later)
        },
        ConformanceCase("what is not named of a device stays as it is; what is named as nothing is forgotten") {
            subject in
            let (one, two) = (try subject.version("1"), try subject.version("2"))
            let token = subject.token(0)
            try same(
                try subject.store.change(DeviceChange(token: token), of: subject.app, at: subject.now), nil, "unknown")
            let new = try subject.changed(DeviceChange(token: token, version: .set(one)))
            try same(new, subject.registration(0, version: one), "a new one has nothing else")
            var device = try subject.changed(
                DeviceChange(token: token, telephone: .set("1"), environment: .set(.sandbox)))
            try same(device.version, one)
            try same([device.telephone, device.environment.name], ["1", "sandbox"])
            device = try subject.changed(DeviceChange(token: token, version: .set(two)))
            try same([device.telephone, device.version?.text, device.environment.name], ["1", "2", "sandbox"])
            device = try subject.changed(DeviceChange(token: token, telephone: .set(nil)))
            try same([device.telephone, device.version?.text, device.environment.name], [nil, "2", "sandbox"])
            device = try subject.changed(DeviceChange(token: token, version: .set(nil), environment: .set(nil)))
            try same([device.telephone, device.version?.text, device.environment.name], [nil, nil, "production"])
            _ = try subject.store.removeDevice(subject.app, token: token)
            try same(
                try subject.store.change(DeviceChange(token: token), of: subject.app, at: subject.now), nil, "removed")
        },
        ConformanceCase("the system of a device is kept, left alone, changed and forgotten, and read with its batch") {
            subject in
            let (old, new) = (try subject.version("14.8"), try subject.version("17.0"))
            var device = subject.registration(0, telephone: "1", version: try subject.version("1"))
            device.osVersion = old
            try subject.store.register([device, subject.registration(1, telephone: "2")], at: subject.now)
            func systems() throws -> [String?] {
                let (app, last) = (subject.app, Int64.max)
                var rows = DeviceRows()
                try subject.store.readDevices(
                    app, channel: .production, after: 0, through: last, limit: 10, of: nil, without: nil,
                    into: &rows)
                return rows.rows.map { $0.system.isAbsent ? nil : rows.string($0.system) }
            }
            try same(try systems(), ["14.8", nil])
            try same(try subject.device(0).registration.osVersion?.text, "14.8")
            try same(try subject.store.seenVersions(of: subject.app).systems.map(\.text), ["14.8"])
            let token = subject.token(0)
            // An import without the system, one with it, and the same one again.
            func imported(_ change: (inout DeviceChange) -> Void) throws -> UpsertCounts {
                var (batch, line) = (RegistrationBatch(app: subject.app), DeviceChange(token: token))
                change(&line)
                batch.append(line)
                return try subject.store.register(batch, at: subject.now + .seconds(5), isDryRun: false) { _ in }
            }
            try same(try imported { $0.telephone = .set("3") }.updated, 1)
            try same(try subject.device(0).registration.osVersion?.text, "14.8")
            try same(try imported { $0.osVersion = .set(new) }.updated, 1)
            try same(try imported { $0.osVersion = .set(new) }.unchanged, 1)
            try same(try systems(), ["17.0", nil])
            try same(try subject.store.seenVersions(of: subject.app).systems.map(\.text), ["17.0"])
            // A system that no phone runs, and a country that does not exist, are kept but are no evidence.
            for (index, odd) in ["0", "9999", "100.1"].enumerated() {
                var phone = subject.registration(20 + index, telephone: "\(20 + index)")
                phone.osVersion = try subject.version(odd)
                phone.country = ["ZZ", "XX", "AA"][index]
                try subject.store.register([phone], at: subject.now)
                try same(try subject.device(20 + index).registration.osVersion?.text, odd)
            }
            try same(try subject.store.seenVersions(of: subject.app).systems.map(\.text), ["17.0"])
            try same(try subject.store.seenCountries(of: subject.app).known, [])
            for index in 20..<23 {
                try check(try subject.store.removeDevice(subject.app, token: subject.token(index)), "it is there")
            }
            // A login names the phone's system; a login without a system leaves it alone.
            let later = subject.now + .seconds(60)
            try subject.store.sawVersions(
                [
                    Sighting(
                        app: subject.app, token: token, version: try subject.version("1"),
                        system: try subject.version("17.1"))
                ],
                at: later)
            try same(try subject.device(0).registration.osVersion?.text, "17.1")
            try subject.store.sawVersions(
                [Sighting(app: subject.app, token: token, version: try subject.version("1.1"))], at: later + .seconds(1)
            )
            try same(try subject.device(0).registration.osVersion?.text, "17.1")
            let changed = try subject.changed(DeviceChange(token: token, osVersion: .set(nil)))
            try same(changed.osVersion, nil)
            try same(try subject.store.seenVersions(of: subject.app).systems, [])
            // A device that has the token after it was removed may be another phone.
            try same(try imported { ($0.osVersion, $0.country) = (.set(old), .set("DE")) }.updated, 1)
            try check(try subject.store.removeDevice(subject.app, token: token), "it is there")
            try same(try imported { $0.telephone = .set("3") }.updated, 1)
            try same(try subject.device(0).registration.osVersion, nil)
            try same(try subject.device(0).registration.country, nil)
        },
        ConformanceCase(
            "the country of a device is kept, left alone, changed and forgotten, and the countries are known"
        ) {
            subject in
            func countries() throws -> AudienceCountries { try subject.store.seenCountries(of: subject.app) }
            try same(try countries(), AudienceCountries(), "nobody is nowhere")
            var device = subject.registration(0, telephone: "1", version: try subject.version("1"))
            device.country = "DE"
            try subject.store.register([device, subject.registration(1, telephone: "2")], at: subject.now)
            try same(try subject.device(0).registration.country, "DE")
            try same(try countries(), AudienceCountries(known: ["DE"], hasUnknown: true))
            func imported(_ number: Int, _ change: (inout DeviceChange) -> Void) throws -> UpsertCounts {
                var (batch, line) = (RegistrationBatch(app: subject.app), DeviceChange(token: subject.token(number)))
                change(&line)
                batch.append(line)
                return try subject.store.register(batch, at: subject.now + .seconds(5), isDryRun: false) { _ in }
            }
            try same(try imported(0) { $0.telephone = .set("3") }.updated, 1)
            try same(try subject.device(0).registration.country, "DE", "it was not named")
            try same(try imported(1) { $0.country = .set("AT") }.updated, 1)
            try same(try imported(1) { $0.country = .set("AT") }.unchanged, 1)
            try same(try imported(2) { $0.country = .set("FR") }.inserted, 1)
            try same(try countries(), AudienceCountries(known: ["AT", "DE", "FR"]))
            _ = try subject.store.removeDevice(subject.app, token: subject.token(2))
            try same(try countries(), AudienceCountries(known: ["AT", "DE"]), "who was removed is nowhere")
            try same(try subject.changed(DeviceChange(token: subject.token(0), country: .set(nil))).country, nil)
            try same(try countries(), AudienceCountries(known: ["AT"], hasUnknown: true))
        },
        ConformanceCase("a device that cannot be stored takes the whole batch with it") { subject in
            let bad = DeviceRegistration(app: subject.app, token: "", telephone: nil, version: nil)
            try fails(.conflict) { try subject.store.register([subject.registration(1), bad], at: subject.now) }
            try same(try subject.store.devices(of: nil, after: 0, limit: 10), [])
        },
        ConformanceCase("a large batch registers as one by one would; of one token's the last counts") { subject in
            let (old, new) = (try subject.version("1"), try subject.version("2.0"))
            try subject.store.register((0..<9).map { subject.registration($0, version: old) }, at: subject.now)
            _ = try subject.store.removeDevice(subject.app, token: subject.token(3))
            let campaign = try subject.announce().key
            var batch = RegistrationBatch(app: subject.app)
            for number in 0..<3000 {
                batch.append(
                    DeviceRegistration(
                        app: subject.app, token: subject.token(number).uppercased(), telephone: "a\(number)",
                        version: number == 5 ? new : old, environment: .sandbox))
            }
            batch.append(subject.registration(7, telephone: "last"))
            batch.append(subject.registration(2999, version: new))
            var stored: [Int] = []
            let later = subject.now + .seconds(1)
            let counts = try subject.store.register(batch, at: later) { stored.append($0.devices) }
            try same(counts, UpsertCounts(inserted: 2991, updated: 11))
            try same(stored.reduce(0, +), 3002)
            let record = try subject.device(5)
            try same(record.registration.token, subject.token(5))
            try same(record.registration.telephone, "a5")
            try same(record.registration.version?.text, "2.0")
            try same(record.registration.environment, .sandbox)
            try same(record.registeredAt, subject.now, "known: an import is no registration")
            try same(try subject.device(2000).registeredAt, later, "new")
            try same(try subject.device(3).registration.telephone, "a3", "what was removed is back")
            try same(try subject.device(3).registeredAt, later)
            try same(try subject.device(7).registration.telephone, "last")
            try same(try subject.device(7).registration.version, nil)
            try same(try subject.device(2999).registration.telephone, nil)
            try same(try subject.store.survey(subject.app) { _, _ in nil }.audience, 3000)
            try same(try subject.record(campaign).figures.upgraded, 0, "it has listed nobody yet")
            let empty = try subject.store.register(RegistrationBatch(app: subject.app), at: later) { _ in }
            try same(empty, UpsertCounts(inserted: 0, updated: 0))
        },
        ConformanceCase("a device that cannot be stored leaves what was told as stored") { subject in
            var batch = RegistrationBatch(app: subject.app)
            for number in 0..<10 { batch.append(subject.registration(number)) }
            batch.append(DeviceRegistration(app: subject.app, token: "", telephone: nil, version: nil))
            var stored = 0
            try fails(.conflict) { try subject.store.register(batch, at: subject.now) { stored += $0.devices } }
            try same(try subject.store.devices(of: nil, after: 0, limit: 99).count, stored)
        },
        ConformanceCase("a token that many register at once is one device") { subject in
            let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try subject.store.register((0..<20).map { subject.registration($0) }, at: subject.now).inserted
                    }
                }
                return try await group.reduce(0, +)
            }
            try same(inserted, 20)
            try same(try subject.store.devices(of: subject.app, after: 0, limit: 99).count, 20)
        },
        ConformanceCase("devices are listed in ascending id, page by page, by app or all") { subject in
            let other = AppKey(app: "other", platform: .android)
            try subject.registerDevices(3)
            try subject.registerDevices(2, app: other)
            let all = try subject.store.devices(of: nil, after: 0, limit: 10)
            try same(all.count, 5)
            try check(zip(all, all.dropFirst()).allSatisfy { $0.id < $1.id }, "ascending")
            let page = try subject.store.devices(of: subject.app, after: all[0].id, limit: 1)
            try same(page.map(\.id), [all[1].id])
            try same(try subject.store.devices(of: other, after: 0, limit: 10).map(\.id), [all[3].id, all[4].id])
        },
        ConformanceCase("a removed device is gone until it registers again") { subject in
            try subject.registerDevices(2)
            let id = try subject.device(0).id
            try check(try subject.store.removeDevice(subject.app, token: subject.token(0).uppercased()), "it was known")
            try check(!(try subject.store.removeDevice(subject.app, token: subject.token(0))), "it is gone")
            try check(!(try subject.store.removeDevice(subject.app, token: subject.token(9))), "it never was")
            try same(try subject.store.device(subject.app, token: subject.token(0)), nil)
            try same(try subject.store.devices(of: nil, after: 0, limit: 10).count, 1)
            try same(try subject.store.survey(subject.app) { _, _ in nil }.audience, 1)
            try check(
                !(try subject.store.sawVersion(
                    try subject.version("2"), app: subject.app, token: subject.token(0), at: subject.now)), "unknown")
            let counts = try subject.store.register([subject.registration(0, telephone: "new")], at: subject.now)
            try same(counts, UpsertCounts(inserted: 0, updated: 1))
            try same(try subject.device(0).id, id)
            try same(try subject.announce().figures.counts.pending, 2)
        },
        ConformanceCase("a login check refreshes the version and nothing else") { subject in
            try subject.registerDevices(1)
            let later = subject.now + .seconds(9)
            let version = try subject.version("1.2")
            try check(
                try subject.store.sawVersion(version, app: subject.app, token: subject.token(0), at: later), "known")
            let record = try subject.device(0)
            try same(record.registration.version?.text, "1.2")
            try same(record.registration.telephone, "1380")
            try same(record.registeredAt, subject.now)
            try check(
                !(try subject.store.sawVersion(version, app: subject.app, token: subject.token(5), at: later)),
                "unknown")
        },
        ConformanceCase("a survey judges every device once and counts") { subject in
            try subject.store.register(
                (0..<20).map { subject.registration($0, telephone: $0 < 5 ? nil : "\($0)") }, at: subject.now)
            try subject.registerDevices(3, app: AppKey(app: "other", platform: .ios))
            let survey = try subject.store.survey(subject.app) { row, rows in
                if row.telephone.isAbsent { return .noTelephone }
                return rows.string(row.telephone) == "7" ? .notInAudience : nil
            }
            try same(survey.audience, 20)
            try same(survey.filteredBy, [.noTelephone: 5, .notInAudience: 1])
            try same(survey.toPush, 14)
            try same(
                try subject.store.survey(AppKey(app: "none", platform: .ios)) { _, _ in nil }, AudienceSurvey())
        },
    ]

    static let upgrades: [ConformanceCase] = [
        ConformanceCase("a listed device that comes up to the requirement counts as upgraded, once") { subject in
            try subject.registerDevices(6, version: try subject.version("1.0"))
            let campaign = try subject.announce("2.0")
            let shard = try subject.onlyShard(campaign)
            var number = 0
            let commit = try subject.batch(shard, limit: 5) { device in
                defer { number += 1 }
                return switch number {
                case 3: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "alreadyCurrent")
                case 4: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
                default: LedgerRow(device: device.id, state: .accepted, attempts: 1)
                }
            }
            try subject.commit([commit], at: subject.now)
            func saw(_ device: Int, _ version: String) throws {
                try subject.store.sawVersion(
                    try subject.version(version), app: subject.app, token: subject.token(device), at: subject.now)
            }
            try saw(0, "1.9.9")
            try same(try subject.record(campaign.key).figures.upgraded, 0, "not yet there")
            try saw(0, "2.0")
            try saw(0, "2.1")
            try saw(0, "1.0")
            try saw(0, "3.0")
            try same(try subject.record(campaign.key).figures.upgraded, 1, "once")
            try subject.store.register(
                [subject.registration(1, version: try subject.version("2.0.1"))], at: subject.now)
            try same(try subject.record(campaign.key).figures.upgraded, 2, "by registration")
            try saw(3, "2.0")
            try same(try subject.record(campaign.key).figures.upgraded, 2, "already current then")
            try saw(4, "2.0")
            try same(try subject.record(campaign.key).figures.upgraded, 3, "filtered for another reason")
            try saw(5, "2.0")
            try same(try subject.record(campaign.key).figures.upgraded, 3, "not listed yet")
            try subject.store.register([subject.registration(2)], at: subject.now)
            try subject.store.register([subject.registration(2, version: try subject.version("2.0"))], at: subject.now)
            try same(try subject.record(campaign.key).figures.upgraded, 4, "from unknown")
        }
    ]
}

extension Subject {
    /// Changes device 0 by an import, then by itself, and returns it.
    fileprivate func changed(_ change: DeviceChange) throws -> DeviceRegistration {
        var batch = RegistrationBatch(app: app)
        batch.append(change)
        try store.register(batch, at: now) { _ in }
        let imported = try device(0).registration
        let again = try present(try store.change(change, of: app, at: now + .seconds(1)), "the device")
        try same(again.registration, imported, "the second time changes nothing")
        return imported
    }
}
