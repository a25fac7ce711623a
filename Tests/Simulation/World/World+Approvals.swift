// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import VersionSources

/// Acts that wait for a second person.
extension World {
    struct Asking {
        /// The requests that the relay has reported: the app's number of each.
        var requests: [(id: Int64, app: Int)] = []
        /// The request that the acting person approves; nil: the act is new.
        var approving: Approval?
        /// The request that the last bump became; nil: it was done, or refused.
        var waiting: Approval?
        /// Why the acting person does not wait for a second one; nil: it does.
        var alone: String?
    }

    /// An act waits: nothing has changed.
    func waits(_ approval: Approval) -> String {
        if !isDying, let app = settings.apps.first(where: { settings.key($0) == approval.app }),
            !asking.requests.contains(where: { $0.id == approval.id })
        {
            asking.requests.append((approval.id, app))
        }
        return "\(approval.asked.name) asks to \(approval.deed): request \(approval.id) waits"
    }

    static func waits(_ applied: AppliedBump) -> Bool {
        if case .applied(let outcome, _) = applied { outcome.waiting != nil } else { false }
    }

    /// Approves a request: mostly as another person, now and then as the one who asked.
    func approve(_ first: Int, _ second: Int) throws -> String? {
        guard let relay, !asking.requests.isEmpty else { return nil }
        // Mostly the newest, which waits; the older ones are closed, or over.
        let age = first % 4 == 0 ? second % asking.requests.count : 0
        let known = asking.requests[asking.requests.count - 1 - age]
        guard let approval = try undisturbed({ try relay.store.approval(known.id) }) else {
            if !isBack, !isDiskFailing {
                model.broke("store.lost", "request \(known.id) was reported, and is not known")
            }
            return nil
        }
        let state = approval.state(at: clock.now.wall)
        if second % 4 == 0 {
            // By the unix name of the same person.
            let same = Principal(approval.asked.person.uppercased(), .session, via: "page")
            _ = try relay.control.approve(approval.id, by: same)
            model.broke("approval.own", "\(same.name) asked for request \(approval.id), and approved it")
            return nil
        }
        asking.approving = approval
        defer { asking.approving = nil }
        let text = try approve(approval, known.app)
        if text != nil, state != .open {
            model.broke("approval.late", "request \(approval.id) is \(state.rawValue), and was approved")
        }
        return text.map { "request \(approval.id) is approved: \($0)" }
    }

    private func approve(_ approval: Approval, _ app: Int) throws -> String? {
        let version = Self.number(of: approval.wish.version.text)
        switch approval.wish.act {
        case .raise:
            let bump = try bump(of: approval)
            var canary = bump.telephones.map { Set($0.compactMap(Phone.user)) }
            if approval.asked.kind == .webhook {
                canary = inheritedCanary(app) ?? (approval.asked.via == "github" ? settings.firstUsers(app) : nil)
            }
            let rose = try apply(bump, app, canary: canary, source: "api")
            return bumped(bump, app, version, canary: canary, by: "api", promised: nil, moment: nil, rose)
        case .block: return try block(app, bump(of: approval), version)
        case .release: return try releaseApp(app)
        case .cancel:
            guard let id = approval.wish.campaign,
                let campaign = try undisturbed({ try relay?.store.campaign(id: id) })
            else { return nil }
            return try cancel(campaign)
        }
    }

    private func bump(of approval: Approval) throws -> VersionBump {
        var bump = try BumpBody.read(Array((approval.wish.body ?? "").utf8), app: approval.app)
        bump.telephones = approval.wish.telephones
        return bump
    }

    /// Approves a bump, and finds what it has come to.
    func approved(
        _ approval: Approval, _ bump: VersionBump, _ app: Int, by actor: Principal
    ) throws -> AppliedBump {
        guard let relay else { return .replayed(StoredAnswer(status: 200, body: [])) }
        func rows() throws -> Requirements {
            try undisturbed { try relay.store.releasable(of: settings.key(app), nil, nil).0 }
        }
        let before = try rows()
        _ = try relay.control.approve(approval.id, by: actor)
        let after = try rows()
        func campaign(of row: Requirement) throws -> CampaignRecord? {
            try undisturbed {
                try relay.store.campaigns(before: nil, limit: 100).first { $0.requirement.id == row.id }
            }
        }
        let new = after.rows.filter { before[$0.id] == nil }
        let floor = new.first { $0.kind == .required }
        let outcome = BumpOutcome(
            record: VersionRecord(settings.key(app), after), requiredRose: floor != nil,
            campaign: try floor.flatMap(campaign),
            blocked: try new.filter { $0.kind == .blocked }.map { .init($0, try campaign(of: $0)) })
        return .applied(outcome, StoredAnswer(status: 200, body: []))
    }

    func cancel(_ campaign: CampaignRecord, by actor: Principal) throws {
        guard let approving = asking.approving else {
            _ = try relay?.control.cancel(campaign: campaign.id, by: actor)
            if let app = app(of: campaign) { judgeSecond(app, release: campaign.requirement, nil) }
            return
        }
        _ = try relay?.control.approve(approving.id, by: actor)
    }

    func refuse(_ first: Int) throws -> String? {
        guard let relay, !asking.requests.isEmpty else { return nil }
        let known = asking.requests[first % asking.requests.count]
        let closed = try acting(.approvalRefuse) {
            try relay.control.refuse(approval: known.id, by: $0, reason: "not now")
        }
        return "request \(closed.id) is refused"
    }

    /// One person has let a version through, or has cancelled its campaign.
    ///
    /// - Parameter before: the requirements before it; nil: it was cancelled.
    func judgeSecond(_ app: Int, release row: Requirement, _ before: Requirements?) {
        // With a canary it reaches some users alone: the model does not count them.
        let old = before?[row.id] ?? row
        if before != nil {
            // The next wave of its campaign does not wait.
            let now = try? undisturbed { try relay?.store.version(of: settings.key(app))?.requirements[row.id] }
            guard let now, now.isReleased != old.isReleased || now.reach != old.reach else { return }
        }
        guard old.canary == nil || before != nil && old.state == .inForce else { return }
        let version = Self.number(of: row.version.text)
        judgeSecond(app) { row.kind == .blocked ? $0 == version : $0.map { $0 < version } ?? true }
    }

    /// One person has done an act, approved or alone or not: it must not have reached more than the share without a second one.
    ///
    /// - Parameter isMeant: whether the act is for a version; nil: an unknown one.
    func judgeSecond(_ app: Int, isMeant: (Int?) -> Bool) {
        guard asking.approving == nil, let eyes = settings.eyes(app), settings.hasApp[app], !isDying, !isDiskFailing,
            !isBack,
            !rowsWereDeleted, unstoredLogins.isEmpty, !wasClockSet
        else { return }
        let least = model.audience(
            app, hasMinimum: false, mayHaveMinimum: true, dead: pushes.calledDead, isMeant: isMeant
        ).least
        let all = model.devices.keys.count { $0.hasPrefix("\(app)/") }
        guard least * 100 > eyes * all else { return }
        if asking.alone != nil {
            if let place = acts.indices.last { acts[place].isAlone = true }
            return
        }
        model.broke(
            "approval.second",
            "\(acts.last?.actor ?? "nobody") reached \(least) of \(all) devices of app \(app) at least, and no second person approved it"
        )
    }
}
