// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

extension UpgradeTarget {
    static let blockedNote = "The version that its devices must leave; null if it announces a floor."

    /// The members of a campaign's answers that name its target.
    static let shape = Shape<UpgradeTarget>([
        .nullable(.required, .version, "The floor that it announces; null if it announces a block.") {
            $0.required?.text
        },
        .nullable(.blocked, .version, blockedNote) { $0.blocked?.text },
    ])
}

/// A campaign as an answer shows it.
struct ShownCampaign {
    let status: CampaignStatus
    /// Whether the answer shows the effects of a person's possible acts: only where a single campaign is requested.
    var hasEffects = false
    /// How long its answers took; written where `hasEffects`.
    var latency: CampaignLatency?
    /// The act that is answered; nil: none.
    var act: ActKind?

    var record: CampaignRecord { status.record }

    static let shape = Shape<ShownCampaign>(
        "Campaign", "A rise of a required version, or a block, and its pushes.",
        [
            .member(.id, .text, "Twelve hex digits; the beginning of each of its apns-ids.") { $0.record.id },
            AppKey.shape.members { $0.record.app },
            UpgradeTarget.shape.members { $0.record.requirement.target },
            .nullable(
                .inForce, .version, "The version in force for the app: an older one for as long as the campaign waits."
            ) { $0.record.inForce?.text },
            .nullable(.latest, .version) { $0.record.latest?.text },
            .member(.downloadUrl, .text) { $0.record.facts.downloadURL },
            .nullable(.message, .text) { $0.record.requirement.message?.text },
            .nullablePersonalList(.telephones, Requirement.canaryNote) { $0.record.requirement.canary },
            .nullableObject(.canary, CampaignCanary.shape, "The state of the canary; null: the bump named no users.") {
                campaign in
                campaign.record.canary.map { (canary: $0, users: campaign.record.requirement.canary?.count ?? 0) }
            },
            .member(.state, .words(CampaignState.self)) { $0.record.state.rawValue },
            .nullable(.reason, .text, "The reason for its state, or for a running campaign's wait.") {
                $0.record.facts.reason
            },
            .member(.createdAt, .instant) { $0.record.facts.createdAt },
            .nullable(.startedAt, .instant) { $0.record.facts.startedAt },
            .nullable(.finishedAt, .instant) { $0.record.facts.finishedAt },
            .member(.expiresAt, .instant, "The time after which nothing is sent.") { $0.record.facts.expiresAt },
            .nullable(
                .waitingUntil, .instant,
                "The time when a waiting campaign should begin, or a running one outside its app's hours (pace.hours) should continue."
            ) { $0.status.waitingUntil },
            .nullableObject(
                .wait, Wait.shape,
                "The reason why it does not move, for programs; null if it moves, if it is over, and in webhooks and what receivers are sent."
            ) { $0.status.wait },
            .object(.rollout, Rollout.shape) { Rollout($0.record) },
            .nullableObject(
                .now, CampaignFacts.hurryShape,
                "The order to send it whatever the hour; null: within its app's hours (pace.hours), if it has any."
            ) { campaign in campaign.record.facts.urgentAt.map { (at: $0, by: campaign.record.facts.urgentBy) } },
            .object(.counts, CampaignCounts.shape) { $0.status.counts },
            .object(.filteredBy, FilterReason.countsShape) { $0.record.figures.filteredBy },
            .written(.rejectedBy, .map(of: .count), "By the push service's reason.") { writer, campaign in
                let counts = campaign.record.figures.rejectedBy.sorted { $0.key < $1.key }
                writer.object { writer in
                    for (reason, count) in counts { writer.member(reason, count) }
                }
            },
            .list(
                .channels, of: ChannelAnswers.shape,
                "The answers of each push service where more than one has answered; a push that was sent again counts again."
            ) { campaign in
                campaign.record.figures.answersOfChannels.map {
                    ($0.channel.label(on: campaign.record.app.platform), $0.answers)
                }
            },
            .member(
                .upgraded, .count, "Devices of the audience since seen with a version that meets the requirement."
            ) { $0.record.figures.upgraded },
            .member(.ratePerSecond, .decimal, "Pushes a second, of late.") { JSONDecimal(of: $0.status.ratePerSecond) },
            .nullable(
                .secondsLeft, .count,
                "Until all is sent and every pause between waves is over, or until the next approval; the hours in which nothing is begun (pace.hours) included. Outside the app's hours, at least the time until they begin."
            ) { $0.status.secondsLeft },
            .nullable(
                .rateLimit, .decimal, "Pushes a second that the app's pace allows now; null: no limit."
            ) { JSONDecimal($0.status.rateLimit, places: 2) },
            .nullableObject(.wave, CampaignWave.shape) { campaign in
                let waves = campaign.record.figures.waves
                return waves.current.map { (wave: $0, of: waves.list.count, nextAt: campaign.status.nextWaveAt) }
            },
            .list(
                .rounds, of: CampaignRound.shape,
                "The number of times that it was opened again, under the same ledger and with the same push ids: by an operator (retry), or for those still behind (push.remind)."
            ) { $0.record.figures.rounds },
            .nullable(.nextReminderAt, .instant, "The time of the next push to those still behind; null: none.") {
                $0.status.nextReminderAt
            },
            .object(.shown, Shown.shape) { $0.record.shown },
            effects, times,
            .sentenceOfAct { campaign in campaign.act.map { ActWords.after($0, campaign.status) } },
        ])

    private static let times = ShapeMember<ShownCampaign>(
        property: .init(
            Field.latency.rawValue,
            CampaignLatency.shape.reference.orNull.described(
                "How long its push services took to answer; null: nothing was answered, or it was pruned. Only if one campaign is asked for."
            ), isRequired: false)
    ) { writer, campaign, sight in
        guard campaign.hasEffects else { return }
        writer.name(.latency)
        if let latency = campaign.latency {
            writer.object(latency, CampaignLatency.shape, for: sight)
        } else {
            writer.null()
        }
    }

    /// The acts that a campaign's state allows, by the name in their path, each with its effects in sentences.
    private static let effects = ShapeMember<ShownCampaign>(
        property: .init(
            Field.effects.rawValue,
            Schema.map(of: .list(of: .text)).with("propertyNames", ["enum": .array(acts)]).described(
                "A person's acts that its state allows, each with its effects, in sentences. Only if one campaign is asked for."
            ), isRequired: false)
    ) { writer, campaign, _ in
        guard campaign.hasEffects else { return }
        writer.object(.effects) { writer in
            for act in campaign.record.acts {
                let effects = campaign.record.effects(of: act, counts: campaign.status.counts)
                writer.member(act.verb, effects.map(\.words))
            }
        }
    }

    private static let acts = ActKind.ofCampaigns.map { JSONValue.string($0.verb) }
}

extension ShownCampaign {
    /// A campaign as the store has it, without the figures of a running process: for stored answers and for receivers.
    init(of record: CampaignRecord) {
        self.init(
            status: CampaignStatus(
                record: record, counts: record.figures.counts, ratePerSecond: 0, secondsLeft: nil))
    }
}

extension JSONWriter {
    /// - Parameter hasEffects: whether the effects of a person's possible acts are shown. Only where a single campaign is requested.
    mutating func campaign(
        _ status: CampaignStatus, for sight: Redaction, hasEffects: Bool = false, latency: CampaignLatency? = nil
    ) {
        object(
            ShownCampaign(status: status, hasEffects: hasEffects, latency: latency), ShownCampaign.shape, for: sight)
    }

    /// The answer to an act on a campaign.
    mutating func campaign(_ status: CampaignStatus, for sight: Redaction, after act: ActKind) {
        object(ShownCampaign(status: status, act: act), ShownCampaign.shape, for: sight)
    }
}

extension CampaignCanary {
    static let shape = Shape<(canary: CampaignCanary, users: Int)>(
        "Canary", "The users that a bump named: its campaign goes to them first.",
        [
            .member(
                .phase, .words(Phase.self),
                "alone: no other user gets a push yet, and the requirement is in force for them alone."
            ) { $0.canary.phase.rawValue },
            .member(.telephoneCount, .count, "The number of users.") { $0.users },
            .nullable(.endedAt, .instant, "When the last of their devices had its outcome.") { $0.canary.endedAt },
            .nullable(
                .releasedAt, .instant,
                "When it was released to everybody; null before, and if the history has no record."
            ) { $0.canary.releasedAt },
        ])
}

extension Wait {
    static let shape = Shape<Wait>(
        "Wait", "The reason why a campaign does not move. The campaign's `reason` is the same for people.",
        [
            .member(
                .reason, .words(Wait.Kind.self),
                "past: the store went back in time. store: the app's store does not offer the version, or to too few users. time: its moment lies ahead. lostStore: that store is no longer in the configuration. pause: a person paused it. noRoute: the app has no push service. hours: the app's hours begin later. service: a push service, or the store, takes nothing for now. wave: the next wave begins later. canary: only the canary is sent to. release: the canary is done, and a person releases the rest. approval: a wave is done, and a person begins the next one. secondPerson: a second person approves it. fault: the relay stopped it. retries: all remaining pushes are tried again."
            ) { $0.kind.rawValue },
            .member(
                .standing, .words(Standing.self),
                "planned: it ends by itself. person: a person decides, as was planned. trouble: a fault that a person must mend."
            ) { $0.standing.rawValue },
            .nullable(.until, .instant, "When it ends by itself; null: not known.") { $0.end },
        ])
}

extension Rollout {
    static let shape = Shape<Rollout>(
        "Rollout", "The steps in which a campaign reaches its users.",
        [
            .member(
                .steps, .list(of: .text).with("minItems", 1), "In their order, in words; the last one is everybody."
            ) { $0.steps.map(\.words) },
            .member(.begun, .count, "The number of steps that have begun.") { $0.begun },
            .nullable(.next, .text, "The next step; null: all have begun.") { $0.next?.words },
        ])
}

extension CampaignFacts {
    static let hurryShape = Shape<(at: Timestamp, by: String?)>(
        "HurriedBy", "The order to send a campaign whatever the hour.",
        [
            .member(.at, .instant) { $0.at },
            .nullable(.by, .text, "A token's name, a user of the control socket, a webhook's secret.") { $0.by },
        ])
}

extension CampaignCounts {
    static let shape = Shape<CampaignCounts>(
        "CampaignCounts", "The states of the audience's devices; audience is the sum of the others.",
        [
            .member(.audience, .count) { $0.audience },
            .all(DeliveryState.allCases.map { state in ShapeMember.count(named: state.name) { $0[state] } }),
        ])
}

extension ChannelAnswers {
    static let shape = Shape<(channel: String, answers: ChannelAnswers)>(
        "ChannelAnswers", "The answers of one push service.",
        [
            .member(
                .channel, .text,
                "The platform's own push service as `production` or `sandbox`, the one beside it by its name."
            ) { $0.channel },
            .all(ChannelAnswers.states.map { state in ShapeMember.count(named: state.name) { $0.answers[state] } }),
        ])
}

extension FilterReason {
    static let countsShape = Shape<[FilterReason: Int64]>(
        "FilterCounts", "The reasons why devices get no push.",
        [
            .all(
                FilterReason.allCases.map { reason in
                    ShapeMember.count(named: reason.rawValue, reason.note) { $0[reason] ?? 0 }
                })
        ])

    private var note: String? {
        self == .osTooOld ? "The phone's system does not run the required version." : nil
    }
}

extension CampaignWave {
    /// The wave that began last.
    static let shape = Shape<(wave: CampaignWave, of: Int, nextAt: Timestamp?)>(
        "Wave",
        "A part of the users, drawn by phone number. The login check forces those whose wave has begun.",
        [
            .member(.number, .count, "The latest wave that has begun, from 1.") { Int64($0.wave.number + 1) },
            .member(.of, .count, "The number of waves.") { $0.of },
            .member(.percent, .decimal, "The part of the audience in this wave and those before it.") {
                JSONDecimal(of: $0.wave.percent, places: 2)
            },
            .member(.devices, .count, "Devices of this wave.") { $0.wave.devices },
            .member(.pending, .count, "Pushes without an outcome yet.") { $0.wave.pending },
            .member(.accepted, .count, "Pushes that the service took.") { $0.wave.accepted },
            .member(.failed, .count, "Pushes that it refused, and that are not tried again.") { $0.wave.failed },
            .member(.retrying, .count, "Pushes that it has not accepted so far, and that are tried again.") {
                $0.wave.retrying
            },
            .written(.begunAt, .instant) { $0.value($1.wave.begunAt) },
            .nullable(.endedAt, .instant, "When all devices had an outcome.") { $0.wave.endedAt },
            .nullable(.nextAt, .instant, "When the next wave begins by itself.") { $0.nextAt },
        ])
}

extension CampaignRound {
    /// One reopening of the campaign, and the states of the devices that it was for.
    static let shape = Shape<CampaignRound>(
        "Round", "A campaign that was opened again for some of its devices.",
        [
            .member(.type, .words(Kind.self)) { $0.kind.rawValue },
            .member(
                .states, .list(of: .words(["accepted", "rejected", "expired", "cancelled"])),
                "The outcomes of the devices that it was opened for."
            ) { $0.states.map(\.name) },
            .nullable(.dueAt, .instant, "When a reminder was due; null for a retry.") { $0.dueAt },
            .member(.begunAt, .instant) { $0.begunAt },
            .member(
                .devices, .count,
                "Devices put in line so far. A reminder that was not sent after all, for example because the device has upgraded since, does not count."
            ) { $0.devices },
        ])
}
