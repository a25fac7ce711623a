// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The data for clients that look for themselves: alerts, version codes, versions seen.
extension ConformanceCase {
    static let gates: [ConformanceCase] = [
        ConformanceCase("an alert is stored as it was given, replaced, and cleared once") { subject in
            let store = subject.store
            try same(try store.alert(of: subject.app, at: subject.now), nil)
            try check(try !store.clearAlert(of: subject.app, at: subject.now), "there was nothing to clear")
            var alert = subject.alert("Wir „ruhen“\n\u{FEFF}", blocking: false, endsAt: nil)
            try store.setAlert(alert)
            try same(try store.alert(of: subject.app, at: subject.now), alert)
            alert = subject.alert("b", blocking: true, endsAt: subject.now + .seconds(60))
            try store.setAlert(alert)
            try same(try store.alerts(at: subject.now), [alert])
            try check(try store.clearAlert(of: subject.app, at: subject.now), "there was an alert")
            try same(try store.alerts(at: subject.now), [])
        },
        ConformanceCase("a blocking alert without an end is refused") { subject in
            try fails(.conflict) {
                try subject.store.setAlert(subject.alert("m", blocking: true, endsAt: nil))
            }
        },
        ConformanceCase("an alert is gone from the moment of its end") { subject in
            let end = subject.now + .seconds(60)
            try subject.store.setAlert(subject.alert("m", blocking: true, endsAt: end))
            let before = end - .milliseconds(1)
            try check(try subject.store.alert(of: subject.app, at: before) != nil, "it has not ended")
            try same(try subject.store.alerts(at: before).count, 1)
            try same(try subject.store.alert(of: subject.app, at: end), nil)
            try same(try subject.store.alerts(at: end), [])
            try check(try !subject.store.clearAlert(of: subject.app, at: end), "it had ended")
        },
        ConformanceCase("version codes are kept beside versions, in the history too, and only rise") { subject in
            let app = AppKey(app: "com.example.app", platform: .android)
            var bump = VersionBump(app: app, required: try subject.version("1.9"))
            bump.builds = BuildNumbers(required: 190)
            try subject.bump(bump)
            try same(try subject.store.version(of: app)?.builds, BuildNumbers(latest: 190, required: 190))
            bump = VersionBump(app: app)
            bump.builds = BuildNumbers(latest: 210)
            try subject.bump(bump, at: subject.now + .seconds(1))
            try subject.bump(
                VersionBump(app: app, required: try subject.version("2.0")), at: subject.now + .seconds(2))
            try same(
                try subject.store.version(of: app)?.builds, BuildNumbers(), "the codes of 1.9 are not those of 2.0")
            try same(
                try subject.store.history(of: app, limit: 9).map(\.record.builds),
                [BuildNumbers(), BuildNumbers(latest: 210, required: 190), BuildNumbers(latest: 190, required: 190)])
            bump.builds = BuildNumbers(required: 100)
            try fails(
                .versionWouldFall(
                    field: "builds.required", current: try subject.version("190"), proposed: try subject.version("100"))
            ) { try subject.bump(bump) }
        },
        ConformanceCase("devices are counted by the version that they were last seen with") { subject in
            let store = subject.store
            try same(try store.seenVersions(of: subject.app), SeenVersions())
            let (one, two) = (try subject.version("1.0"), try subject.version("1.10"))
            try subject.registerDevices(3, version: one)
            try store.register([subject.registration(3, version: two), subject.registration(4)], at: subject.now)
            try same(try subject.seen(), ["1.0": 3, "1.10": 1, "": 1])
            try same(try store.seenVersions()[subject.app], try store.seenVersions(of: subject.app))
            // Changed, unchanged, logged out without a version, removed twice, and back again.
            try store.register(
                [subject.registration(0, version: two), subject.registration(1, version: one)], at: subject.now)
            try same(try subject.seen(), ["1.0": 2, "1.10": 2, "": 1])
            try store.register([subject.registration(1)], at: subject.now)
            _ = try store.removeDevice(subject.app, token: subject.token(2))
            _ = try store.removeDevice(subject.app, token: subject.token(2))
            try same(try subject.seen(), ["1.10": 2, "": 2])
            try store.register([subject.registration(2, version: one)], at: subject.now)
            try store.sawVersion(two, app: subject.app, token: subject.token(4), at: subject.now)
            try same(try subject.seen(), ["1.0": 1, "1.10": 3, "": 1])
        },
        ConformanceCase("sightings refresh versions of known devices, nothing else, and count upgrades") { subject in
            let (old, new) = (try subject.version("1.0"), try subject.version("2.0"))
            try subject.registerDevices(3, version: old)
            let campaign = try subject.announce()
            let shard = try subject.onlyShard(campaign)
            try subject.commit([try subject.batch(shard)], at: subject.now)
            let later = subject.now + .seconds(5)
            let sightings = [0, 1, 7].map { Sighting(app: subject.app, token: subject.token($0), version: new) }
            try same(try subject.store.sawVersions(sightings, at: later), 2)
            try same(try subject.store.sawVersions(sightings, at: later), 2, "again")
            try same(try subject.store.sawVersions([], at: later), 0)
            let device = try subject.device(0)
            try same(device.registration.version, new)
            try same(device.registration.telephone, "1380")
            try same(device.registeredAt, subject.now)
            try same(try subject.record(campaign.key).figures.upgraded, 2)
            try same(try subject.seen(), ["1.0": 1, "2.0": 2])
        },
        ConformanceCase("a sighting that waited lowers nothing that the device has told since") { subject in
            try subject.registerDevices(1, version: subject.version("2.0"))
            func saw(_ version: String, at time: Timestamp) throws -> String? {
                let sighting = Sighting(
                    app: subject.app, token: subject.token(0), version: try subject.version(version), at: time)
                try subject.store.sawVersions([sighting], at: subject.now + .seconds(9))
                let device = try subject.device(0)
                return device.registration.version?.text
            }
            try same(try saw("1.0", at: subject.now - .seconds(1)), "2.0")
            try same(try saw("2.1", at: subject.now - .seconds(1)), "2.1", "registered without its version, it may be")
            try same(try saw("1.5", at: subject.now + .seconds(2)), "1.5", "it was downgraded since")
            try same(try saw("1.4", at: subject.now + .seconds(1)), "1.5")
        },
    ]
}

extension Subject {
    func alert(_ message: String, blocking: Bool, endsAt: Timestamp?) -> AlertRecord {
        AlertRecord(
            app: app, message: message, isBlocking: blocking, endsAt: endsAt, createdAt: now, createdBy: "tester")
    }

    /// Devices by version; "" for those of unknown version.
    fileprivate func seen() throws -> [String: Int64] {
        let seen = try store.seenVersions(of: app)
        var counts: [String: Int64] = [:]
        for version in seen.versions { counts[version.version.text] = version.devices }
        if seen.unknown > 0 { counts[""] = seen.unknown }
        return counts
    }
}
