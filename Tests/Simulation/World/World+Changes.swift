// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Notifications
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import TestStores
import UpgradeRules
import WireFormat

/// An event as a receiver first received it.
struct HeardEvent {
    var id: String
    var type: EventType
    var campaign: String?
    /// Its words, which must be the same each time.
    var words: String
    var at: MonotonicTime
    /// The life of the relay in which it was first received.
    var life: Int
}

/// Each change has its row of the audit trail and its event, once and with the right values, whatever dies in between.
extension World {
    // MARK: Acts

    /// Notes the object of the act that was done last.
    ///
    /// - Parameter values: by name: the value that the row must have, where it has that name.
    func did(object: Int? = nil, campaign: String? = nil, values: [String: String] = [:]) {
        guard let place = acts.indices.last else { return }
        acts[place].object = object.map(Self.text)
        (acts[place].campaign, acts[place].values) = (campaign, values)
    }

    /// The values that the row of a bump must have. A version that another program had written was required before, so the row leaves it
    /// out: it holds differences only.
    func values(of bump: VersionBump, _ app: Int, _ version: Int) -> [String: String] {
        let isOutside = model.announcements.contains { $0.app == app && $0.version == version && $0.isOutside }
        var values = isOutside ? [:] : ["required": Self.text(version: version)]
        if let moment = bump.requiredFrom.value { values["requiredFrom"] = moment.internetTime }
        if let minimum = bump.minimumOS.value { values["minimumOs"] = minimum.text }
        if let telephones = bump.telephones { values["telephoneCount"] = "\(telephones.count)" }
        return values
    }

    /// Once, at the end.
    func judgeActs(_ entries: [AuditEntry]) {
        let byName = Dictionary(acts.filter(\.isDone).map { ($0.actor, $0) }) { $1 }
        for entry in entries {
            guard let act = byName[entry.actor.name], !entry.action.hasPrefix("approval.") else { continue }
            var said = [
                ("object", act.object, entry.object), ("campaign", act.campaign, entry.campaign),
            ].filter { $0.1 != nil }
            let after = act.values.isEmpty ? nil : entry.after.flatMap { try? JSONReader.read(Array($0.utf8)) }
            for (name, value) in act.values.sorted(by: { $0.key < $1.key }) {
                guard let member = after?[name] else {
                    // A value that was the same before is left out: this is never a version, and hardly ever a moment by a clock that is
                    // right.
                    if name == "required" || name == "requiredFrom" && !wasClockSet && act.values["required"] != nil {
                        said.append((name, value, nil))
                    }
                    continue
                }
                said.append((name, value, member.string ?? member.integer.map(String.init)))
            }
            for (name, expected, value) in said where value != expected {
                model.broke(
                    "audit.values",
                    "\(act.actor) did \(entry.action): its row of the audit trail says \(name) \(value ?? "nothing"), and it was \(expected ?? "nothing")"
                )
            }
        }
    }

    // MARK: Events

    /// A receiver is notified.
    func hears(_ event: RelayEvent, _ body: [UInt8]) {
        let text = SaidText(body)
        let names = [
            "type", "timestamp", "id", "app", "platform", "required", "blocked", "state", "reason", "startedAt",
            "finishedAt",
        ]
        let words = names.compactMap { name in text.value(name).map { "\(name) \($0)" } }.joined(
            separator: ", ")
        let new = HeardEvent(
            id: event.id, type: event.type, campaign: event.campaign?.id, words: words, at: tick,
            life: watched.life.number)
        guard let place = watched.heardPlaces[event.id] else {
            watched.heardPlaces[event.id] = watched.heard.count
            watched.heard.append(new)
            return judgeBody(event, text)
        }
        let known = watched.heard[place]
        if known.words != words {
            model.broke(
                "events.once", "event \(event.id) said \(known.words), and is said again as \(words)")
        }
        // An event that was taken, but not recorded as taken, is sent again.
        let isExcused =
            known.life != watched.life.number || isDoomed || isDiskFailing
            || diskFailedAt.map { $0 >= known.at } ?? false
        if !isExcused {
            model.broke("events.once", "event \(event.id), \(words), is sent twice though nothing has failed")
        }
    }

    /// The body must agree with its event and with the model.
    private func judgeBody(_ event: RelayEvent, _ text: SaidText) {
        var expected = ["type": event.type.rawValue]
        if let campaign = event.campaign, let app = app(of: campaign) {
            expected["id"] = campaign.id
            (expected["app"], expected["platform"]) = (settings.key(app).app, settings.key(app).platform.rawValue)
            if let block = model.block(of: campaign.id) {
                expected["blocked"] = Self.text(version: model.blocks[block].version)
            } else if let version = model.version(of: campaign.id) {
                expected["required"] = Self.text(version: version)
            }
            if event.type.rawValue.hasPrefix("campaign."), CampaignState(rawValue: event.type.name) != nil {
                expected["state"] = event.type.name
            }
        }
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) where text.value(name) != value {
            model.broke(
                "events.words",
                "an event \(event.type.rawValue) says \(name) \(text.value(name) ?? "nothing"), and it is \(value)"
            )
        }
    }

    /// Once, at the end: receivers were notified of each state that a campaign came into, of each force and each withdrawal, once.
    ///
    /// - Parameter entries: the oldest first.
    func judgeEvents(_ entries: [AuditEntry]) {
        guard let relay else { return }
        for _ in 0..<20 where !relay.notify() {}
        var states: [String: [String]] = [:]
        for entry in entries {
            guard let campaign = entry.campaign, entry.action.hasPrefix("campaign."),
                let after = entry.after.flatMap({ try? JSONReader.read(Array($0.utf8)) })?["state"]?.string,
                CampaignState(rawValue: after) != nil, states[campaign]?.last != after
            else { continue }
            states[campaign, default: []].append(after)
        }
        var told: [String: [String]] = [:]
        var counts: [String: [EventType: Int]] = [:]
        for event in watched.heard {
            guard let campaign = event.campaign else { continue }
            if CampaignState(rawValue: event.type.name) != nil { told[campaign, default: []].append(event.type.name) }
            counts[campaign, default: [:]][event.type, default: 0] += 1
        }
        let campaigns = campaigns(limit: 1000)
        for campaign in campaigns {
            var expected = states[campaign.id] ?? []
            // A campaign that is made and superseded in one decision was waiting before that.
            if let first = expected.first.flatMap(CampaignState.init(rawValue:)), first.isFinal {
                expected.insert("waiting", at: 0)
            }
            guard told[campaign.id] ?? [] != expected else { continue }
            model.broke(
                "events.states",
                "campaign \(campaign.id) was \(states[campaign.id] ?? []) by the audit trail, and receivers were told \(told[campaign.id] ?? [])"
            )
        }
        judgeCounts(campaigns, counts)
    }

    private func judgeCounts(_ campaigns: [CampaignRecord], _ counts: [String: [EventType: Int]]) {
        let query = """
            SELECT c.public_id, e.requirement_id, e.state, e.reach, CASE WHEN e.at >= c.created_at THEN 1 ELSE 0 END
            FROM requirement_event AS e JOIN campaign AS c ON c.requirement_id = e.requirement_id ORDER BY e.id
            """
        guard let rows = try? relay?.store.inspect(query) else { return }
        // An event from before the campaign was made names it where it is sent afterwards.
        var forced: [String: ClosedRange<Int>] = [:]
        var withdrawn: [String: ClosedRange<Int>] = [:]
        var last: [String: [String]] = [:]
        for row in rows where row.count == 5 {
            let (id, state) = (row[0], [row[2], row[3]])
            defer { last[id] = state }
            let isOfCampaign = row[4] == "1"
            let isForAll = ["in_force", "10000"]
            if state == isForAll, last[id] != isForAll { forced[id] = Self.counted(forced[id], isSure: isOfCampaign) }
            if state[0] == "withdrawn", last[id]?[0] != "withdrawn" {
                withdrawn[id] = Self.counted(withdrawn[id], isSure: isOfCampaign)
            }
        }
        for campaign in campaigns {
            let (id, waves) = (campaign.id, campaign.figures.waves.list.count { $0.endedAt != nil })
            var expected: [(EventType, ClosedRange<Int>)] = [(.waveDone, waves...waves)]
            // A canary begins and ends again for users who come to it later, or who are named in place of other users.
            if campaign.canary?.endedAt != nil, counts[id]?[.canaryDone] == nil {
                model.broke("events.states", "the canary of campaign \(id) was done, and no receiver was told")
            }
            // By a clock that was set, the time of an event does not show whether the campaign existed.
            if !wasClockSet { expected += [(.inForce, forced[id] ?? 0...0), (.withdrawn, withdrawn[id] ?? 0...0)] }
            for (type, count) in expected where !count.contains(counts[id]?[type] ?? 0) {
                model.broke(
                    "events.states",
                    "receivers were told \(counts[id]?[type] ?? 0) times of \(type.rawValue) of campaign \(id), and it came \(count) times"
                )
            }
        }
    }

    /// A count after one more, which may not be counted where it is not sure.
    private static func counted(_ count: ClosedRange<Int>?, isSure: Bool) -> ClosedRange<Int> {
        let count = count ?? 0...0
        return count.lowerBound + (isSure ? 1 : 0)...count.upperBound + 1
    }
}
