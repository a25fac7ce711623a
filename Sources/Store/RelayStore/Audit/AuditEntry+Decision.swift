// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import Requirements
import UpgradeRules
import WireFormat

extension Change {
    /// The change's row in the audit trail; nil: it has none. An act has one row for all its effects. Other rows record
    /// another program's request that was taken up, and each change of a campaign's state that no order to that
    /// campaign caused.
    ///
    /// The campaign is left out: only the store knows its public id.
    package func entry(of app: AppKey) -> AuditEntry? {
        func entry(
            _ action: AuditAction, _ object: Version? = nil, from: AuditValues? = nil, to: AuditValues? = nil
        ) -> AuditEntry {
            AuditEntry(action, by: by, of: app, object: object?.text, from: from, to: to)
        }
        func entry(_ action: AuditAction, _ move: Move<CampaignFacts>) -> AuditEntry {
            entry(action, from: Self.state(move.from), to: Self.state(move.to))
        }
        switch kind {
        case .version(.takenUp, let row, _):
            // If a person's release took it up, the row of that act records it.
            guard !row.isReleased else { return nil }
            return entry(
                .versionBump, row.version, to: [row.kind == .latest ? .latest : .required: .string(row.version.text)])
        case .version(.raised, _, _), .version(.announced, _, _), .version(.inForce, _, _),
            .version(.outOfForce, _, _), .version(.widened, _, _), .version(.reworded, _, _),
            .version(.withdrawn, _, _):
            return nil
        case .bumped(let bump, let move):
            let now: AuditValues = bump.isUrgent ? [.now: .bool(true)] : [:]
            return entry(
                .versionBump, bump.required ?? bump.latest ?? move.to.required?.version, from: Self.asked(move.from),
                to: Self.asked(move.to) + now)
        case .blocked(let row, let before):
            return entry(.versionBlock, row.version, from: before.map(Self.texts), to: Self.texts(row))
        case .released(let version, let isNamed, let move):
            // A release that names a version counts as a release of that version's campaign.
            return entry(
                isNamed ? .campaignRelease : .versionRelease, version, from: move.from.map(Self.standing),
                to: move.to.map(Self.standing))
        case .takenBack(let version, let reason, let move):
            return entry(
                .versionWithdraw, version, from: Self.asked(move.from), to: Self.asked(move.to) + Self.reason(reason))
        case .unblocked(let version, let reason, let move):
            return entry(
                .versionUnblock, version, from: move.from.map(Self.standing),
                to: move.to.map(Self.standing).map { $0 + Self.reason(reason) })
        case .created(let campaign, _): return entry(.campaignCreate, to: Self.state(campaign))
        case .moved(let move): return entry(AuditAction(move.to.state), move)
        case .paused(let move): return entry(.campaignPause, move)
        case .resumed(let move): return entry(.campaignResume, move)
        case .cancelled(let move): return entry(.campaignCancel, move)
        case .hurried(let move, isByBump: false): return entry(.campaignHurry, move)
        // The bump's own row records this.
        case .hurried(_, isByBump: true): return nil
        case .waveReleased(let number): return entry(.campaignRelease, to: [.wave: number.map { .integer($0) }])
        case .reopened(let draft, let move):
            return entry(
                draft.action, from: [.state: move.from.map { .string($0.rawValue) }],
                to: [.state: move.to.map { .string($0.rawValue) }] + draft.values)
        case .stageBegan(let move):
            return entry(
                .campaignWave, from: [.percent: move.from.map(Self.percent)],
                to: [.percent: move.to.map(Self.percent)])
        case .waveDone, .canaryDone, .waitsLong: return nil
        case .approval(let approval):
            return approval.action.map { entry($0, approval.wish.version, to: approval.values) }
        }
    }

    // MARK: Values

    private static func reason(_ text: String?) -> AuditValues { [.reason: text.map { .string($0) }] }

    private static func state(_ campaign: CampaignFacts) -> AuditValues {
        [
            .state: .string(campaign.state.rawValue), .reason: campaign.reason.map { .string($0) },
            .now: campaign.urgentAt == nil ? nil : .bool(true),
        ]
    }

    /// The versions that are asked for, and the one in force. Telephones are counted: none is named.
    private static func asked(_ requirements: Requirements) -> AuditValues {
        let (required, latest) = (requirements.required, requirements.latest)
        let texts = requirements.rows.last { $0.id == required?.id || $0.id == latest?.id }
        return [
            .required: required.map { .string($0.version.text) }, .latest: latest.map { .string($0.version.text) },
            .inForce: requirements.inForce.map { .string($0.version.text) },
            .requiredBuild: required?.build.map { .integer($0) }, .latestBuild: latest?.build.map { .integer($0) },
        ] + AuditValues(required?.terms) + [
            .telephoneCount: required?.canary.map { .integer($0.count) }
        ] + (texts.map(Self.texts) ?? [.downloadUrl: nil, .message: nil, .messages: nil])
    }

    private static func texts(_ row: Requirement) -> AuditValues {
        let translations = row.message?.translations ?? []
        return [
            .downloadUrl: row.downloadURL.map { .string($0) }, .message: row.message.map { .string($0.text) },
            .messages: translations.isEmpty
                ? nil
                : .object(translations.map { JSONMember(name: $0.language.text, value: .string($0.text)) }),
        ]
    }

    private static func standing(_ standing: Standing) -> AuditValues {
        [
            .state: .string(standing.state.rawValue), .percent: percent(standing.reach),
            .inForce: standing.inForce.map { .string($0.text) },
        ]
    }

    private static func percent(_ reach: Int) -> JSONValue { .number(WavePlan.percentText(reach)) }
}

extension RoundDraft {
    fileprivate var action: AuditAction {
        if case .retry = cause { .campaignRetry } else { .campaignRemind }
    }

    fileprivate var values: AuditValues {
        switch cause {
        case .retry(let states): [.states: .array(CampaignRound.names(of: states).map { .string($0) })]
        case .reminder(let dueAt): [.dueAt: .string(dueAt.internetTime)]
        }
    }
}

extension Approval {
    /// The action that brings a request into its state; nil: it stands in no entry.
    fileprivate var action: AuditAction? {
        switch state {
        case .open: .approvalAsk
        case .approved: .approvalApprove
        case .refused: .approvalRefuse
        case .alone: .approvalAlone
        case .superseded, .expired: nil
        }
    }

    fileprivate var values: AuditValues {
        [
            .id: .integer(Int(id)), .act: .string(wish.act.rawValue), .askedBy: .string(asked.name),
            .devices: .integer(Int(reach.devices)), .of: .integer(Int(reach.all)),
            .until: state == .open ? .string(until.internetTime) : nil, .reason: reason.map { .string($0) },
        ]
    }
}
