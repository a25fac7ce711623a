// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import UpgradeRules
import WireFormat

/// The objects of CONTRACT, member by member in its order.
extension JSONWriter {
    mutating func app(_ key: AppKey) {
        members([.app: key.app, .platform: key.platform.rawValue])
    }

    /// - Parameter status: nil when nothing was ever stored for the app: every member is null.
    mutating func versionMembers(of key: AppKey, _ status: VersionStatus?, for sight: Redaction) {
        let record = status?.record
        app(key)
        requirementMembers(record, for: sight)
        member(.updatedAt, record?.updatedAt)
        inForceMembers(record?.inForce)
        members([.waitingReason: status?.wait?.reason, .waitingUntil: status?.wait?.end])
        array(.blocks, status?.blocks ?? []) { $0.block($1) }
    }

    mutating func version(_ status: VersionStatus, for sight: Redaction) {
        object { $0.versionMembers(of: status.record.app, status, for: sight) }
    }

    private mutating func block(_ block: BlockStatus) {
        let row = block.requirement
        object { writer in
            writer.members([
                .version: row.version.text, .state: block.state,
                .inForceSince: row.state == .inForce ? row.inForceAt : nil,
                .waitingReason: block.wait?.reason, .waitingUntil: block.wait?.end, .minimumOs: row.minimumOS?.text,
                .downloadUrl: row.downloadURL, .message: row.message?.text,
            ])
            writer.messages(row.message)
        }
    }

    private mutating func inForceMembers(_ inForce: InForce?) {
        members([
            .inForce: inForce?.required?.text, .inForceSince: inForce?.floor?.inForceAt,
            .inForceBy: inForce?.floor?.inForceBy, .inForceReason: inForce?.floor?.reason,
            .announced: inForce?.latest?.text,
        ])
    }

    mutating func change(_ change: InForceChange) {
        object { writer in
            writer.inForceMembers(change.inForce)
            writer.members([.updatedAt: change.at, .actor: change.actor, .source: change.source])
        }
    }

    mutating func change(_ change: VersionChange, for sight: Redaction) {
        object { writer in
            writer.requirementMembers(change.record, for: sight)
            writer.members([.updatedAt: change.record.updatedAt, .actor: change.actor, .source: change.source])
        }
    }

    private mutating func requirementMembers(_ record: VersionRecord?, for sight: Redaction) {
        let (required, latest) = (record?.requirements.required, record?.requirements.latest)
        let texts = record?.texts
        members([
            .latest: latest?.version.text, .required: required?.version.text, .downloadUrl: texts?.downloadURL,
            .message: texts?.message?.text,
        ])
        messages(texts?.message)
        member(.telephones, required?.canary, for: sight)
        object(.builds) { $0.members([.latest: latest?.build, .required: required?.build]) }
        members(required?.terms)
        member(.blocked, (record?.requirements.blocked ?? []).map(\.text))
    }

    /// The translations of a message; null where it has none.
    private mutating func messages(_ message: LocalizedText?) {
        let translations = message?.translations ?? []
        member(.messages, translations.isEmpty ? nil : translations) { writer, translations in
            writer.object { writer in
                for translation in translations { writer.member(translation.language.text, translation.text) }
            }
        }
    }

    /// - Parameter hasEffects: whether it says what a person's acts on it would do. Only where one campaign is asked for.
    mutating func campaign(_ status: CampaignStatus, for sight: Redaction, hasEffects: Bool = false) {
        let record = status.record
        let (facts, requirement, figures) = (record.facts, record.requirement, record.figures)
        object { writer in
            writer.member(.id, record.id)
            writer.app(record.app)
            writer.members([
                .required: requirement.target.required?.text, .blocked: requirement.target.blocked?.text,
                .inForce: record.inForce?.text, .latest: record.latest?.text, .downloadUrl: facts.downloadURL,
                .message: requirement.message?.text,
            ])
            writer.member(.telephones, requirement.canary, for: sight)
            writer.member(.canary, record.canary) { $0.canary($1, of: record) }
            writer.members([
                .state: record.state.rawValue, .reason: facts.reason, .createdAt: facts.createdAt,
                .startedAt: facts.startedAt, .finishedAt: facts.finishedAt, .expiresAt: facts.expiresAt,
                .waitingUntil: status.waitingUntil,
            ])
            writer.member(.wait, status.wait) { writer, wait in
                writer.object([.reason: wait.kind.rawValue, .standing: wait.standing.rawValue, .until: wait.end])
            }
            let rollout = Rollout(record)
            writer.object(.rollout) {
                $0.members([.steps: rollout.steps.map(\.words), .begun: rollout.begun, .next: rollout.next?.words])
            }
            writer.member(.now, facts.urgentAt) { $0.object([.at: $1, .by: facts.urgentBy]) }
            writer.name(.counts)
            writer.counts(status.counts)
            writer.filteredBy(figures.filteredBy)
            writer.object(.rejectedBy) { writer in
                for (reason, count) in figures.rejectedBy.sorted(by: { $0.key < $1.key }) {
                    writer.member(reason, count)
                }
            }
            writer.member(.upgraded, figures.upgraded)
            writer.member(.ratePerSecond, JSONDecimal(status.ratePerSecond))
            writer.member(.secondsLeft, status.secondsLeft)
            writer.member(.rateLimit, JSONDecimal(status.rateLimit, places: 2))
            writer.member(.wave, figures.waves.current) {
                $0.wave($1, of: figures.waves, nextAt: status.nextWaveAt)
            }
            writer.array(.rounds, figures.rounds) { $0.round($1) }
            writer.member(.nextReminderAt, status.nextReminderAt)
            writer.shown(.shown, record.shown)
            if hasEffects { writer.effects(of: status) }
        }
    }

    /// The acts that a campaign's state allows, by the name in their path, each with its effects in sentences.
    private mutating func effects(of status: CampaignStatus) {
        object(.effects) { writer in
            for act in status.record.acts {
                writer.member(act.verb, status.record.effects(of: act, counts: status.counts).map(\.words))
            }
        }
    }

    /// The phase of the canary: whether the users whom the bump named are still the only ones.
    private mutating func canary(_ canary: CampaignCanary, of record: CampaignRecord) {
        object([
            .phase: canary.phase.rawValue, .telephoneCount: Int64(record.requirement.canary?.count ?? 0),
            .endedAt: canary.endedAt,
            .releasedAt: canary.releasedAt,
        ])
    }

    /// One reopening of the campaign, and the states of the devices that it was for.
    private mutating func round(_ round: CampaignRound) {
        object([
            .type: round.kind.rawValue, .states: round.states.map(\.name), .dueAt: round.dueAt, .begunAt: round.begunAt,
            .devices: round.devices,
        ])
    }

    /// The adoption of a campaign: how many devices obeyed it, and when.
    ///
    /// - Parameter shares: the versions of the app's devices; nil: not counted yet.
    mutating func adoption(_ adoption: CampaignAdoption, _ shares: VersionShares?, at now: Timestamp) {
        let record = adoption.record
        let (requirement, figures) = (record.requirement, record.figures)
        object { writer in
            writer.member(.campaign, record.id)
            writer.app(record.app)
            writer.members([
                .required: requirement.target.required?.text, .blocked: requirement.target.blocked?.text,
                .state: record.state.rawValue, .begunAt: record.begunAt, .at: now,
                .audience: figures.counts.audience, .alreadyCurrent: record.alreadyCurrent,
                .accepted: figures.counts.accepted, .toldAtLogin: figures.reach.toldAtLogin,
                .upgraded: figures.upgraded,
            ])
            writer.object(.reachedBy) { writer in
                writer.member(.push, figures.reach.push)
                writer.member(.login, figures.reach.login)
                writer.member(.both, figures.reach.both)
                writer.member(.unknown, record.reachedUnknown)
            }
            writer.array(.items, adoption.points) { writer, point in
                writer.object([.at: point.at, .upgraded: point.upgraded])
            }
            writer.member(.versions, shares) { $0.versionShares($1) }
        }
    }

    private mutating func versionShares(_ shares: VersionShares) {
        object { writer in
            writer.members([
                .countedAt: shares.countedAt, .seenSince: shares.seenSince, .seen: shares.devices,
                .unknown: shares.unknown, .retireBelow: JSONDecimal(shares.retireBelow, places: 6),
            ])
            writer.array(.items, shares.rows.reversed()) { writer, row in
                writer.object { $0.versionShare(row, of: shares.devices) }
            }
        }
    }

    /// The members of one version.
    mutating func versionShare(_ row: VersionShares.Row, of devices: Int64) {
        func share(_ part: Int64) -> JSONDecimal? {
            JSONDecimal(devices > 0 ? min(Double(part) / Double(devices), 1) : 0, places: 6)
        }
        members([
            .version: row.version.text, .devices: row.devices, .share: share(row.devices), .orOlder: row.orOlder,
            .orOlderShare: share(row.orOlder), .belowSince: row.belowSince,
        ])
    }

    /// The wave that began last.
    private mutating func wave(_ wave: CampaignWave, of waves: CampaignWaves, nextAt: Timestamp?) {
        object([
            .number: Int64(wave.number + 1), .of: waves.list.count, .percent: JSONDecimal(wave.percent, places: 2),
            .devices: wave.devices, .pending: wave.pending, .accepted: wave.accepted, .failed: wave.failed,
            .retrying: wave.retrying, .begunAt: wave.begunAt, .endedAt: wave.endedAt, .nextAt: nextAt,
        ])
    }

    private mutating func counts(_ counts: CampaignCounts) {
        object { writer in
            writer.member(.audience, counts.audience)
            for state in DeliveryState.allCases { writer.member(state.name, counts[state]) }
        }
    }

    private mutating func filteredBy(_ counts: [FilterReason: Int64]) {
        object(.filteredBy) { writer in
            for reason in FilterReason.allCases { writer.member(reason.rawValue, counts[reason] ?? 0) }
        }
    }

    /// The result of a dry run of a bump.
    mutating func plan(_ app: AppKey, _ report: PlanReport, inForce: Version?, warnings: [String]) {
        object { writer in
            writer.app(app)
            writer.members([
                .inForce: inForce?.text, .waitingReason: report.wait?.reason,
                .waitingUntil: report.wait?.end, .pushesFrom: report.hours?.until,
                .audience: report.survey.audience, .toPush: report.toPush,
                .canary: report.canary,
            ])
            writer.member(.waves, report.waves) { writer, waves in
                writer.array(waves.ends) { $0.decimal(Double($1) / 100, places: 2) }
            }
            writer.member(.campaign, report.campaign)
            writer.filteredBy(report.survey.filteredBy)
            writer.members([
                .required: report.required?.text, .rises: report.rises, .largestKnown: report.largestKnown?.text,
                .needsConfirmation: !report.doubts.isEmpty, .warnings: warnings,
            ])
            writer.doubts(.doubts, report.doubts)
            writer.array(.blocks, report.blocks) { writer, block in
                writer.object([.version: block.version.text, .toPush: block.toPush, .osTooOld: block.osTooOld])
            }
            writer.name(.samplePayload)
            writer.raw(report.samplePayload)
            // The size on the wire, which cannot be recomputed from the JSON here.
            writer.member(.samplePayloadSize, Int64(report.samplePayloadSize))
        }
    }

    mutating func delivery(_ delivery: Delivery, for sight: Redaction) {
        object { writer in
            writer.member(.campaign, delivery.campaign)
            writer.app(delivery.app)
            writer.member(.token, delivery.token, for: sight)
            writer.member(.telephone, delivery.telephone, for: sight)
            writer.members([
                .state: delivery.state.name, .reason: delivery.reason,
                .apnsId: PushID.text(campaign: delivery.campaign, device: delivery.device),
                .attempts: delivery.attempts, .nextAttemptAt: delivery.nextAttemptAt, .updatedAt: delivery.updatedAt,
            ])
        }
    }

    mutating func device(_ record: DeviceRecord, for sight: Redaction) {
        object { writer in
            writer.registrationMembers(record.registration, for: sight)
            writer.members([.registeredAt: record.registeredAt, .retiredAt: record.retiredAt])
        }
    }

    /// In the form that the import takes.
    mutating func registrationMembers(_ registration: DeviceRegistration, for sight: Redaction) {
        app(registration.app)
        member(.token, of: registration, for: sight)
        for field in DeviceField.values { member(field, of: registration, for: sight) }
        provider(of: registration)
    }

    /// Said where it is not the platform's own.
    mutating func provider(of registration: DeviceRegistration) {
        guard registration.channel.isBeside else { return }
        member(.provider, registration.channel.provider(on: registration.app.platform).rawValue)
    }

    /// A list as CONTRACT pages it.
    mutating func page<Items: Sequence>(
        _ items: Items, next: String?, _ content: (inout JSONWriter, Items.Element) -> Void
    ) {
        object { writer in
            writer.array(.items, items, content)
            writer.member(.next, next)
        }
    }

    /// A list of one user.
    ///
    /// - Parameter similar: other spellings of the telephone that was asked for, where the list is empty; without any the member is
    ///   missing.
    mutating func page<Items: Sequence>(
        _ items: Items, next: String?, similar: [String]?, for sight: Redaction,
        _ content: (inout JSONWriter, Items.Element) -> Void
    ) {
        object { writer in
            writer.array(.items, items, content)
            writer.member(.next, next)
            if let similar, !similar.isEmpty { writer.member(.similar, similar, for: sight) }
        }
    }
}
