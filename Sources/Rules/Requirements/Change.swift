// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
import WireFormat

/// One change of an app's versions or campaigns: the only source for the log, the audit trail and the receivers of
/// events, which are given views of it: `line`, `entry`, `notices`. `RequirementMachine` yields the changes of a
/// decision.
package struct Change: Hashable, Sendable {
    package var kind: Kind
    /// The actor that caused it: a person or a machine, another program by its name, a store, the relay.
    package var by: Signature
    /// The requirement that the change, or the changed campaign, is about; nil: none. Below 0 where it is not stored
    /// yet.
    package var requirement: Int64?
    /// The campaign of a version, which its line in the log names; nil: it has none.
    package var campaign: CampaignRecord?

    package init(_ kind: Kind, by: Signature, requirement: Int64?) {
        (self.kind, self.by, self.requirement) = (kind, by, requirement)
    }

    /// A request with the requirement that it is about, so that it stands in the history of that one's campaign; any other
    /// change as it is.
    package func placed(in requirements: Requirements) -> Change {
        guard case .approval(let approval) = kind else { return self }
        var change = self
        change.requirement = approval.wish.requirement(in: requirements)
        return change
    }

    package enum Kind: Hashable, Sendable {
        // MARK: Versions

        /// A step of a version, the row after it, and one of the app's versions before and after it: the required one;
        /// the one in force, where a requirement comes into force, goes out of force or is widened; the latest, for a
        /// `latest`; nil, for a block.
        case version(VersionStep, Requirement, Move<Version?>)

        // MARK: Acts on versions, each as a whole: its effects are changes of their own

        /// A bump has altered something that it asks for, or has hurried a campaign.
        case bumped(VersionBump, Move<Requirements>)
        /// - Parameter before: nil: it was not blocked.
        case blocked(Requirement, before: Requirement?)
        /// - Parameter isNamed: whether the act named the version, and not only its app.
        case released(Version, isNamed: Bool, Move<Standing?>)
        case takenBack(Version, reason: String?, Move<Requirements>)
        case unblocked(Version, reason: String?, Move<Standing?>)

        // MARK: Campaigns

        /// - Parameter isInForce: whether its requirement is in force for everybody already.
        case created(CampaignFacts, isInForce: Bool)
        /// The campaign changed its state for any reason other than an operator's order to it.
        case moved(Move<CampaignFacts>)
        // The orders of a person.
        case paused(Move<CampaignFacts>)
        case resumed(Move<CampaignFacts>)
        case cancelled(Move<CampaignFacts>)
        /// - Parameter isByBump: whether a bump ordered it, rather than a person's order to the campaign.
        case hurried(Move<CampaignFacts>, isByBump: Bool)
        /// A wave is allowed to begin: its number, from 1.
        case waveReleased(Int64?)
        case reopened(RoundDraft, Move<CampaignState?>)
        // The sender's progress.
        /// A wave begins: the reach of the requirement, in ten-thousandths of the users.
        case stageBegan(Move<Int?>)
        case waveDone
        case canaryDone
        /// Its store has not offered the version for a day.
        case waitsLong

        /// A request for a second person was made, approved or refused, or one person acted alone: as it is now.
        case approval(Approval)
    }

    /// A step of one version, as the log names it.
    package enum VersionStep: String, Hashable, Sendable, CaseIterable {
        /// It was asked for.
        case raised
        /// Another program had written it, and it is taken up.
        case takenUp
        /// Its store offers it, and no user is forced yet.
        case announced
        case inForce
        /// Its store has stopped offering it.
        case outOfForce
        /// It is in force for more users than before.
        case widened
        /// Its address, its message, its moment or its oldest system has changed.
        case reworded
        case withdrawn
    }

    /// The same thing before and after.
    package struct Move<Thing: Hashable & Sendable>: Hashable, Sendable {
        package var from: Thing
        package var to: Thing

        package init(from: Thing, to: Thing) { (self.from, self.to) = (from, to) }
    }

    /// A requirement's state, its reach, and the version in force for everybody beside it.
    package struct Standing: Hashable, Sendable {
        package var state: Requirement.State
        package var reach: Int
        package var inForce: Version?

        package init(_ row: Requirement, in requirements: Requirements) {
            (state, reach, inForce) = (row.state, row.reach, requirements.inForce?.version)
        }
    }
}

// MARK: The log

extension Change {
    package struct Line: Sendable {
        package var message: StaticString
        /// Whether users who must have a version cannot get it any more.
        package var isGrave: Bool
        package var fields: [(name: String, value: String)]
    }

    /// Its line in the log; nil: it has none. Acts and campaigns are logged by the API and the sender.
    package func line(of app: AppKey) -> Line? {
        switch kind {
        case .version(let step, let row, let move):
            Line(
                message: row.kind == .latest ? "the latest version changed" : "what is required changed",
                isGrave: step == .outOfForce && row.kind != .latest, fields: fields(step, row, move, app))
        case .approval(let approval): line(approval, of: app)
        case .bumped, .blocked, .released, .takenBack, .unblocked, .created, .moved, .paused, .resumed, .cancelled,
            .hurried, .waveReleased, .reopened, .stageBegan, .waveDone, .canaryDone, .waitsLong:
            nil
        }
    }

    private func line(_ approval: Approval, of app: AppKey) -> Line? {
        let message: StaticString
        switch approval.state {
        case .open: message = "an act waits for a second person"
        case .approved: message = "a second person approved an act"
        case .refused: message = "a second person refused an act"
        case .alone: message = "one person acted alone, without a second one"
        case .superseded, .expired: return nil
        }
        let fields = [
            ("app", app.app), ("platform", app.platform.rawValue), ("request", String(approval.id)),
            ("act", approval.deed), ("devices", "\(approval.reach.devices) of \(approval.reach.all)"),
            ("asked", approval.asked.name), ("by", by.by), ("via", by.via),
        ]
        return Line(
            message: message, isGrave: approval.state == .alone,
            fields: fields + (approval.reason.map { [("reason", $0)] } ?? []))
    }

    private func fields(
        _ step: VersionStep, _ row: Requirement, _ move: Move<Version?>, _ app: AppKey
    ) -> [(name: String, value: String)] {
        var fields = [("app", app.app), ("platform", app.platform.rawValue), ("change", step.rawValue)]
        if row.kind == .blocked { fields.append(("kind", row.kind.rawValue)) }
        fields.append(("version", row.version.text))
        if row.kind != .blocked {
            fields += [("from", move.from?.text ?? "nothing"), ("to", move.to?.text ?? "nothing")]
        }
        fields += [("state", row.state.rawValue), ("reach", Self.words(reach: row))]
        if let campaign {
            fields += [("campaign", campaign.id), ("devices", String(campaign.figures.counts.audience))]
        }
        fields += [("by", row.changed.by), ("via", row.changed.via)]
        for field in RequirementField.allCases {
            if let value = row.terms[field] { fields.append((field.name.description, value.text)) }
        }
        if let reason = row.reason { fields.append(("reason", reason)) }
        return fields
    }

    /// The users that it is for: "everybody", "3 phone numbers", "12.5 percent".
    private static func words(reach row: Requirement) -> String {
        switch row.reach {
        case 0: Counted.text(row.canary?.count ?? 0, "phone number")
        case Requirement.everybody: "everybody"
        default: "\(WavePlan.percentText(row.reach)) percent"
        }
    }
}

// MARK: Receivers

extension Change {
    /// The events that the change causes for receivers. A requirement's events belong to its campaign: without one they
    /// are not sent.
    package var notices: [EventType] {
        switch kind {
        case .version(let step, let row, _):
            switch step {
            case .withdrawn: [.withdrawn]
            case .reworded: []
            case .raised, .takenUp, .announced, .inForce, .outOfForce, .widened: row.isForEverybody ? [.inForce] : []
            }
        case .created(let campaign, let isInForce):
            // A campaign that ends in the decision that creates it is first reported as waiting.
            (campaign.state.isFinal ? [.waiting] : []) + [EventType(campaign.state)]
                // The requirement above it was withdrawn, or the app had no push service until now: no earlier event
                // reported it as in force.
                + (isInForce ? [.inForce] : [])
        case .moved(let move), .paused(let move), .resumed(let move), .cancelled(let move),
            .hurried(let move, isByBump: false):
            move.from.state == move.to.state ? [] : [EventType(move.to.state)]
        case .reopened(_, let move): move.from == move.to ? [] : [move.to.map { EventType($0) }].compactMap(\.self)
        case .waveDone: [.waveDone]
        case .canaryDone: [.canaryDone]
        case .waitsLong: [.waitsLong]
        // They are events of an app: there need be no campaign.
        case .approval: []
        case .bumped, .blocked, .released, .takenBack, .unblocked, .hurried, .stageBegan, .waveReleased: []
        }
    }

    /// The event of a request for a second person; nil: it is no such change.
    package var approvalNotice: (type: EventType, approval: Approval)? {
        guard case .approval(let approval) = kind, let type = EventType(approval.state) else { return nil }
        return (type, approval)
    }

    /// The events of changes in the order in which receivers get them, each with its requirement: the campaigns'
    /// states, then all others. `inForce` comes last, and once for each requirement.
    package static func noted(_ changes: [Change]) -> [(type: EventType, requirement: Int64)] {
        var (states, others, forces): ([(type: EventType, requirement: Int64)], [(EventType, Int64)], Set<Int64>) = (
            [], [], []
        )
        for change in changes {
            guard let requirement = change.requirement else { continue }
            for type in change.notices {
                if type == .inForce {
                    forces.insert(requirement)
                } else if type.state != nil {
                    states.append((type, requirement))
                } else {
                    others.append((type, requirement))
                }
            }
        }
        return states + others + forces.sorted().map { (.inForce, $0) }
    }
}
