// SPDX-License-Identifier: Apache-2.0
import APIModel
import RelayEngine
import RelayStore
import UpgradeRules
import WireFormat

/// The objects of CONTRACT, member by member in its order.
extension JSONWriter {
    mutating func app(_ key: AppKey) {
        member(.app, key.app)
        member(.platform, key.platform.rawValue)
    }

    /// - Parameter record: nil when nothing was ever stored for the app: every member is null.
    ///
    /// - Parameter wait: why what is asked for is not in force yet.
    mutating func versionMembers(of key: AppKey, _ record: VersionRecord?, wait: GateVerdict?) {
        app(key)
        requirementMembers(record)
        member(.updatedAt, record?.updatedAt)
        inForceMembers(record?.inForce)
        member(.waitingReason, wait?.reason)
        member(.waitingUntil, wait?.opensAt)
    }

    mutating func version(_ record: VersionRecord, wait: GateVerdict?) {
        object { $0.versionMembers(of: record.app, record, wait: wait) }
    }

    private mutating func inForceMembers(_ inForce: InForce?) {
        member(.inForce, inForce?.required?.text)
        member(.inForceSince, inForce?.since)
        member(.inForceBy, inForce?.openedBy)
        member(.inForceReason, inForce?.reason)
        member(.announced, inForce?.latest?.text)
    }

    mutating func change(_ change: InForceChange) {
        object { writer in
            writer.inForceMembers(change.inForce)
            writer.member(.updatedAt, change.at)
            writer.member(.actor, change.actor)
            writer.member(.source, change.source)
        }
    }

    mutating func change(_ change: VersionChange) {
        object { writer in
            writer.requirementMembers(change.record)
            writer.member(.updatedAt, change.record.updatedAt)
            writer.member(.actor, change.actor)
            writer.member(.source, change.source)
        }
    }

    private mutating func requirementMembers(_ record: VersionRecord?) {
        member(.latest, record?.latest?.text)
        member(.required, record?.required?.text)
        member(.downloadUrl, record?.downloadURL)
        member(.message, record?.message)
        member(.telephones, strings: record?.telephones)
        object(.builds) { writer in
            writer.member(.latest, record?.builds.latest)
            writer.member(.required, record?.builds.required)
        }
    }

    mutating func campaign(_ status: CampaignStatus) {
        let record = status.record
        object { writer in
            writer.member(.id, record.id)
            writer.app(record.app)
            writer.member(.required, record.required.text)
            writer.member(.inForce, record.inForce?.text)
            writer.member(.latest, record.latest?.text)
            writer.member(.downloadUrl, record.downloadURL)
            writer.member(.message, record.message)
            writer.member(.telephones, strings: record.telephones)
            writer.member(.canary, record.canary) { $0.canary($1, of: record) }
            writer.member(.state, record.state.rawValue)
            writer.member(.reason, record.reason)
            writer.member(.createdAt, record.createdAt)
            writer.member(.startedAt, record.startedAt)
            writer.member(.finishedAt, record.finishedAt)
            writer.member(.expiresAt, record.expiresAt)
            writer.member(.waitingUntil, status.waitingUntil)
            writer.name(.counts)
            writer.counts(status.counts)
            writer.filteredBy(record.filteredBy)
            writer.object(.rejectedBy) { writer in
                for (reason, count) in record.rejectedBy.sorted(by: { $0.key < $1.key }) {
                    writer.member(reason, count)
                }
            }
            writer.member(.upgraded, record.upgraded)
            writer.member(.ratePerSecond, decimal: status.ratePerSecond)
            writer.member(.secondsLeft, status.secondsLeft)
            writer.member(.rateLimit, decimal: status.rateLimit, places: 2)
            writer.member(.wave, record.waves.current) {
                $0.wave($1, of: record.waves, nextAt: status.nextWaveAt)
            }
            writer.array(.rounds, record.rounds) { $0.round($1) }
            writer.member(.nextReminderAt, status.nextReminderAt)
        }
    }

    /// Whether the users whom the bump named are still the only ones.
    private mutating func canary(_ canary: CampaignCanary, of record: CampaignRecord) {
        object { writer in
            writer.member(.phase, canary.phase.rawValue)
            writer.member(.telephones, Int64(record.telephones?.count ?? 0))
            writer.member(.endedAt, canary.endedAt)
            writer.member(.releasedAt, canary.releasedAt)
        }
    }

    /// How often the campaign was opened again, and for whom.
    private mutating func round(_ round: CampaignRound) {
        object { writer in
            writer.member(.type, round.kind.rawValue)
            writer.member(.states, strings: round.states.map(\.name))
            writer.member(.dueAt, round.dueAt)
            writer.member(.begunAt, round.begunAt)
            writer.member(.devices, round.devices)
        }
    }

    /// Who obeyed a campaign.
    mutating func adoption(_ adoption: CampaignAdoption, at now: Timestamp) {
        let record = adoption.record
        object { writer in
            writer.member(.campaign, record.id)
            writer.app(record.app)
            writer.member(.required, record.required.text)
            writer.member(.state, record.state.rawValue)
            writer.member(.begunAt, record.begunAt)
            writer.member(.at, now)
            writer.member(.audience, record.counts.audience)
            writer.member(.alreadyCurrent, record.alreadyCurrent)
            writer.member(.accepted, record.counts.accepted)
            writer.member(.toldAtLogin, record.reach.toldAtLogin)
            writer.member(.upgraded, record.upgraded)
            writer.object(.reachedBy) { writer in
                writer.member(.push, record.reach.push)
                writer.member(.login, record.reach.login)
                writer.member(.both, record.reach.both)
                writer.member(.unknown, record.reachedUnknown)
            }
            writer.array(.items, adoption.points) { writer, point in
                writer.object { writer in
                    writer.member(.at, point.at)
                    writer.member(.upgraded, point.upgraded)
                }
            }
        }
    }

    /// The wave that has begun last.
    private mutating func wave(_ wave: CampaignWave, of waves: CampaignWaves, nextAt: Timestamp?) {
        object { writer in
            writer.member(.number, Int64(wave.number + 1))
            writer.member(.of, Int64(waves.list.count))
            writer.member(.percent, decimal: wave.percent, places: 2)
            writer.member(.devices, wave.devices)
            writer.member(.pending, wave.pending)
            writer.member(.accepted, wave.accepted)
            writer.member(.failed, wave.failed)
            writer.member(.begunAt, wave.begunAt)
            writer.member(.endedAt, wave.endedAt)
            writer.member(.nextAt, nextAt)
        }
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

    /// What a dry run of a bump came to.
    mutating func plan(_ app: AppKey, _ report: PlanReport, inForce: Version?, warnings: [String]) {
        object { writer in
            writer.app(app)
            writer.member(.inForce, inForce?.text)
            writer.member(.waitingReason, report.gate.flatMap { $0.isOpen ? nil : $0.reason })
            writer.member(.waitingUntil, report.gate?.opensAt)
            writer.member(.audience, report.survey.audience)
            writer.member(.toPush, report.toPush)
            writer.member(.canary, report.canary)
            writer.member(.waves, report.waves) { writer, waves in
                writer.array(waves.ends) { $0.decimal(Double($1) / 100, places: 2) }
            }
            writer.member(.campaign, report.campaign)
            writer.filteredBy(report.survey.filteredBy)
            writer.member(.required, report.required?.text)
            writer.member(.rises, report.rises)
            writer.member(.largestKnown, report.largestKnown?.text)
            writer.member(.needsConfirmation, report.needsConfirmation)
            writer.member(.warnings, strings: warnings)
            writer.name(.samplePayload)
            writer.raw(report.samplePayload)
            // As it goes over the wire, which who reads it can no longer say.
            writer.member(.samplePayloadSize, Int64(report.samplePayloadSize))
        }
    }

    mutating func delivery(_ delivery: Delivery) {
        object { writer in
            writer.member(.campaign, delivery.campaign)
            writer.app(delivery.app)
            writer.member(.token, delivery.token)
            writer.member(.telephone, delivery.telephone)
            writer.member(.state, delivery.state.name)
            writer.member(.reason, delivery.reason)
            writer.member(.apnsId, PushID.text(campaign: delivery.campaign, device: delivery.device))
            writer.member(.attempts, Int64(delivery.attempts))
            writer.member(.nextAttemptAt, delivery.nextAttemptAt)
            writer.member(.updatedAt, delivery.updatedAt)
        }
    }

    mutating func device(_ record: DeviceRecord) {
        object { writer in
            writer.registrationMembers(record.registration)
            writer.member(.registeredAt, record.registeredAt)
            writer.member(.retiredAt, record.retiredAt)
        }
    }

    /// As the import takes it.
    mutating func registrationMembers(_ registration: DeviceRegistration) {
        app(registration.app)
        member(.token, registration.token)
        member(.telephone, registration.telephone)
        member(.version, registration.version?.text)
        member(.environment, registration.environment.name)
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
}
