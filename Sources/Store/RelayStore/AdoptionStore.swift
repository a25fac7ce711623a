// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
package import UpgradeRules

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

    /// The counts of an app that are kept, in order of time (`VersionCourse`). Each count that `followVersions` makes is
    /// kept where it differs from the last one.
    func versionCounts(of app: AppKey) throws -> [VersionCount]

    /// The last counts of each app. An app that was never counted is missing.
    func versionShares() throws -> [AppKey: VersionShares]

    /// The last counts of one app; nil: it was never counted.
    func versionShares(of app: AppKey) throws -> VersionShares?

    /// nil when there is no such campaign.
    func adoption(of campaign: CampaignKey) throws -> CampaignAdoption?
}
