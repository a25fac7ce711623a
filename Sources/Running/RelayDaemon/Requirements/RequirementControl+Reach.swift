// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import VersionSources

/// How many devices an act reaches (`RequirementControl+Approvals`), found at the lowest cost:
///
/// | an act that | reads |
/// |---|---|
/// | reaches no more than the share, by the counts of versions that the store keeps, or by the numbers of a short canary | a row for each version, or for each number |
/// | waits already, or was refused to a machine | the request |
/// | is another one, or is approved | every device of the app, once |
///
/// Reading every device takes some 20 s for a million. It takes a thread from those that serve all apps, so that at most
/// two do it at a time; the next act is refused with the time to wait.
extension RequirementControl {
    /// The longest canary whose devices are looked up by their numbers.
    private static let longestCanary = 1000
    /// The most devices of one number that are looked up.
    private static let mostOfUser = 1000

    func measure(
        _ bump: VersionBump, by actor: Signature, in surroundings: RequirementMachine.Surroundings,
        _ acting: Acting, _ rule: ApprovalRule?
    ) throws -> Measured {
        let stored = try store.releasable(of: bump.app, nil, nil).0
        var (machine, surroundings) = (RequirementMachine(stored, campaigns: []), surroundings)
        surroundings.draft = nil
        // A bump that is refused is refused by the decision itself, with its reason.
        guard (try? machine.reduce(.asked(bump), by: actor, in: surroundings)) != nil else {
            return Measured(before: stored)
        }
        let meant = machine.bump ?? bump
        let audience = ReachedAudience(meant, in: machine.requirements)
        guard let row = audience.floor ?? audience.blocks.first else { return Measured(before: stored) }
        var wish = Approval.Wish(audience.floor == nil ? .block : .raise, row.version, isUrgent: bump.isUrgent)
        (wish.body, wish.telephones) = (BumpBody.text(of: bump), bump.telephones)
        let rows = [audience.floor].compactMap(\.self) + audience.blocks
        let canary = audience.blocks.isEmpty ? meant.telephones : nil
        let reach = try reach(of: wish, rows.map(\.target), canary, bump.app, acting, rule) {
            audience.contains($0, in: $1) ? nil : .notInAudience
        }
        return Measured(before: stored, act: reach.map { (wish, $0) })
    }

    func measure(
        releasing version: Version?, _ kind: Requirement.Kind?, of app: AppKey, isUrgent: Bool, _ acting: Acting,
        _ rule: ApprovalRule?
    ) throws -> Measured {
        let (stored, found) = try store.releasable(of: app, version, kind)
        // Another program asked for it, and this person is the second one.
        guard let row = found, row.state != .asked || row.changed.by.lowercased() == acting.actor.person else {
            return Measured(before: stored)
        }
        var wish = Approval.Wish(.release, row.version, isUrgent: isUrgent)
        wish.kind = row.kind
        let isOfCanary = row.reach == 0 && row.state != .inForce
        return Measured(
            before: stored,
            act: try reach(of: row, isOfCanary: isOfCanary, wish, app, acting, rule).map { (wish, $0) })
    }

    func measure(cancelling campaign: CampaignRecord, _ acting: Acting, _ rule: ApprovalRule?) throws -> Measured {
        let stored = try store.releasable(of: campaign.app, nil, nil).0
        guard !campaign.state.isFinal, let row = stored[campaign.requirement.id] else {
            return Measured(before: stored)
        }
        var wish = Approval.Wish(.cancel, row.version)
        wish.campaign = campaign.id
        return Measured(
            before: stored,
            act: try reach(of: row, isOfCanary: row.reach == 0, wish, campaign.app, acting, rule).map { (wish, $0) })
    }

    private func reach(
        of row: Requirement, isOfCanary: Bool, _ wish: Approval.Wish, _ app: AppKey, _ acting: Acting,
        _ rule: ApprovalRule?
    ) throws -> ApprovalReach? {
        let canary = isOfCanary ? row.canary ?? [] : nil
        let filter = AudienceFilter(row, telephones: canary)
        return try reach(of: wish, [row.target], canary, app, acting, rule) { filter.reason(against: $0, in: $1) }
    }

    /// - Parameters:
    ///   - targets: a device that it reaches is concerned by one of them.
    ///   - canary: the numbers of the only users that it reaches; nil: it reaches others, too.
    ///   - judge: why a device is not reached.
    /// - Returns: nil: it reaches no more than one person may.
    /// - Throws: a 503 where others are counted already.
    private func reach(
        of wish: Approval.Wish, _ targets: [UpgradeTarget], _ canary: [String]?, _ app: AppKey, _ acting: Acting,
        _ rule: ApprovalRule?, judge: (DeviceRow, borrowing DeviceRows) -> FilterReason?
    ) throws -> ApprovalReach? {
        if acting.approval == nil, let rule {
            if let most = try most(targets, canary, app), !rule.wantsSecondPerson(for: most) { return nil }
            if acting.actor.alone == nil, let known = try store.lastApproval(wish.act, of: app),
                rule.wantsSecondPerson(for: known.reach), known.isAnswer(to: wish, by: acting.actor, at: clock())
            {
                return known.reach
            }
        }
        let slot = try counting.take(
            for: app.app,
            busy: "the devices of two other acts are being counted, which takes as long as their apps have devices; "
                + "nothing was done",
            retryAfter: 5)
        defer { withExtendedLifetime(slot) {} }
        let survey = try store.survey(app, judge: judge)
        return ApprovalReach(devices: survey.toPush, of: survey.audience)
    }

    /// The most devices that it can reach, without a look at them: dead tokens and devices without a phone number count, too.
    ///
    /// - Returns: nil: that is not known.
    private func most(_ targets: [UpgradeTarget], _ canary: [String]?, _ app: AppKey) throws -> ApprovalReach? {
        guard case .number(let all)? = try store.facts(.required(app), at: clock()).facts[.devices] else { return nil }
        if let canary {
            guard canary.count <= Self.longestCanary else { return nil }
            var devices: Int64 = 0
            for telephone in Set(canary) {
                let count = try store.devices(of: app, telephone: telephone, limit: Self.mostOfUser).count
                guard count < Self.mostOfUser else { return nil }
                devices += Int64(count)
            }
            return ApprovalReach(devices: devices, of: all)
        }
        let seen = try store.seenVersions(of: app)
        func isConcerned(_ version: Version?) -> Bool { targets.contains { $0.concerns(version) } }
        // Versions that are not listed, of more than a thousand, count as concerned.
        let others = seen.versions.reduce(isConcerned(nil) ? 0 : seen.unknown) {
            $0 + (isConcerned($1.version) ? 0 : $1.devices)
        }
        return ApprovalReach(devices: all - others, of: all)
    }
}
