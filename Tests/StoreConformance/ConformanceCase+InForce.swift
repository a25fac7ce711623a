// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Versions in force, beside those that are required (DESIGN, rule 8).
extension ConformanceCase {
    static let inForce: [ConformanceCase] = [
        ConformanceCase("without a gate all that is required is in force at once") { subject in
            try subject.bump(
                VersionBump(
                    app: subject.app, latest: try subject.version("2.1"), required: try subject.version("2"),
                    downloadURL: "https://two", message: "m"))
            let inForce = try subject.inForce()
            try same([inForce.required?.text, inForce.latest?.text], ["2", "2.1"])
            try same(
                [inForce.floor?.downloadURL, inForce.floor?.message?.text, inForce.floor?.inForceBy],
                ["https://two", "m", InForce.ungated])
            try same(inForce.floor?.inForceAt, subject.now)
            try same(try subject.waiting(), [])
        },
        ConformanceCase("behind a gate what was in force stays so, and what waits is told") { subject in
            let first = try subject.announce("1.9")
            let second = try subject.announce("2", isGated: true, at: subject.now + .seconds(1))
            try same(second.state, .waiting)
            try same(second.inForce?.text, "1.9")
            try same(try subject.record(first.key).state, .running, "the older campaign goes on")
            try same(try subject.inForce().required?.text, "1.9")
            try same(try subject.waiting().map(\.version.text), ["2"])
            try same(try subject.inForce().latest?.text, "1.9")
        },
        ConformanceCase("a gate that opens puts the version in force, begins its campaign and ends older ones") {
            subject in
            try subject.registerDevices(10)
            let first = try subject.announce("1.9")
            let second = try subject.announce("2", isGated: true)
            let time = subject.now + .seconds(60)
            try check(try subject.open("2", at: time), "it waited")
            try check(try !subject.open("2", at: time), "once")
            try same(try subject.record(first.key).state, .superseded)
            let record = try subject.record(second.key)
            try same(record.state, .running)
            try same([record.facts.startedAt, record.facts.expiresAt], [time, time + .seconds(3600)])
            try same(record.inForce?.text, "2")
            let inForce = try subject.inForce()
            try same([inForce.required?.text, inForce.latest?.text], ["2", "2"])
            try same(
                [inForce.floor?.inForceAt, try subject.store.version(of: subject.app)?.inForce.floor?.inForceAt],
                [time, time])
            try same([inForce.floor?.inForceBy, inForce.floor?.reason], ["appStore", "shown"])
            try same(try subject.waiting(), [])
        },
        ConformanceCase("of two that wait, each comes into force by its own gate; the newer takes the older along") {
            subject in
            let keys = try ["2", "2.1", "2.2"].map { try subject.announce($0, isGated: true).key }
            try same(try subject.waiting().map(\.version.text), ["2.2", "2.1", "2"])
            try check(try subject.open("2.1"), "2.1 is offered, 2.2 is not")
            try same(try keys.map { try subject.record($0).state }, [.superseded, .running, .waiting])
            try same(try subject.inForce().required?.text, "2.1")
            try same(try subject.waiting().map(\.version.text), ["2.2"])
        },
        ConformanceCase("a version code belongs to the version that it came with") { subject in
            func bump(_ required: String, _ build: Int64?) throws {
                var bump = VersionBump(app: subject.app, required: try subject.version(required))
                bump.builds = BuildNumbers(required: build)
                try subject.bump(bump, draft: subject.draft(), waitingReason: "not out yet")
            }
            try bump("1.9", 190)
            try bump("2", nil)
            try same(try subject.waiting().map(\.build), [nil, 190])
            try check(try subject.open("1.9"), "")
            try same(try subject.inForce().floor?.build, 190)
            try check(try subject.open("2"), "")
            try same(try subject.inForce().floor?.build, nil, "the code of 1.9 is not that of 2")
        },
        ConformanceCase("a waiting campaign that is cancelled forces nothing, ever") { subject in
            try subject.announce("1.9")
            let campaign = try subject.announce("2", isGated: true)
            _ = try subject.store.move(campaign.key, .cancelled, at: subject.now)
            try same(try subject.waiting(), [])
            try check(try !subject.open("2"), "it was cancelled")
            try same(try subject.store.version(of: subject.app)?.required?.text, "1.9", "nobody asks for it any more")
            try same(try subject.inForce().required?.text, "1.9")
        },
        ConformanceCase("a paused campaign stays paused when its requirement comes into force") { subject in
            let campaign = try subject.announce("2", isGated: true)
            _ = try subject.store.move(campaign.key, .paused, at: subject.now)
            try check(try subject.open("2"), "pausing pushes holds up nothing else")
            try same(try subject.record(campaign.key).state, .paused)
            try same(try subject.inForce().required?.text, "2")
        },
        ConformanceCase("a store that stops to offer a version takes it out of force, and back when it goes on") {
            subject in
            try subject.announce("1.9")
            let campaign = try subject.announce("2", isGated: true)
            try check(try subject.open("2"), "")
            let store = subject.store
            try check(try subject.look("2", .halted, "halted", at: subject.now + .seconds(1)), "")
            try same(try subject.inForce().required?.text, "1.9")
            var record = try subject.record(campaign.key)
            try same([record.state == .waiting, record.facts.reason == "halted"], [true, true])
            try same(
                try subject.store.campaigns(before: campaign.key, limit: 1).first?.state, .running,
                "what was in force before has its campaign again")
            try check(try subject.open("2", at: subject.now + .seconds(2)), "it goes on")
            record = try subject.record(campaign.key)
            try same(record.state, .running)
            let changes = try store.inForceHistory(of: subject.app, limit: 9)
            try same(changes.map { $0.inForce.required?.text }, ["2", "1.9", "2", "1.9"])
            try same(changes.map(\.source), ["gate", "gate", "gate", "test"])
        },
        ConformanceCase("a requirement for named users is in force for them alone") { subject in
            let ours = try subject.announce("1.9")
            let bump = try subject.bump(
                VersionBump(
                    app: subject.app, required: try subject.version("2"), message: "m", telephones: ["138", "e\u{301}"]),
                draft: subject.draft())
            let canary = try present(bump.campaign, "the canary's campaign")
            try same([canary.isCanary, canary.state == .running], [true, true])
            try same(canary.inForce?.text, "1.9")
            try same(try subject.record(ours.key).state, .running, "the older campaign goes on")
            try same(
                try subject.store.newestCampaigns().map(\.key), [ours.key], "the one that is in force for everybody")
            try same(
                try subject.store.version(of: subject.app)?.requirements.announced?.version.text, "1.9",
                "the others hear nothing of it")
            try same(try subject.inForce().required?.text, "1.9")
            try same(try subject.staged()?.version.text, "2")
            try same(try subject.staged()?.canary?.map { Array($0.utf8) }, [Array("138".utf8), Array("e\u{301}".utf8)])
            try same(try subject.staged()?.message, "m")
            try subject.bump(VersionBump(app: subject.app, required: try subject.version("2.1")))
            try same(try subject.staged(), nil, "a requirement for everybody ends it")
        },
        ConformanceCase("a device that was not the canary's when its push was to leave is in line again where it is") {
            subject in
            try subject.registerDevices(3)
            let bump = try subject.bump(
                VersionBump(
                    app: subject.app, required: try subject.version("2"), telephones: ["1380", "1381"]),
                draft: subject.draft())
            let canary = try present(bump.campaign, "the canary's campaign").key
            try subject.store.lineUpCanary(canary, at: subject.now)
            _ = try subject.open(canary)
            func answer(_ state: (Int) -> (DeliveryState, String?)) throws {
                var due = DeviceRows()
                try subject.store.readDueRetries(
                    canary, channel: .production, at: subject.now, limit: 9, waves: nil, into: &due)
                let rows = due.rows.enumerated().map { place, device in
                    let (state, reason) = state(place)
                    var row = LedgerRow(device: device.id, state: state, attempts: 1, reason: reason)
                    row.telephone = device.telephone
                    return row
                }
                try subject.commit([subject.retry(canary, rows, due)], at: subject.now)
            }
            func counts() throws -> [Int64] {
                let counts = try subject.counts(canary)
                return [counts.accepted, counts.filtered, counts.retrying, counts.pending]
            }
            // The push was read when the canary named other users.
            try answer { $0 == 0 ? (.accepted, nil) : (.filtered, "notInAudience") }
            try same(try counts(), [1, 1, 0, 1])
            try subject.store.lineUpCanary(canary, at: subject.now)
            try same(try counts(), [1, 0, 1, 1], "the canary names it")
            // The release comes while its push is read, before the outcome is recorded.
            _ = try subject.store.decide(
                subject.app, .released(nil), by: Signature(by: .tester, at: subject.now),
                in: RequirementMachine.Surroundings(now: subject.now))
            try answer { _ in (.filtered, "notInAudience") }
            try subject.store.planShards(canary, shardSize: 100, waves: nil, at: subject.now)
            try same(try counts(), [1, 0, 0, 2], "it is among all others")
            try same(try subject.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("the latest version is announced by itself") { subject in
            try subject.announce("1.9")
            try subject.bump(
                VersionBump(app: subject.app, latest: try subject.version("2")), waitingReason: "not out yet")
            try same(try subject.inForce().latest?.text, "1.9")
            let two = try subject.version("2")
            try subject.look("2")
            try same(try subject.inForce().latest, two)
            try same([try subject.inForce().latest?.text, try subject.inForce().required?.text], ["2", "1.9"])
        },
        ConformanceCase("what waits keeps its own texts, whatever is sent for the other version meanwhile") { subject in
            func bump(_ bump: VersionBump) throws { try subject.bump(bump, waitingReason: "not out yet") }
            try bump(
                VersionBump(
                    app: subject.app, required: try subject.version("2"), downloadURL: "https://two", message: "two"))
            try bump(VersionBump(app: subject.app, latest: try subject.version("2.1"), message: "news"))
            try bump(VersionBump(app: subject.app, latest: try subject.version("2.2")))
            let rows = try subject.store.version(of: subject.app)?.requirements.rows ?? []
            try same(rows.map(\.version.text), ["2", "2.1", "2.2"])
            try same(rows.map(\.message), ["two", "news", nil])
            try same(rows.map(\.downloadURL), ["https://two", nil, nil])
            try check(try subject.open("2"), "it is offered")
            try same(
                [try subject.inForce().floor?.downloadURL, try subject.inForce().floor?.message?.text],
                ["https://two", "two"])
        },
        ConformanceCase("texts that are sent for what is in force change it at once, gate or not") { subject in
            try subject.announce("2")
            try subject.bump(VersionBump(app: subject.app, message: "new words"), waitingReason: "not out yet")
            try same(try subject.inForce().floor?.message, "new words")
            try subject.announce("3", isGated: true)
            try subject.bump(VersionBump(app: subject.app, message: "for 3"), waitingReason: "not out yet")
            try same(try subject.inForce().floor?.message, "new words", "3 is not in force yet")
        },
    ]
}

extension Subject {
    fileprivate func inForce() throws -> InForce {
        try present(try store.version(of: app), "the version").inForce
    }

    fileprivate func open(_ required: String, at time: Timestamp? = nil) throws -> Bool {
        try look(required, at: time)
    }
}
