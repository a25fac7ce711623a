// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// A matter that a person must see first: a decision that waits for a person, or something wrong. Which matters there are,
/// their order and their acts are decided here alone; a user interface adds the words. Pure.
package struct Attention: Sendable {
    /// In the order in which matters are shown.
    package enum Rank: Int, Hashable, Sendable, CaseIterable {
        /// A person decides, as was planned, or must judge another program's request.
        case decision
        /// Something is wrong.
        case trouble
        /// Something will be wrong unless a person acts.
        case warning
    }

    package enum Subject: Sendable {
        case campaign(CampaignStatus)
        /// A version that waits without a campaign, and the reason for people.
        case version(AppKey, Requirement, reason: String)
        /// A relay that fell silent, and that no other has replaced.
        case relay(NodeRecord)
        case fault(ReadinessFault)
    }

    package let rank: Rank
    package let subject: Subject
    /// The name of the person or machine that asked for the version; nil: not known, or nothing was asked for.
    package private(set) var asker: String?
    package private(set) var askedAt: Timestamp?
    /// Since when it waits, or is wrong; nil: not known.
    package private(set) var since: Timestamp?
    /// The acts of a person that are possible, the expected one first.
    package private(set) var acts: [ActKind] = []
    /// The devices of the step that waits, those that need no push among them; nil: not counted.
    package private(set) var stepDevices: Int64?
    /// The app's devices that do not have the version, by the last hourly count; nil: not counted.
    package private(set) var lacking: Int64?

    private init(_ rank: Rank, _ subject: Subject) { (self.rank, self.subject) = (rank, subject) }

    /// All matters of a look. Decisions come first, of these the one that has waited longest.
    ///
    /// - Parameters:
    ///   - nodes: the relays of the store; empty: the relay is alone.
    ///   - requests: the acts that wait for a second person. A decision that is asked for already is left to that person.
    package static func all(
        in overview: Overview, relays nodes: [NodeRecord], askedFor requests: [Approval] = []
    ) -> [Attention] {
        let matters =
            overview.campaigns.compactMap { campaign($0, in: overview) }
            + overview.apps.flatMap { versions($0, in: overview) }
            + NodeRecord.lost(among: nodes).map(relay)
            + overview.faults.map { Attention(.trouble, .fault($0)) }
            + warnings(overview.warnings, nodes).map { Attention(.warning, .fault($0)) }
        // Equal ones stay in the order above.
        return matters.filter { matter in !requests.contains(where: { matter.isAsked(by: $0) }) }.enumerated().sorted {
            left, right in
            (left.element.rank.rawValue, left.element.urgency, left.offset)
                < (right.element.rank.rawValue, right.element.urgency, right.offset)
        }
        .map(\.element)
    }

    package func isAbout(_ campaign: CampaignRecord) -> Bool {
        if case .campaign(let status) = subject { status.record.key == campaign.key } else { false }
    }

    package func isAbout(versionOf app: AppKey) -> Bool {
        if case .version(app, _, _) = subject { true } else { false }
    }

    /// Whether the request is for the expected act: to ask for it again would only take the request's place.
    private func isAsked(by request: Approval) -> Bool {
        guard rank == .decision, request.wish.act == .release else { return false }
        return switch subject {
        case .campaign(let status):
            acts.first == .approve && status.record.app == request.app
                && status.record.requirement.version == request.wish.version
        case .version(let app, let row, _): app == request.app && row.version == request.wish.version
        case .relay, .fault: false
        }
    }

    /// A decision without a known beginning comes after the others.
    private var urgency: Int64 { rank == .decision ? since?.milliseconds ?? .max : 0 }

    // MARK: The kinds of matters

    private static func campaign(_ status: CampaignStatus, in overview: Overview) -> Attention? {
        let record = status.record
        let origin = overview.origins[record.id]
        let rank: Rank
        switch status.standing {
        case .person: rank = .decision
        case .trouble: rank = .trouble
        case .planned, nil: return nil
        }
        var matter = Attention(rank, .campaign(status))
        (matter.asker, matter.askedAt) = (origin?.asker, record.requirement.askedAt)
        matter.since = status.heldSince ?? (record.state == .suspended ? origin?.suspendedAt : nil)
        let expected = record.isHeldBeforeWave ? .approve : status.wait?.kind.expectedAct
        let acts = record.acts.filter { !record.isApproval(byAnotherWord: $0) }
        matter.acts = acts.filter { $0 == expected } + acts.filter { $0 != expected }
        if record.figures.waves.areBetween {
            matter.stepDevices = record.figures.waves.next?.devices
        } else if record.isCanary, Rollout(record).next == .everybody {
            matter.stepDevices = status.counts.pending
        }
        matter.lacking = lacking(record.requirement, of: record.app, in: overview)
        return matter
    }

    /// Versions that wait and have no campaign that says so.
    private static func versions(_ app: Overview.App, in overview: Overview) -> [Attention] {
        guard let version = app.version else { return [] }
        let rows = version.record.requirements
        // A release, or a withdrawal, that names no version is about another row where there is one.
        func acts(on row: Requirement) -> [ActKind] {
            if row.kind == .latest { return [] }
            let isNext = rows.waiting.isEmpty && rows.waiting(.blocked).isEmpty && rows.staged == nil
            let isOnly = isNext || row.isAccepted && rows.waiting.first?.id == row.id
            let end: ActKind? = row.kind == .blocked ? .unblock : rows.required?.id == row.id ? .withdraw : nil
            return (isOnly ? [.release] : []) + [end].compactMap(\.self)
        }
        var matters = rows.rows.compactMap { row -> Attention? in
            // Without a reason, the relay has not looked at it yet.
            guard row.state == .asked, let reason = row.reason else { return nil }
            var matter = Attention(.decision, .version(app.key, row, reason: reason))
            matter.asker = row.changed.by == Principal.nameless ? nil : row.changed.by
            (matter.askedAt, matter.since) = (row.askedAt, row.changed.at)
            matter.acts = acts(on: row)
            matter.lacking = lacking(row, of: app.key, in: overview)
            return matter
        }
        if let wait = version.wait, wait.wait?.standing == .trouble, let row = rows.waitingRow,
            !overview.campaigns.contains(where: { $0.record.requirement.id == row.id && $0.record.app == app.key })
        {
            var matter = Attention(.trouble, .version(app.key, row, reason: wait.reason))
            (matter.asker, matter.askedAt) = (row.changed.by, row.askedAt)
            matter.acts = acts(on: row)
            matters.append(matter)
        }
        return matters
    }

    private static func lacking(_ row: Requirement, of app: AppKey, in overview: Overview) -> Int64? {
        guard let shares = overview.shares[app], shares.devices > 0, row.kind != .blocked else { return nil }
        return shares.devices(below: row.version)
    }

    private static func relay(_ node: NodeRecord) -> Attention {
        var matter = Attention(.trouble, .relay(node))
        matter.since = node.aliveUntil
        return matter
    }

    /// The warnings without the one about lost relays, each of which is a matter of its own.
    private static func warnings(_ all: [ReadinessFault], _ nodes: [NodeRecord]) -> [ReadinessFault] {
        guard let loss = NodeRecord.loss(among: nodes) else { return all }
        return all.filter { $0.reason != loss }
    }
}

extension Requirements {
    /// The row that the app's wait is about: the required version, or else the newest one.
    fileprivate var waitingRow: Requirement? {
        [required, latest].compactMap(\.self).first { $0.state == .waiting || $0.state == .announced }
    }
}

extension CampaignStatus {
    /// The kind of event that ends its wait; nil where it moves, or is over.
    package var standing: Wait.Standing? { wait?.standing ?? (record.state == .suspended ? .trouble : nil) }

    /// Since when it waits for a person, as far as the campaign itself records it.
    package var heldSince: Timestamp? {
        let waves = record.figures.waves
        return switch wait?.kind {
        case .pause: record.facts.pausedAt
        case .release: record.figures.canaryEndedAt
        case .approval: waves.current?.heldAt ?? waves.current?.endedAt
        case .fault where record.facts.cause == .stageFailed: waves.current?.heldAt
        default: nil
        }
    }
}

extension Wait.Kind {
    /// The act of a person that ends it; nil: no act does.
    fileprivate var expectedAct: ActKind? {
        switch self {
        case .pause, .fault, .hours: .resume
        case .store, .time, .lostStore, .wave, .canary, .release, .approval: .approve
        case .past, .noRoute, .service, .secondPerson, .retries: nil
        }
    }
}
