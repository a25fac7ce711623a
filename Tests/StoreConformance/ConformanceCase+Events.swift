// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// Events for receivers beside the states of campaigns.
extension ConformanceCase {
    static let events: [ConformanceCase] = [
        ConformanceCase("a receiver is told of what a person must see to, with the campaign as it then was") {
            subject in
            try subject.registerDevices(3)
            try subject.listen(events: Set(EventType.allCases))
            func told() throws -> [String] {
                try subject.events().map { event in
                    let state = event.campaign?.state.rawValue ?? "nothing"
                    return "\(event.type.rawValue) \(state)"
                }
            }
            var bump = VersionBump(app: subject.app, required: try subject.version("2.0"))
            bump.telephones = ["1381"]
            let canary = try present(try subject.bump(bump, draft: subject.draft()).campaign, "the campaign")
            try same(try told(), ["campaign.running running"])
            for _ in 0..<2 { try subject.store.endCanary(canary.key, at: subject.now) }
            try same(try told(), ["campaign.canaryDone running"], "once")
            try subject.store.decide(
                subject.app, .released(nil), by: Signature(by: "t", via: "release", at: subject.now),
                in: RequirementMachine.Surroundings(now: subject.now))
            try same(try told(), ["requirement.inForce running"])
            _ = try subject.store.withdraw(
                try subject.version("2.0"), of: subject.app, by: .tester, reason: nil, at: subject.now)
            try same(try told(), ["campaign.cancelled cancelled", "requirement.withdrawn cancelled"])
        },
        ConformanceCase("a requirement that was in force before its campaign is told to receivers with it, once") {
            subject in
            try subject.registerDevices(2)
            try subject.listen(events: Set(EventType.allCases))
            let outcome = try subject.bump(VersionBump(app: subject.app, required: try subject.version("2.0")))
            try check(outcome.campaign == nil, "without a push service there is no campaign")
            try same(try subject.events().map(\.type), [EventType]())
            // The app has a push service since then.
            for _ in 0..<2 {
                try subject.store.decide(
                    subject.app, .looked, by: Signature(by: "t", via: "gate", at: subject.now),
                    in: RequirementMachine.Surroundings(now: subject.now, draft: subject.draft()))
            }
            try same(try subject.events().map(\.type), [EventType.running, .inForce])
        },
        ConformanceCase("a campaign that its first decision supersedes was waiting before, with all of its devices") {
            subject in
            try subject.registerDevices(3)
            try subject.listen(events: Set(EventType.allCases))
            var block = VersionBump(app: subject.app)
            block.blocked = [try subject.version("1.5")]
            for bump in [block, VersionBump(app: subject.app, required: try subject.version("2.0"))] {
                try check(try subject.bump(bump).campaign == nil, "without a push service there is no campaign")
            }
            try subject.store.decide(
                subject.app, .looked, by: Signature(by: "t", via: "gate", at: subject.now),
                in: RequirementMachine.Surroundings(now: subject.now, draft: subject.draft()))
            let events = try subject.events()
            try same(
                events.compactMap(\.campaign).map { "\($0.requirement.version) \($0.state.rawValue)" },
                ["2.0 running", "1.5 waiting", "1.5 superseded", "1.5 superseded", "2.0 running"])
            try same(events.map(\.type), [.running, .waiting, .superseded, .inForce, .inForce])
            let campaigns = events.compactMap(\.campaign)
            try same(campaigns.map(\.facts.finishedAt), [nil, nil, subject.now, subject.now, nil])
            let reason = "version 2.0 became required"
            try same(campaigns.map(\.facts.reason), [nil, nil, reason, reason, nil])
            try same(campaigns.map(\.figures.counts.pending), [3, 3, 0, 0, 3], "pending")
            try same(campaigns.map(\.figures.counts.cancelled), [0, 0, 3, 3, 0], "cancelled")
        },
        ConformanceCase("a receiver is told once of each time that a requirement waits long for its store") { subject in
            let campaign = try subject.announce("2.0", isGated: true)
            try subject.listen(events: Set(EventType.allCases))
            let day = Duration.seconds(86_400)
            try subject.store.noteLongWaits(since: subject.now - .seconds(1), at: subject.now)
            try same(try subject.events().map(\.type), [EventType]())
            for _ in 0..<2 { try subject.store.noteLongWaits(since: subject.now, at: subject.now + day) }
            let events = try subject.events()
            try same(events.map(\.type), [EventType.waitsLong])
            try same(events[0].campaign?.state, .waiting)
            try same(events[0].at, subject.now + day)
            try same(
                try subject.store.notifications(campaign: campaign.id, state: nil, before: nil, limit: 9).map(\.type),
                ["campaign.waitsLong"])
            try subject.look("2.0")
            try subject.store.noteLongWaits(since: subject.now + day, at: subject.now + day)
            try same(try subject.events().map(\.type), [EventType.running, .inForce])
        },
    ]
}
