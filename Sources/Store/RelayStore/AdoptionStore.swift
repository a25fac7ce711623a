// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// How devices that obeyed a campaign had been reached, as far as that is known. Updated whenever a device reaches the
/// requirement, so that reading it counts no devices.
package struct CampaignReach: Hashable, Sendable {
    /// Registered devices that were notified at login (`/v1/check` with their token) that they must upgrade. Each
    /// counts once, whether or not it is in the campaign's audience.
    package var toldAtLogin: Int64 = 0
    /// The part of `upgraded` for which the push service had accepted a push, without a notice at login.
    package var push: Int64 = 0
    /// The part of `upgraded` that was notified at login, with no push accepted.
    package var login: Int64 = 0
    /// The part of `upgraded` with both.
    package var both: Int64 = 0
    /// The part of `login` that upgraded before the campaign reached the device; the campaign then filters it as
    /// already current.
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
    /// In order of time; before the first point the number was 0. Empty once the campaign was pruned.
    package var points: [AdoptionPoint]

    package init(record: CampaignRecord, points: [AdoptionPoint]) {
        self.record = record
        self.points = points
    }
}

extension CampaignRecord {
    /// When the campaign started; before that, when it was created.
    package var begunAt: Timestamp { facts.startedAt ?? facts.createdAt }

    /// Devices of the audience that had the version without a notice from the relay.
    package var alreadyCurrent: Int64 { max((figures.filteredBy[.alreadyCurrent] ?? 0) - figures.reach.early, 0) }

    /// Devices of the audience that were not current already, and whose systems the version runs on.
    package var toUpgrade: Int64 {
        max(figures.counts.audience - alreadyCurrent - (figures.filteredBy[.osTooOld] ?? 0), 0)
    }

    /// The part of `upgraded` for which neither an accepted push nor a notice at login is recorded. Older releases
    /// recorded neither.
    package var reachedUnknown: Int64 {
        max(figures.upgraded - figures.reach.push - figures.reach.login - figures.reach.both, 0)
    }
}

/// The adoption of campaigns and versions over time.
package protocol AdoptionStore: Sendable {
    /// The newest started campaign of each app, whatever its state, ordered by id. A campaign that still waits, or was
    /// cancelled while it waited, forces no user and is left out.
    func newestCampaigns() throws -> [CampaignRecord]

    /// Stores a point for each app's newest started campaign where `AdoptionSeries` requires one. Writes nothing where
    /// no number has changed.
    ///
    /// - Returns: how many points are new.
    @discardableResult
    func followAdoption(at now: Timestamp) throws -> Int

    /// The requirements that devices were notified of at login, by device, in the order of their campaigns. Those of
    /// pruned campaigns are gone.
    func toldAtLogin(_ devices: [Int64]) throws -> [Int64: [Version]]

    /// Counts an app's recently seen devices by version, once an hour, and notes an event for each version that has
    /// fallen below the share. Reads every device, in parts; reads none before the hour is over.
    ///
    /// - Returns: whether the count was due.
    @discardableResult
    func followVersions(of app: AppKey, by rules: RetirementRules, at now: Timestamp) throws -> Bool

    /// The last counts of each app. An app that was never counted is missing.
    func versionShares() throws -> [AppKey: VersionShares]

    /// The last counts of one app; nil: it was never counted.
    func versionShares(of app: AppKey) throws -> VersionShares?

    /// nil when there is no such campaign.
    func adoption(of campaign: CampaignKey) throws -> CampaignAdoption?
}
