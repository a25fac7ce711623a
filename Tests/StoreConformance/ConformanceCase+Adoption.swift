// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let adoption: [ConformanceCase] = [
        ConformanceCase("who upgrades counts by what had reached it: a push, the answer at login, both or neither") {
            subject in
            let campaign = try subject.mixed()
            for number in [1, 2, 3, 5, 8] { try subject.login(number, "1.0") }
            try same(try subject.record(campaign.key).figures.reach, CampaignReach(toldAtLogin: 5))
            for number in [1, 5] { try subject.login(number, "1.0") }
            try same(try subject.record(campaign.key).figures.reach.toldAtLogin, 5, "each once")
            let devices = try [1, 4].map { try subject.device($0).id }
            let told = try subject.store.toldAtLogin(devices)
            try same(devices.map { told[$0]?.map(\.text) ?? [] }, [["2.0"], []], "the requirement that it was told of")
            // By registration and at login.
            try subject.store.register(
                [0, 1].map { subject.registration($0, version: try subject.version("2.0")) }, at: subject.now)
            for number in [3, 4, 5, 6, 7, 8] { try subject.login(number, "2.0") }
            let record = try subject.record(campaign.key)
            try same(record.figures.upgraded, 7, "all but the one that was current and the one that is behind")
            try same(record.figures.reach, CampaignReach(toldAtLogin: 5, push: 1, login: 1, both: 3))
            try same(record.reachedUnknown, 2)
            try same(record.toUpgrade, 8)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("who is told and comes back with the version within one batch was told first") { subject in
            let campaign = try subject.mixed()
            try subject.store.sawVersions(
                [
                    Sighting(
                        app: subject.app, token: subject.token(0), version: try subject.version("2.0"),
                        toldAtLogin: campaign.requirement.id)
                ], at: subject.now)
            try same(try subject.record(campaign.key).figures.reach, CampaignReach(toldAtLogin: 1, both: 1))
        },
        ConformanceCase("nobody is told of a requirement without a campaign, nor is who is not registered") { subject in
            let campaign = try subject.mixed()
            let store = subject.store
            for (token, told) in [
                (subject.token(0), campaign.requirement.id + 1), (subject.token(70), campaign.requirement.id),
            ] {
                try store.sawVersions(
                    [
                        Sighting(
                            app: subject.app, token: token, version: try subject.version("1.0"),
                            toldAtLogin: told)
                    ], at: subject.now)
            }
            try same(try subject.record(campaign.key).figures.reach, CampaignReach())
        },
        ConformanceCase("who obeys at login before the campaign comes to the device counts, once") { subject in
            try subject.registerDevices(5, version: try subject.version("1.0"))
            let campaign = try subject.announce("2.0")
            // Before the audience is cut, and after it.
            for number in [0, 1] {
                try subject.login(number, "1.0")
                try subject.login(number, "2.0")
                if number == 0 { try subject.store.planShards(campaign.key, shardSize: 9, waves: nil, at: subject.now) }
            }
            // This one was not notified, and these came too late for the campaign.
            try subject.store.sawVersion(
                try subject.version("2.0"), app: subject.app, token: subject.token(2), at: subject.now)
            try subject.store.register([subject.registration(9, version: try subject.version("1.0"))], at: subject.now)
            try subject.login(9, "1.0")
            try subject.login(9, "2.0")
            let expected = CampaignReach(toldAtLogin: 3, login: 2, early: 2)
            try same(try subject.record(campaign.key).figures.reach, expected)
            let shard = try present(try subject.open(campaign.key).first, "the shard")
            let first = try subject.device(0).id
            let commit = try subject.batch(shard) { device in
                device.id - first < 3
                    ? LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "alreadyCurrent")
                    : LedgerRow(device: device.id, state: .accepted, attempts: 1)
            }
            try subject.commit([commit], at: subject.now)
            for number in [0, 1] {
                try subject.login(number, "1.0")
                try subject.login(number, "2.0")
            }
            let record = try subject.record(campaign.key)
            try same(record.figures.reach, expected)
            try same([record.figures.upgraded, record.alreadyCurrent, record.toUpgrade], [2, 1, 4])
            // A campaign that is over waits for no device.
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a device that a campaign leaves out does not count by its notice, whatever is sent again") {
            subject in
            try subject.registerDevices(4, version: try subject.version("1.0"))
            let campaign = try subject.announce("2.0")
            let rejected = try subject.batch(try subject.onlyShard(campaign), limit: 2) {
                LedgerRow(device: $0.id, state: .rejected, attempts: 1, reason: "Forbidden")
            }
            try subject.commit([rejected], at: subject.now)
            for number in [1, 3] { try subject.login(number, "1.0") }
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            let round = RoundDraft(.retry([.rejected]), timeToLive: .seconds(3600))
            try same(try subject.store.reopen(campaign.key, for: round, at: subject.now), .opened)
            for number in [1, 3] { try subject.login(number, "2.0") }
            let record = try subject.record(campaign.key)
            try same(record.figures.upgraded, 1, "the one that the campaign had come to")
            try same(record.figures.reach, CampaignReach(toldAtLogin: 2, login: 1))
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a push that is yet to be accepted has not reached anybody") { subject in
            try subject.registerDevices(2, version: try subject.version("1.0"))
            let campaign = try subject.announce("2.0")
            let shard = try subject.onlyShard(campaign)
            let commit = try subject.batch(shard) {
                LedgerRow(device: $0.id, state: .retrying, attempts: 1, nextAttemptAt: subject.now)
            }
            try subject.commit([commit], at: subject.now)
            try subject.login(0, "2.0")
            try subject.commit(
                [
                    subject.retry(
                        campaign.key,
                        commit.rows.map { LedgerRow(device: $0.device, state: .accepted, attempts: 2) },
                        commit.devices)
                ], at: subject.now)
            try subject.login(1, "2.0")
            let record = try subject.record(campaign.key)
            try same([record.figures.upgraded, record.figures.reach.push, record.reachedUnknown], [2, 1, 1])
        },
        ConformanceCase("a campaign's adoption has a point where the number changed, and none where nothing happens") {
            subject in
            let campaign = try subject.mixed()
            let store = subject.store
            try same(try store.followAdoption(at: subject.now), 0, "nobody yet")
            try subject.login(0, "2.0")
            try same(try store.followAdoption(at: subject.now + .seconds(60)), 1)
            try same(try store.followAdoption(at: subject.now + .seconds(120)), 0, "nothing new")
            try subject.login(1, "2.0")
            try same(try store.followAdoption(at: subject.now + .seconds(60)), 0, "within the minute")
            try same(try store.followAdoption(at: subject.now + .seconds(180)), 1)
            // Completed campaigns are still followed.
            _ = try store.move(campaign.key, .drained, at: subject.now)
            try subject.login(3, "2.0")
            try same(try store.followAdoption(at: subject.now + .seconds(240)), 1)
            let adoption = try present(try store.adoption(of: campaign.key), "the adoption")
            try same(adoption.points.map(\.upgraded), [1, 2, 3])
            try same(adoption.points.map { ($0.at - subject.now).milliseconds }, [60_000, 180_000, 240_000])
            try same(adoption.record.figures.upgraded, 3)
            try same(try store.check { _ in true }, [], "faults")
            try check(try store.adoption(of: CampaignKey(row: 99)) == nil, "no such campaign")
        },
        ConformanceCase("a week later the first day is thinned to hours") { subject in
            let campaign = try subject.mixed()
            let store = subject.store
            for (number, minute) in [(0, 0), (1, 1), (2, 2), (3, 200)] {
                try subject.login(number, "2.0")
                try store.followAdoption(at: subject.now + .seconds(Int64(60 * minute)))
            }
            try subject.login(4, "2.0")
            try store.followAdoption(at: subject.now + AdoptionSeries.thinnedFrom)
            try same(try present(try store.adoption(of: campaign.key), "it").points.map(\.upgraded), [3, 4, 5])
        },
        ConformanceCase("only the newest campaign of an app is followed") { subject in
            let old = try subject.mixed()
            let new = try subject.announce("3.0")
            let other = AppKey(app: "com.example.other", platform: .android)
            try subject.registerDevices(1, app: other, version: try subject.version("1.0"))
            let third = try subject.announce("2.0", app: other)
            try same(try subject.store.newestCampaigns().map(\.key), [new.key, third.key])
            try subject.login(0, "2.0")
            try same(try subject.record(old.key).figures.upgraded, 1, "it is counted")
            try same(try subject.store.followAdoption(at: subject.now + .seconds(60)), 0)
        },
        ConformanceCase("while a newer campaign waits, the one before it is followed on") { subject in
            let campaign = try subject.mixed()
            let next = try subject.announce("3.0", isGated: true)
            try subject.login(0, "2.0")
            try same(try subject.store.newestCampaigns().map(\.key), [campaign.key])
            try same(try subject.store.followAdoption(at: subject.now + .seconds(60)), 1)
            _ = try subject.store.move(next.key, .cancelled, at: subject.now)
            try subject.login(1, "2.0")
            try same(try subject.store.followAdoption(at: subject.now + .seconds(120)), 1)
        },
        ConformanceCase("pruning takes the curve and who was told, and leaves the counts") { subject in
            let campaign = try subject.mixed()
            let store = subject.store
            try subject.login(1, "1.0")
            try subject.login(0, "2.0")
            try store.followAdoption(at: subject.now)
            _ = try store.move(campaign.key, .cancelled, at: subject.now)
            let late = subject.now + .seconds(1_000_000)
            _ = try store.prune(before: late, at: late) { _ in true }
            try subject.login(2, "1.0")
            try subject.login(1, "2.0")
            try same(try store.followAdoption(at: late), 0)
            let adoption = try present(try store.adoption(of: campaign.key), "the campaign")
            try same(adoption.points, [])
            try same(adoption.record.figures.upgraded, 1)
            try same(adoption.record.figures.reach, CampaignReach(toldAtLogin: 1, push: 1))
            try same(try store.check { _ in true }, [], "faults")
        },
        ConformanceCase("a device that is pruned is forgotten as one that was told") { subject in
            _ = try subject.mixed()
            let store = subject.store
            // The device came after the audience was cut, and nothing else names it.
            try store.register([subject.registration(40, version: try subject.version("1.0"))], at: subject.now)
            try subject.login(40, "1.0")
            let campaign = try present(try store.newestCampaigns().first, "the campaign")
            try same(campaign.figures.reach.toldAtLogin, 1)
            _ = try store.removeDevice(subject.app, token: subject.token(40))
            // The campaign ended after the limit of this pruning, and its ledger stays.
            let late = Timestamp(seconds: 7_000_000_000)
            _ = try store.move(campaign.key, .cancelled, at: late)
            let report = try store.prune(before: late - .seconds(10), at: late + .seconds(4000)) { _ in true }
            try same([report.campaigns, report.devices], [0, 1])
            try same(try store.check { _ in true }, [], "faults")
        },
    ]
}

extension Subject {
    /// A campaign for 2.0 whose ledger has devices 0 to 3 as accepted, 4 as rejected, 5 and 6 as filtered without a
    /// telephone, 7 as current already and 8 as accepted.
    fileprivate func mixed() throws -> CampaignRecord {
        try registerDevices(9, version: try version("1.0"))
        let campaign = try announce("2.0")
        let first = try device(0).id
        let commit = try batch(try onlyShard(campaign)) { device in
            switch device.id - first {
            case 4: LedgerRow(device: device.id, state: .rejected, attempts: 1, reason: "BadDeviceToken")
            case 5, 6: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "noTelephone")
            case 7: LedgerRow(device: device.id, state: .filtered, attempts: 0, reason: "alreadyCurrent")
            default: LedgerRow(device: device.id, state: .accepted, attempts: 1)
            }
        }
        try self.commit([commit], at: now)
        return try record(campaign.key)
    }

    /// A login of a device of that version, which is notified to upgrade if it is below 2.0.
    fileprivate func login(_ number: Int, _ text: String) throws {
        let (seen, required) = (try version(text), try version("2.0"))
        let told = seen < required ? try store.version(of: app)?.requirements.live(required)?.id : nil
        try store.sawVersions(
            [Sighting(app: app, token: token(number), version: seen, toldAtLogin: told)], at: now)
    }
}
