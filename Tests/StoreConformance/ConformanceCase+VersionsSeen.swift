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
    ]
}

extension Subject {
    /// Counts the versions `time` after now.
    func follow(at time: Duration = .zero) throws -> Bool {
        try store.followVersions(of: app, by: RetirementRules(), at: now + time)
    }
}
