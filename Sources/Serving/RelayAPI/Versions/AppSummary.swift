// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules

/// An app on one platform in one line, for people who follow a rollout and do not operate the relay: what is required, how
/// many have it, how many were pushed to, and who takes the next step. Pure.
package struct AppSummary: Hashable, Sendable {
    /// A number of devices, and the number that they are a part of.
    package struct Share: Hashable, Sendable {
        package var part: Int64
        package var whole: Int64

        package init(_ part: Int64, of whole: Int64) { (self.part, self.whole) = (part, whole) }
    }

    package enum Demand: Hashable, Sendable {
        /// - Parameter latest: the newest version that is announced; nil: none is.
        case nothing(latest: Version?)
        /// - Parameter now: the version that is required until then; nil: none is.
        case coming(UpgradeTarget, now: Version?)
        /// It is in force for some users alone.
        case staged(UpgradeTarget)
        case inForce(UpgradeTarget)
    }

    package enum Pushed: Hashable, Sendable {
        case notYet
        /// Only the users that the bump names.
        case canary
        case share(Share)
    }

    package enum Next: Hashable, Sendable {
        /// Nothing is left to do.
        case nothing
        /// The pushes that are left go out.
        case sending
        /// A person begins the step.
        case decides(Rollout.Step)
        /// A person begins the step once the canary is done.
        case afterCanary(Rollout.Step)
        /// A person begins the step once the present wave is done.
        case afterWave(Rollout.Step)
        /// A person resumes what a person paused.
        case resumes
        /// A person mends what is wrong.
        case mends
        /// It goes on by itself: to this step; nil: to what is left. At this time; nil: not known.
        case goesOn(Rollout.Step?, at: Timestamp?)
        /// It goes on by itself when the app's store offers the version.
        case offer
        /// It goes on by itself when the push service, or the relay's store, takes pushes again.
        case service
        /// A person ended its pushes.
        case cancelled
    }

    package var demand: Demand
    /// Devices that obey: that have the version or a newer one, or have left the blocked one; nil: not known.
    package var obey: Share?
    /// nil: nothing is pushed.
    package var pushed: Pushed?
    package var next: Next

    /// - Parameters:
    ///   - version: nil: nothing was ever stored for the app.
    ///   - campaigns: of the app; others are passed over.
    ///   - shares: the last count of its versions; nil: there was none.
    package init(_ version: VersionStatus?, campaigns: [CampaignStatus], shares: VersionShares?) {
        let rows = version?.record.requirements.takenUp ?? Requirements()
        guard let row = rows.required ?? rows.blocks.first(where: { !rows.isSuperseded($0) }) else {
            self.init(demand: .nothing(latest: rows.announced?.version), next: .nothing)
            return
        }
        let campaign = campaigns.first { $0.record.requirement.id == row.id && $0.record.app == version?.record.app }
        let demand: Demand =
            switch row.state {
            case .inForce: row.isForEverybody ? .inForce(row.target) : .staged(row.target)
            case .asked, .waiting, .announced, .withdrawn:
                .coming(row.target, now: row.kind == .blocked ? nil : rows.inForce?.version)
            }
        self.init(
            demand: demand, obey: Self.obey(row, campaign?.record, shares),
            pushed: campaign.flatMap { Self.pushed($0) }, next: .nothing)
        let wait = campaign?.wait ?? (row.state == .inForce ? nil : Self.wait(of: row, version))
        next = Self.next(wait, campaign, isInForce: row.state == .inForce)
    }

    package init(demand: Demand, obey: Share? = nil, pushed: Pushed? = nil, next: Next) {
        (self.demand, self.obey, self.pushed, self.next) = (demand, obey, pushed, next)
    }

    /// The wait of a row without a campaign.
    private static func wait(of row: Requirement, _ version: VersionStatus?) -> Wait? {
        guard row.kind == .blocked else { return version?.wait?.wait }
        return version?.blocks.first { $0.requirement.id == row.id }?.wait?.wait
    }

    // MARK: Figures

    /// Counted by the campaign once it has looked at each device; before that, by the hourly count.
    private static func obey(_ row: Requirement, _ campaign: CampaignRecord?, _ shares: VersionShares?) -> Share? {
        if let campaign, row.isForEverybody, campaign.figures.isPlanned, campaign.figures.counts.audience > 0,
            campaign.figures.counts.pending == 0
        {
            let counts = campaign.figures.counts
            return Share(min(campaign.alreadyCurrent + campaign.figures.upgraded, counts.audience), of: counts.audience)
        }
        guard let shares, shares.devices > 0 else { return nil }
        let disobey =
            row.kind == .blocked
            ? shares.rows.first { $0.version == row.version }?.devices ?? 0 : shares.devices(below: row.version)
        return Share(max(shares.devices - disobey, 0), of: shares.devices)
    }

    private static func pushed(_ status: CampaignStatus) -> Pushed? {
        let (record, counts) = (status.record, status.counts)
        if record.facts.startedAt == nil { return .notYet }
        if record.isCanary { return .canary }
        return counts.audience > 0 ? .share(Share(counts.accepted, of: counts.audience)) : nil
    }

    // MARK: The next step

    private static func next(_ wait: Wait?, _ campaign: CampaignStatus?, isInForce: Bool) -> Next {
        let step = campaign.flatMap { Rollout($0.record).next }
        switch campaign?.record.state {
        case .completed, .superseded: return .nothing
        case .cancelled: return .cancelled
        case .waiting, .running, .paused, .suspended, nil: break
        }
        switch wait {
        case .release, .approval, .secondPerson: return .decides(step ?? .everybody)
        case .pause: return .resumes
        case .past, .lostStore, .noRoute, .fault: return .mends
        case .store: return .offer
        case .service: return .service
        case .time(let end), .wave(let end): return .goesOn(step, at: end)
        case .hours(let end), .retries(let end): return .goesOn(nil, at: end)
        case .canary: return .afterCanary(step ?? .everybody)
        case nil: break
        }
        guard let campaign else { return isInForce ? .nothing : .goesOn(nil, at: nil) }
        guard let step else { return .sending }
        return campaign.waveRules?.needsApproval == true && campaign.record.facts.startedAt != nil
            ? .afterWave(step) : .goesOn(step, at: nil)
    }
}
