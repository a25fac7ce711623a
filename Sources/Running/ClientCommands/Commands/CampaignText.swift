// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Requirements
package import Terminal
package import WireFormat

/// A campaign of the API as people read it.
package struct CampaignText: Sendable {
    package let json: JSONValue

    package init(_ json: JSONValue) {
        self.json = json
    }

    package var id: String { json.shown(.id) }
    package var state: String { json.shown(.state) }
    private var counts: JSONValue { json[.counts] ?? .null }
    package var audience: Int64 { counts.count(.audience) }

    /// "2.0.0", or "2.1.5 blocked".
    var target: String {
        let blocked = json.shown(.blocked)
        return blocked.isEmpty ? json.shown(.required, or: "-") : "\(blocked) blocked"
    }

    package func count(_ state: DeliveryState) -> Int64 { counts[state.name]?.integer ?? 0 }

    private var tally: CampaignCounts {
        var tally = CampaignCounts()
        for state in DeliveryState.allCases { tally[state] = count(state) }
        return tally
    }

    /// All states together, which is the audience.
    package var sum: Int64 { tally.audience }

    package var settled: Int64 { tally.settled }

    /// Whether the state is final and no push in flight still lacks its outcome.
    package var isOver: Bool {
        CampaignState(rawValue: state)?.isFinal ?? false && count(.inFlight) == 0
    }

    /// "wave 1 of 3 (1%)"; nil where the campaign has no waves.
    private var wave: String? {
        guard let wave = json[.wave], wave != .null else { return nil }
        return "wave \(wave.shown(.number)) of \(wave.shown(.of)) (\(wave.shown(.percent))%)"
    }

    /// The daemon's reason why the campaign does not move, with the time or person it waits for; nil where nothing holds it up.
    package var standing: String? {
        let reason = json.shown(.reason)
        guard !isOver else { return nil }
        let isSaid = state == CampaignState.running.rawValue || reason.hasPrefix(state)
        let text = isSaid ? reason : reason.isEmpty ? state : "\(state): \(reason)"
        return text.isEmpty ? nil : DisplayWidth.sanitised(text)
    }

    /// The reason why a running campaign sends nothing at this hour; nil where it sends, or is not running.
    package var outsideHours: String? {
        guard state == CampaignState.running.rawValue, !json.shown(.waitingUntil).isEmpty else { return nil }
        return standing
    }

    /// The state or the wave, the pace and the counts, for the end of a progress line.
    private var note: String {
        var parts: [String] = []
        if state != CampaignState.running.rawValue {
            // The reason is above, in a line of its own.
            parts.append(state)
        } else if let wave {
            let next = json[.wave]?.shown(.nextAt) ?? ""
            parts.append(next.isEmpty ? wave : "\(wave) done, next at \(ShownZone.text(next))")
        }
        if let limit = json[.rateLimit]?.number { parts.append("at most \(Quantity.rate(limit))") }
        for state in [DeliveryState.accepted, .retrying, .rejected, .unregistered, .filtered] where count(state) > 0 {
            parts.append("\(state.name) \(Quantity.count(count(state)))")
        }
        return parts.joined(separator: ", ")
    }

    package var progress: Progress {
        Progress(
            done: settled, total: audience, ratePerSecond: json[.ratePerSecond]?.number ?? 0,
            secondsLeft: json[.secondsLeft]?.integer, note: note)
    }

    /// The campaign field by field, with the counts that are not 0; the count of accepted pushes is always shown.
    ///
    /// - Parameter hasColour: whether colours are welcome.
    package func details(hasColour: Bool = Screen.current.hasColour) -> String {
        var fields: [(String, String)] = [
            ("campaign", id), ("app", json.place), ("required", json.shown(.required, or: "-")),
            ("in force", json.shown(.inForce, or: "-")),
            ("latest", json.shown(.latest, or: "-")), ("download URL", json.shown(.downloadUrl, or: "-")),
            ("state", state),
        ]
        if !json.shown(.blocked).isEmpty { fields.insert(("blocked", json.shown(.blocked)), at: 3) }
        if !json.shown(.message).isEmpty { fields.insert(("message", json.shown(.message)), at: fields.count - 1) }
        if !json.shown(.reason).isEmpty { fields.append(("reason", json.shown(.reason))) }
        if let waits { fields.append(("waits", waits)) }
        if let way { fields.append(("way", way)) }
        if let canary { fields.append(("canary", canary)) }
        if let wave { fields.append(("wave", waveDetails(wave))) }
        if let speed { fields.append(("speed", speed)) }
        if let latency = json[.latency].flatMap(Self.times) { fields.append(("answers", latency)) }
        if let limit = json[.rateLimit]?.number { fields.append(("pace", "at most \(Quantity.rate(limit))")) }
        if !json.shown(.waitingUntil).isEmpty { fields.append(("waiting until", json.shown(.waitingUntil))) }
        if let now = json[.now], now != .null {
            fields.append(("whatever the hour", "since \(now.shown(.at)) (\(now.shown(.by, or: "-")))"))
        }
        for round in json.list(.rounds) { fields.append(Self.round(round)) }
        if !json.shown(.nextReminderAt).isEmpty { fields.append(("next reminder", json.shown(.nextReminderAt))) }
        let times = [
            ("created", Field.createdAt), ("started", .startedAt), ("finished", .finishedAt), ("expires", .expiresAt),
        ]
        for (title, field) in times where title != "expires" || !isOver {
            fields.append((title, json.shown(field, or: "-")))
        }
        let tint: (String, String) -> Tint? = { name, value in
            hasColour && name == "state" ? Tint.ofState(value) : nil
        }
        return TextTable.fields(fields, tint: tint) + "\n"
            + countsTable(Screen(width: Screen.current.width, hasColour: hasColour)) + latencyTable
    }

    /// "half within 42 ms, 90 % within 70 ms, 99 % within 180 ms (1,204 answers)"; nil where nothing was answered.
    private static func times(_ latency: JSONValue) -> String? {
        guard latency.count(.answers) > 0 else { return nil }
        let within = [("half", Field.p50Ms), ("90 %", .p90Ms), ("99 %", .p99Ms)]
            .map { "\($0.0) within \(milliseconds(latency[$0.1]))" }.joined(separator: ", ")
        return "\(within) (\(Quantity.count(latency.count(.answers), "answer")))"
    }

    private static func milliseconds(_ value: JSONValue?) -> String {
        let milliseconds = value?.number ?? 0
        return milliseconds < 10 ? "\(milliseconds) ms" : "\(Quantity.count(Int64(milliseconds.rounded()))) ms"
    }

    /// The most rows of `latencyTable`: the last ones.
    private static let mostStretches = 12

    /// How long answers took over time; "" where that is one stretch at most.
    private var latencyTable: String {
        let stretches = json[.latency]?.list(.items) ?? []
        guard stretches.count > 1 else { return "" }
        var table = TextTable([
            .time("FROM"), .right("FOR"), .right("ANSWERS"), .right("HALF WITHIN"), .right("90 %"), .right("99 %"),
        ])
        for stretch in stretches.suffix(Self.mostStretches) {
            table.add(
                [
                    stretch.shown(.from), DurationText.rough(seconds: stretch.count(.seconds)),
                    Quantity.count(stretch.count(.answers)),
                ] + [.p50Ms, .p90Ms, .p99Ms].map { Self.milliseconds(stretch[$0]) })
        }
        let more = stretches.count - Self.mostStretches
        return "\n" + table.text + (more > 0 ? "\(more) earlier: --json\n" : "")
    }

    /// "1,234/s, 5 min left"; nil where nothing is sent now.
    private var speed: String? {
        let rate = json[.ratePerSecond]?.number ?? 0
        let left = json[.secondsLeft]?.integer.map { "\(DurationText.rough(seconds: $0)) left" }
        guard state == CampaignState.running.rawValue, rate > 0 || left != nil else { return nil }
        return [Quantity.rate(rate), left].compactMap(\.self).joined(separator: ", ")
    }

    /// The end of the wait that the reason names; nil where the campaign moves.
    private var waits: String? {
        guard let wait = json[.wait], wait != .null else { return nil }
        switch Wait.Standing(rawValue: wait.shown(.standing)) {
        case .planned:
            let end = wait.shown(.until)
            return "as planned" + (end.isEmpty ? ", and goes on by itself" : ", until \(end)")
        case .person: return "for you, as planned"
        case .trouble: return "until what the reason names is mended"
        case nil: return nil
        }
    }

    /// The steps of its rollout, and the next one; nil where there is only one step.
    private var way: String? {
        guard let rollout = json[.rollout] else { return nil }
        let steps = rollout.list(.steps).compactMap(\.string)
        guard steps.count > 1 else { return nil }
        let next = rollout.shown(.next)
        return steps.joined(separator: ", then ") + (next.isEmpty ? "" : "; next: \(next)")
    }

    /// The canary, and whether its users are still the only ones; nil where the bump named none.
    private var canary: String? {
        guard let canary = json[.canary], canary != .null else { return nil }
        let telephones = Quantity.count(canary.count(.telephoneCount), "phone number")
        guard canary.shown(.phase) == CampaignCanary.Phase.released.rawValue else {
            let ended = canary.shown(.endedAt)
            return "\(telephones), and no other user yet" + (ended.isEmpty ? "" : "; done at \(ended)")
        }
        let released = canary.shown(.releasedAt)
        return "\(telephones) first, everybody" + (released.isEmpty ? " since its release" : " since \(released)")
    }

    /// A round that opened the campaign again: its time and its number of devices.
    private static func round(_ round: JSONValue) -> (String, String) {
        let devices = Quantity.count(round.count(.devices), "device")
        guard round.shown(.type) == CampaignRound.Kind.retry.rawValue else {
            return ("reminded", "\(round.shown(.begunAt)): \(devices)")
        }
        let states = round.list(.states).compactMap(\.string).joined(separator: ", ")
        return ("retried", "\(round.shown(.begunAt)): \(devices) (\(states))")
    }

    private func waveDetails(_ wave: String) -> String {
        let json = json[.wave] ?? .null
        var text = "\(wave): \(Quantity.count(json.count(.devices), "device"))"
        for field in [Field.pending, .accepted, .failed] {
            text += ", \(field.rawValue) \(Quantity.count(json.count(field)))"
        }
        let retrying = json.count(.retrying)
        if retrying > 0 { text += ", tried again \(Quantity.count(retrying))" }
        if !json.shown(.nextAt).isEmpty { text += "; next at \(json.shown(.nextAt))" }
        return text
    }

    private func countsTable(_ screen: Screen) -> String {
        var table = AudienceTable(audience)
        for state in DeliveryState.allCases where count(state) > 0 || state == .accepted {
            table.add(state.name, count(state))
            if state == .filtered { table.add(reasons: json[.filteredBy], isBlock: !json.shown(.blocked).isEmpty) }
            if state == .rejected { table.add(reasons: json[.rejectedBy]) }
        }
        let upgraded = json.count(.upgraded)
        return table.text(on: screen) + (upgraded > 0 ? "upgraded since: \(Quantity.count(upgraded, "device"))\n" : "")
            + answersOfServices
    }

    /// A line for each push service, where more than one has answered.
    private var answersOfServices: String {
        json.list(.channels).map { channel in
            let answers = DeliveryState.allCases.compactMap { state in
                channel[state.name]?.integer.map { "\(state.name) \(Quantity.count($0))" }
            }
            return "answers of \(json.service(of: channel)): \(answers.joined(separator: ", "))\n"
        }.joined()
    }
}
