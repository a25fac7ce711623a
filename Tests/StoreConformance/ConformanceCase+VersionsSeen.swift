// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The versions of the devices that were seen lately.
extension ConformanceCase {
    static let versionShares: [ConformanceCase] = [
        ConformanceCase(
            "devices seen lately are counted by version once an hour; who is dead, removed or long gone is not"
        ) {
            subject in
            let (one, two) = (try subject.version("1.0"), try subject.version("2.0"))
            try same(try subject.store.versionShares(), [:])
            try same(try subject.follow(), false, "an app that has no device")
            let month = Duration.seconds(30 * 86_400)
            let long = subject.now - month - .milliseconds(1)
            try subject.store.register((0..<3).map { subject.registration($0, version: one) }, at: long)
            try subject.store.register((3..<9).map { subject.registration($0, version: two) }, at: subject.now - month)
            try subject.store.register([subject.registration(9)], at: subject.now)
            try subject.store.register(
                [subject.registration(20, version: one, app: AppKey(app: "b", platform: .ios))], at: subject.now)
            // A login with the same version counts, too, if it comes long enough after the last one.
            try subject.store.sawVersion(one, app: subject.app, token: subject.token(0), at: subject.now)
            try same(try subject.device(0).seenAt, subject.now)
            try subject.store.sawVersion(one, app: subject.app, token: subject.token(0), at: subject.now + .seconds(9))
            try same(try subject.device(0).seenAt, subject.now, "once a week")
            _ = try subject.store.removeDevice(subject.app, token: subject.token(3))
            try subject.kill([4], since: .zero, at: subject.now)
            try same(try subject.follow(), true)
            let shares = try present(try subject.store.versionShares()[subject.app], "the count")
            try same([shares.devices, shares.unknown], [6, 1])
            try same([shares.countedAt, shares.seenSince], [subject.now, subject.now - month])
            try same(shares.retireBelow, 0.01)
            try same(shares.rows.map(\.version.text), ["1.0", "2.0"])
            try same(shares.rows.map(\.devices), [1, 4])
            try same(shares.rows.map(\.orOlder), [2, 6])
            try same(shares.rows.map(\.belowSince), [nil, nil])
            try same(try subject.follow(at: .seconds(3599)), false, "not due")
            try same(try subject.follow(at: .seconds(3600)), true)
            try same(try subject.follow(at: .seconds(-9)), true, "the clock was set back")
            try same(try subject.store.versionShares().count, 1)
        },
        ConformanceCase("a version that falls below the share is told once, whoever counts, and since when is kept") {
            subject in
            let (one, two) = (try subject.version("1.0"), try subject.version("2"))
            try subject.store.register((0..<4).map { subject.registration($0, version: one) }, at: subject.now)
            try subject.store.register((4..<200).map { subject.registration($0, version: two) }, at: subject.now)
            try subject.listen(events: [.retirable])
            try same(try subject.follow(), true)
            try same(try subject.events(), [])
            // Two of two hundred are not below one in a hundred.
            try subject.store.register((0..<2).map { subject.registration($0, version: two) }, at: subject.now)
            try same(try subject.follow(at: .seconds(3600)), true)
            try same(try subject.events(), [])
            try subject.store.register([subject.registration(2, version: try subject.version("2.0"))], at: subject.now)
            let second = subject.second ?? subject.store
            let later = subject.now + .seconds(7200)
            try await many(6) { number in
                try (number % 2 == 0 ? subject.store : second).followVersions(
                    of: subject.app, by: RetirementRules(), at: later)
            }
            try subject.store.addressEvents(limit: 9, at: later)
            let listed = try subject.store.notifications(campaign: nil, state: nil, before: nil, limit: 9)
            try same(listed.map(\.type), ["version.retirable"])
            try same(listed.map(\.app), [subject.app])
            let events = try subject.events(at: later)
            guard events.count == 1, case .retirable(let app, let row, let devices, let share) = events[0].subject
            else {
                throw ConformanceFailure(description: "got \(events)")
            }
            try same(app, subject.app)
            try same(row.version.text, "1.0")
            try same([row.devices, row.orOlder, devices], [1, 1, 200])
            try same(row.belowSince, later)
            try same(share, 0.01)
            for hours in 3..<6 {
                try same(
                    try second.followVersions(
                        of: subject.app, by: RetirementRules(), at: subject.now + .seconds(3600) * hours), true)
            }
            let shares = try present(try second.versionShares()[subject.app], "the count")
            try same(shares.rows.map(\.belowSince), [later, nil], "also an hour later")
            try same(shares.rows.map(\.version.text), ["1.0", "2"], "one spelling")
            try same(try subject.events(at: later + .seconds(86_400)), [], "once")
        },
        ConformanceCase("very many devices are counted part by part") { subject in
            let versions = try (0..<3).map { try subject.version("1.\($0)") }
            var batch = RegistrationBatch(app: subject.app)
            for number in 0..<41_000 {
                batch.append(DeviceChange(token: subject.token(number), version: .set(versions[number % 3])))
            }
            _ = try subject.store.register(batch, at: subject.now, isDryRun: false) { _ in }
            try same(try subject.follow(), true)
            let shares = try present(try subject.store.versionShares()[subject.app], "the count")
            try same(shares.rows.map(\.devices), [13_667, 13_667, 13_666])
            try same(shares.devices, 41_000)
        },
        ConformanceCase("the counts of an hour are kept once, whichever relay counts, and only where they changed") {
            subject in
            let second = subject.second ?? subject.store
            try same(try subject.store.versionCounts(of: subject.app), [])
            try subject.store.register(
                try (0..<20).map { subject.registration($0, version: try subject.version("1.\($0 % 15)")) },
                at: subject.now)
            try subject.store.register([subject.registration(20)], at: subject.now)
            let stores = [subject.store, second]
            @Sendable func count(_ store: any RelayStore, at hours: Int) throws -> Bool {
                try store.followVersions(
                    of: subject.app, by: RetirementRules(), at: subject.now + .seconds(3600) * hours)
            }
            // The other relay takes over at the second hour; each hour is counted once, by whichever asks first.
            for hours in 0..<4 {
                let counted = try stores.map { try count(hours < 2 ? $0 : second, at: hours) }
                try same(counted, [true, false], "hour \(hours)")
            }
            var counts = try second.versionCounts(of: subject.app)
            try same(counts.map(\.at), [subject.now], "nothing has changed since")
            try same(counts[0].rows.count, VersionCount.most)
            // Two devices have each of 1.0 to 1.4.
            try same(counts[0].rows.map(\.devices), [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2])
            try same(counts[0].rows.first?.version.text, "1.14")
            try same([counts[0].others, counts[0].unknown, counts[0].devices], [3, 1, 21])
            try subject.store.register([subject.registration(20, version: try subject.version("2"))], at: subject.now)
            try await many(6) { number in _ = try count(stores[number % 2], at: 4) }
            counts = try subject.store.versionCounts(of: subject.app)
            try same(counts.map(\.at), [0, 4].map { subject.now + .seconds(3600) * $0 })
            try same(counts[1].rows.first, VersionCount.Row(version: try subject.version("2"), devices: 1))
            try same(counts[1].unknown, 0)
            // A clock that was set back: no count is of a time that is still to come.
            try same(try count(second, at: 2), true)
            try same(
                try subject.store.versionCounts(of: subject.app).map(\.at.milliseconds),
                [
                    subject.now.milliseconds, (subject.now + .seconds(7200)).milliseconds,
                ])
            let other = AppKey(app: "b", platform: .ios)
            try same(try subject.store.versionCounts(of: other), [], "another app's")
            // Once no device was seen lately, nothing is known, and nothing is kept.
            try same(try count(second, at: 24 * 40), true)
            try same(try subject.store.versionCounts(of: subject.app).count, 2)
        },
        ConformanceCase(
            "counts become one a day, later one a week, by the clock of the count; pruning leaves the newest"
        ) {
            subject in
            func count(at hours: Int) throws {
                let now = subject.now + .seconds(3600) * hours
                // Another version each time.
                let version = try subject.version("1.\(hours)")
                try subject.store.register([subject.registration(0, version: version)], at: now)
                try same(try subject.follow(at: .seconds(3600) * hours), true)
            }
            func kept() throws -> [Int64] {
                try subject.store.versionCounts(of: subject.app).map {
                    ($0.at - subject.now).milliseconds / 3_600_000
                }
            }
            // From a quarter past ten in the evening on.
            for hours in 0..<30 { try count(at: hours) }
            try same(try kept(), Array(0..<30))
            try count(at: 100)
            try same(try kept(), [1, 25, 29, 100], "the last of each day")
            try count(at: 14 * 7 * 24)
            try same(try kept(), [25, 100, 14 * 7 * 24], "the last of each week")
            try same(
                try subject.store.versionCounts(of: subject.app).map { $0.rows.map(\.version.text) },
                [
                    ["1.25"], ["1.100"], ["1.2352"],
                ])
            let (late, day) = (subject.now + .seconds(3600) * 2353, Duration.seconds(86_400))
            _ = try subject.store.prune(before: late - day * 95, at: late) { _ in true }
            try same(try kept(), [100, 2352], "older than what is kept")
            _ = try subject.store.prune(before: late, at: late - day * 5) { _ in true }
            try same(try kept(), [100, 2352], "none of the last 13 weeks")
            _ = try subject.store.prune(before: late, at: late) { _ in true }
            try same(try kept(), [2352])
            _ = try subject.store.prune(before: late + day * 999, at: late + day * 999) { _ in true }
            try same(try kept(), [2352], "the newest")
        },
    ]
}

extension Subject {
    /// Counts the versions `time` after now.
    func follow(at time: Duration = .zero) throws -> Bool {
        try store.followVersions(of: app, by: RetirementRules(), at: now + time)
    }
}
