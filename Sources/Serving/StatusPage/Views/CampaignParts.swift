// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Parts that the pages of the overview, of one campaign and of the report share.
extension View {
    func badge(_ html: inout HTML, _ status: CampaignStatus) {
        // A stop that was planned is no alarm.
        let state = status.record.state
        let looks = state == .suspended && status.standing == .person ? .waiting : state
        html.tag("span", [.class("badge \(looks.rawValue)")], text: word(state))
    }

    func path(_ record: CampaignRecord) -> PagePath { PagePath("page", "campaigns", record.id) }

    /// Why the campaign does not move, and how that ends.
    ///
    /// - Parameter said: a reason that stands above already, and is not repeated.
    func standing(_ html: inout HTML, _ status: CampaignStatus, after said: String? = nil) {
        let record = status.record
        if record.state != .completed, let why = record.facts.reason {
            if why == said { return }
            let isDecided = status.standing == .person
            html.tag("p", [.class("reason")]) { reason(&$0, isDecided ? Self.withoutCommand(why) : why) }
        }
        if let until = status.waitingUntil {
            html.tag("p") { html in
                html.text(say("Goes on at") + " ")
                html.time(until)
            }
        }
        if let remedy = remedy(status) { html.tag("p", [.class("remedy")], text: remedy) }
    }

    /// A reason without the command that ends the wait: the page has a button for it.
    static func withoutCommand(_ reason: String) -> String {
        let commands = [
            "; \"campaigns approve ", "; \"campaigns release ", "; approve begins wave ", "; resume begins wave ",
        ]
        guard let found = commands.lazy.compactMap({ reason.firstRange(of: $0) }).first else { return reason }
        return String(reason[..<found.lowerBound])
    }

    private static let drawn: [DeliveryState] = [
        .accepted, .inFlight, .retrying, .rejected, .unregistered, .expired, .filtered, .cancelled, .pending,
    ]

    /// All states as one bar, and as numbers.
    func counts(_ html: inout HTML, _ counts: CampaignCounts, linked record: CampaignRecord? = nil) {
        // Accepted pushes are at the left, so that the bar grows from there.
        let shown = Self.drawn.filter { counts[$0] > 0 }
        let label = shown.map { "\(word($0)) \(number(counts[$0]))" }.joined(separator: ", ")
        let total = max(counts.audience, 1)
        html.tag(
            "svg",
            [
                .class("bar"), .named("viewBox", "0 0 1000 10"), .named("preserveAspectRatio", "none"),
                .named("role", "img"), .named("aria-label", label.isEmpty ? say("No device") : label),
            ]
        ) { html in
            var x: Int64 = 0
            for state in shown {
                // Every state that occurs is visible, even one device of a million.
                let width = max(counts[state] * 1000 / total, 2)
                html.tag(
                    "rect",
                    [
                        .class("s-\(state.name)"), .named("x", x), .named("y", "0"), .named("width", width),
                        .named("height", "10"),
                    ]
                ) { _ in }
                x += width
            }
        }
        html.tag("dl", [.class("counts")]) { html in
            html.fact(say("Audience")) { $0.text(number(counts.audience)) }
            for state in shown {
                html.tag("div", [.class("s-\(state.name)")]) { html in
                    html.tag("dt", text: word(state))
                    html.tag("dd") { html in
                        if let record {
                            html.link(
                                PagePath("page", "deliveries").with("campaign", record.id).with("state", state.name),
                                number(counts[state]),
                                [.named("aria-label", "\(word(state)): \(number(counts[state]))")])
                        } else {
                            html.text(number(counts[state]))
                        }
                    }
                }
            }
        }
    }

    /// The most frequent reasons for which devices got no push, each with a link to the devices.
    func reasons(_ html: inout HTML, _ record: CampaignRecord, most: Int, isLinked: Bool = true) {
        let filtered = record.figures.filteredBy.filter { $0.value > 0 }.map {
            (word($0.key), $0.value, DeliveryState.filtered, $0.key.rawValue)
        }
        let rejected = record.figures.rejectedBy.filter { $0.value > 0 }.map {
            ($0.key, $0.value, DeliveryState.rejected, $0.key)
        }
        let all = (filtered + rejected).sorted { ($0.1, $1.0) > ($1.1, $0.0) }.prefix(most)
        guard !all.isEmpty else { return }
        html.table(say("Why devices got no push"), [say("Reason"), say("State"), say("Devices")]) { html in
            for (text, count, state, reason) in all {
                html.row(
                    { $0.foreign(text) },
                    [
                        { $0.text(word(state)) },
                        { html in
                            guard isLinked else { return html.text(number(count)) }
                            let path = PagePath("page", "deliveries").with("campaign", record.id)
                            html.link(
                                path.with("state", state.name).with("reason", reason), number(count),
                                [.named("aria-label", "\(text): \(number(count))")])
                        },
                    ])
            }
        }
    }

    /// The answers of each push service, where more than one has answered.
    func channels(_ html: inout HTML, _ record: CampaignRecord) {
        let channels = record.figures.answersOfChannels
        guard !channels.isEmpty else { return }
        let columns = [say("Push service")] + ChannelAnswers.states.map(word)
        html.table(say("Answers of each push service"), columns, isCaptionShown: true) { html in
            for (channel, answers) in channels {
                html.row(
                    { $0.text(channel.title(on: record.app.platform)) },
                    ChannelAnswers.states.map { state in { $0.text(number(answers[state])) } })
            }
        }
    }

    func progressFacts(_ html: inout HTML, _ status: CampaignStatus) {
        let (record, counts) = (status.record, status.counts)
        html.fact(say("Done")) {
            $0.text(
                "\(percent(counts.settled, of: counts.audience)) (\(number(counts.settled)) / \(number(counts.audience)))"
            )
        }
        if record.state == .running {
            html.fact(say("Rate")) { html in
                let rate = number(Int64(status.ratePerSecond.rounded()))
                html.text(say("% a second", rate))
                if let limit = status.rateLimit {
                    html.text(", " + say("at most %", number(Int64(limit.rounded()))))
                }
            }
            html.fact(say("Time left")) { $0.text(status.secondsLeft.map { duration(seconds: $0) } ?? "–") }
        }
        if let wave = record.figures.waves.current {
            html.fact(say("Wave")) { html in
                html.text(say("% of %", String(wave.number + 1), String(record.figures.waves.list.count)))
                html.text(" (\(WavePlan.percentText(wave.end)) %)")
                guard let next = status.nextWaveAt else { return }
                html.text(", " + say("next at") + " ")
                html.time(next)
            }
        }
        if record.isCanary { html.fact(say("Canary")) { $0.text(say("named users alone")) } }
        html.fact(say("Upgraded")) {
            $0.text("\(number(record.figures.upgraded)) (\(percent(record.figures.upgraded, of: record.toUpgrade)))")
        }
    }

    /// The campaign's adoption, as a line with the moments of its waves.
    func adoption(_ html: inout HTML, _ adoption: CampaignAdoption, id: String) {
        let record = adoption.record
        guard record.figures.upgraded > 0 else {
            return html.tag("p", [.class("quiet")], text: say("Nobody has upgraded yet."))
        }
        let waves = record.figures.waves.list.compactMap { wave in
            wave.begunAt.map { Chart.Mark(at: $0, label: say("Wave %", String(wave.number + 1))) }
        }
        // Points are stored a minute apart or more, so the present number is added.
        var points = adoption.points
        if points.last?.upgraded != record.figures.upgraded {
            points.append(AdoptionPoint(at: now, upgraded: record.figures.upgraded))
        }
        let end = record.state.isFinal ? points.last?.at ?? now : now
        let chart = Chart(
            title: say("Devices that have upgraded"), points: points, from: record.begunAt,
            to: max(end, record.begunAt + .seconds(60)), top: record.toUpgrade, marks: waves)
        chart.draw(&html, id: id, self)
    }
}
