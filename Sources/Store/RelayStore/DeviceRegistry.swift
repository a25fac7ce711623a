// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import Requirements

/// A device as the registry keeps it.
package struct DeviceRecord: Hashable, Sendable {
    package var id: Int64
    package var registration: DeviceRegistration
    /// When the token was last registered, by this server's clock or as an import gives it. A 410's timestamp is
    /// compared with it.
    package var registeredAt: Timestamp
    /// When the push service declared the token dead; nil while it is alive. Registering it after that revives it.
    package var retiredAt: Timestamp?
    /// When the device last reported at login a version or system other than the registry's, or the same ones a week or
    /// longer after its last report; or when, according to an import, it was seen with its version.
    package var seenAt: Timestamp?

    package init(id: Int64, registration: DeviceRegistration, registeredAt: Timestamp, retiredAt: Timestamp?) {
        self.id = id
        self.registration = registration
        self.registeredAt = registeredAt
        self.retiredAt = retiredAt
    }

    /// The source of its version (a login, or a registration, its own or an import's) and when it was reported.
    package var versionSource: (isLogin: Bool, at: Timestamp) {
        guard let seenAt, seenAt >= registeredAt else { return (false, registeredAt) }
        return (true, seenAt)
    }
}

package struct UpsertCounts: Hashable, Sendable {
    package var inserted: Int
    package var updated: Int
    /// Known already with the same values: nothing was written.
    package var unchanged: Int
    /// The devices among all of these that kept their version, because the batch's was out of date.
    package var versionsKept: Int

    package init(inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, versionsKept: Int = 0) {
        self.inserted = inserted
        self.updated = updated
        self.unchanged = unchanged
        self.versionsKept = versionsKept
    }

    package var devices: Int { inserted + updated + unchanged }

    /// Counts a known device.
    package mutating func count(_ verdict: DeviceRule.Verdict) {
        switch verdict {
        case .unchanged(let isVersionKept):
            unchanged += 1
            if isVersionKept { versionsKept += 1 }
        case .update(let update):
            updated += 1
            if update.isVersionKept { versionsKept += 1 }
        }
    }

    package static func += (left: inout UpsertCounts, right: UpsertCounts) {
        left.inserted += right.inserted
        left.updated += right.updated
        left.unchanged += right.unchanged
        left.versionsKept += right.versionsKept
    }
}

/// The result of a user's erasure.
package struct UserErasure: Hashable, Sendable {
    /// Devices that were removed.
    package var devices: Int64 = 0
    /// Rows of the ledger that named the user, and do not any more.
    package var deliveries: Int64 = 0
    /// Devices that were known to have been the user's before.
    package var former: Int64 = 0

    package init(devices: Int64 = 0, deliveries: Int64 = 0, former: Int64 = 0) {
        self.devices = devices
        self.deliveries = deliveries
        self.former = former
    }
}

package protocol DeviceRegistry: Sendable {
    /// Registers devices, in one transaction: inserts new tokens, updates known ones, revives dead or removed ones. The
    /// apps register at this moment, so `now` becomes the time of registration even where nothing else changes.
    ///
    /// A device that a campaign has included, and whose version then rises to its requirement or above, counts as
    /// `upgraded` there.
    @discardableResult
    func register(_ devices: [DeviceRegistration], at now: Timestamp) throws -> UpsertCounts

    /// Registers a device whose phone had another token, in one transaction. The token `old` is gone afterwards.
    ///
    /// This holds whichever user is logged in: a token stands for a phone, not for a user, and another registration of
    /// the old token could change the user, too. The old token's values are not kept, but its place in each campaign is
    /// kept if the new token was never seen before: a phone that got its push gets no second one, and a phone that has
    /// yet to get it does, with the new token.
    ///
    /// - Parameter old: a token other than the device's.
    /// - Returns: whether the new token had no device, and what became of the old token's device.
    @discardableResult
    func register(_ device: DeviceRegistration, replacing old: String, at now: Timestamp) throws
        -> (isNew: Bool, replaced: DeviceReplacement)

    /// Takes over another system's data about very many devices, in any order, except that of two rows with the same
    /// token the later one counts. A row's `kept` fields stay as they are, and where nothing changes nothing is written.
    ///
    /// No app registers at this moment: a known device's time of registration becomes the row's if that is later, and a
    /// dead token is alive again only if it was registered after its death. A time in the future counts as now.
    ///
    /// Takes as many transactions as it needs so that no other writer waits for more than about ten milliseconds and a
    /// commit; takes few where no other writer waits.
    ///
    /// - Parameters:
    ///   - isDryRun: whether nothing is kept, and only the counts that would result are returned.
    ///   - stored: called after each transaction, once it is on the disk, with the counts of its devices. When the call
    ///     throws, only these are registered.
    @discardableResult
    func register(
        _ batch: RegistrationBatch, at now: Timestamp, isDryRun: Bool, stored: (UpsertCounts) -> Void
    ) throws -> UpsertCounts

    /// Registers a known device once more, with the fields that are named. The others stay as they are.
    ///
    /// - Returns: the device as it is then; nil, with nothing done, where it is unknown or removed.
    func change(_ device: DeviceChange, of app: AppKey, at now: Timestamp) throws -> DeviceRecord?

    func device(_ app: AppKey, token: String) throws -> DeviceRecord?

    /// The devices of an app on which a user is logged in, those registered last first.
    func devices(of app: AppKey, telephone: String, limit: Int) throws -> [DeviceRecord]

    /// The devices of one user or with one token, in every app, ascending by id from `after` (exclusive); where both
    /// are named, the devices that match both. Removed ones are left out, and nothing is found where neither is named.
    func devices(telephone: String?, token: String?, after: Int64, limit: Int) throws -> [DeviceRecord]

    /// Forgets the device's user and never sends to it again. The ledger keeps what was sent. False when unknown.
    func removeDevice(_ app: AppKey, token: String, by actor: Signature) throws -> Bool

    /// Forgets a user, in one transaction: removes the devices on which the user is logged in, and erases the
    /// telephone from the ledger's rows and from the records of former users. The ledger keeps which devices were
    /// sent pushes, and the results.
    ///
    /// - Parameter isMeant: whether the user is forgotten in this app.
    func eraseUser(_ telephone: String, by actor: Signature, where isMeant: (AppKey) -> Bool) throws -> UserErasure

    /// Devices in ascending id, from `after` (exclusive), at most `limit`; nil app means all. Removed ones are left out.
    func devices(of app: AppKey?, after: Int64, limit: Int) throws -> [DeviceRecord]

    /// The devices of an app whose tokens are dead, behind `place`, in the order in which the relay learnt that they
    /// are. Tokens that were registered again since, or removed, are left out.
    func deadDevices(of app: AppKey, after place: DeadPlace, limit: Int) throws -> [DeadDevice]
}

/// The result of a dry run.
package struct AudienceSurvey: Hashable, Sendable {
    package var audience: Int64 = 0
    package var filteredBy: [FilterReason: Int64] = [:]

    package init() {}

    package var toPush: Int64 { audience - filteredBy.values.reduce(0, +) }
}
