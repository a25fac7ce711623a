// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// How many devices obeyed a campaign, and how they were reached, as far as it can be known. Updated with every device
/// that comes up to the requirement, so that reading it counts no devices.
package struct CampaignReach: Hashable, Sendable {
    /// Registered devices that were notified at login (`/v1/check` with their token) that they must upgrade. Each counts
    /// once, in the campaign's audience or not.
    package var toldAtLogin: Int64 = 0
    /// The part of `upgraded` for which the push service had accepted a push, without a notice at login.
    package var push: Int64 = 0
    /// The part of `upgraded` that was notified at login, with no push accepted.
    package var login: Int64 = 0
    /// The part of `upgraded` with both.
    package var both: Int64 = 0
    /// The part of `login` that upgraded before the campaign came to the device, which it then finds current.
    package var early: Int64 = 0

    package init(toldAtLogin: Int64 = 0, push: Int64 = 0, login: Int64 = 0, both: Int64 = 0, early: Int64 = 0) {
        self.toldAtLogin = toldAtLogin
        self.push = push
        self.login = login
        self.both = both
        self.early = early
    }
}

/// A campaign with the curve of its `upgraded`.
package struct CampaignAdoption: Hashable, Sendable {
    package var record: CampaignRecord
    /// Ascending; before the first the number was 0. Empty once the campaign was pruned.
    package var points: [AdoptionPoint]

    package init(record: CampaignRecord, points: [AdoptionPoint]) {
        self.record = record
        self.points = points
    }
}

extension CampaignRecord {
    /// When the campaign's time began to run: it started, or waits.
    package var begunAt: Timestamp { facts.startedAt ?? facts.createdAt }

    /// Devices of the audience that had the version without a notice from the relay.
    package var alreadyCurrent: Int64 { max((figures.filteredBy[.alreadyCurrent] ?? 0) - figures.reach.early, 0) }

    /// Devices of the audience that were not current already, and whose systems the version runs on.
    package var toUpgrade: Int64 {
        max(figures.counts.audience - alreadyCurrent - (figures.filteredBy[.osTooOld] ?? 0), 0)
    }

    /// The part of `upgraded` that was reached in an unknown way: neither pushed nor notified at login before. An older
    /// release kept no record of either.
    package var reachedUnknown: Int64 {
        max(figures.upgraded - figures.reach.push - figures.reach.login - figures.reach.both, 0)
    }
}

/// How campaigns are obeyed over time.
package protocol AdoptionStore: Sendable {
    /// The newest campaign of each app that has started, whatever its state, by id. A campaign that still waits, or was
    /// cancelled while it waited, forces no user and is left out.
    func newestCampaigns() throws -> [CampaignRecord]

    /// Keeps a point of each newest campaign where `AdoptionSeries` asks for one. Writes nothing where no number has changed.
    ///
    /// - Returns: how many points are new.
    @discardableResult
    func followAdoption(at now: Timestamp) throws -> Int

    /// The requirements that devices were notified of at login, by device, in the order of their campaigns. Those of
    /// pruned campaigns are gone.
    func toldAtLogin(_ devices: [Int64]) throws -> [Int64: [Version]]

    /// Counts the devices of an app that were seen lately, by their versions, once an hour, and notes an event of each version that has
    /// fallen below the share. Reads each device, a part at a time, and nothing where it is not due.
    ///
    /// - Returns: whether it was due.
    @discardableResult
    func followVersions(of app: AppKey, by rules: RetirementRules, at now: Timestamp) throws -> Bool

    /// The last counts of each app. An app that was never counted is missing.
    func versionShares() throws -> [AppKey: VersionShares]

    /// The last counts of one app; nil: it was never counted.
    func versionShares(of app: AppKey) throws -> VersionShares?

    /// nil when there is no such campaign.
    func adoption(of campaign: CampaignKey) throws -> CampaignAdoption?
}
