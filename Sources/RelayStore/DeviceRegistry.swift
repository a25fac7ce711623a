// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A device as the registry keeps it.
package struct DeviceRecord: Hashable, Sendable {
    package var id: Int64
    package var registration: DeviceRegistration
    /// When the token was last registered, by this server's clock or as an import has it: what a 410's timestamp is compared
    /// with.
    package var registeredAt: Timestamp
    /// When the push service declared the token dead; nil while it is alive. Registering it after that revives it.
    package var retiredAt: Timestamp?
    /// When the device last told another version or system at login than the registry had, or the same a week or longer after it had last
    /// told any; or when an import has it seen with its version.
    package var seenAt: Timestamp?

    package init(id: Int64, registration: DeviceRegistration, registeredAt: Timestamp, retiredAt: Timestamp?) {
        self.id = id
        self.registration = registration
        self.registeredAt = registeredAt
        self.retiredAt = retiredAt
    }

    /// Who told its version last: the device at login, or a registration, its own or an import's; and when.
    package var versionSource: (isLogin: Bool, at: Timestamp) {
        guard let seenAt, seenAt >= registeredAt else { return (false, registeredAt) }
        return (true, seenAt)
    }
}

package struct UpsertCounts: Hashable, Sendable {
    package var inserted: Int
    package var updated: Int
    /// Known already as they were given: nothing was written.
    package var unchanged: Int
    /// Of all of them: the device told another version since, which stays.
    package var versionsKept: Int

    package init(inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, versionsKept: Int = 0) {
        self.inserted = inserted
        self.updated = updated
        self.unchanged = unchanged
        self.versionsKept = versionsKept
    }

    package var devices: Int { inserted + updated + unchanged }

    package static func += (left: inout UpsertCounts, right: UpsertCounts) {
        left.inserted += right.inserted
        left.updated += right.updated
        left.unchanged += right.unchanged
        left.versionsKept += right.versionsKept
    }
}

/// What the erasure of a user came to.
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

/// The device registry.
package protocol DeviceRegistry: Sendable {
    /// Registers devices, in one transaction: inserts new tokens, updates known ones, revives dead or removed ones. The apps
    /// themselves registered just now: also where nothing else changes, that is the time of their registration from now on.
    ///
    /// A device whose version rises to or above a campaign's requirement after that campaign listed it counts as
    /// `upgraded` there.
    @discardableResult
    func register(_ devices: [DeviceRegistration], at now: Timestamp) throws -> UpsertCounts

    /// Registers a device whose phone had another token, in one transaction: that of `old` is not there afterwards.
    ///
    /// Whoever is logged in on it: a token stands for a phone, not for a user, and to register the old token itself would move it likewise.
    /// Nothing of what the old one was registered with is kept, but its place in each campaign, where the new token was never seen before:
    /// who was pushed to is not pushed to again, and who has yet to be is, with the new token.
    ///
    /// - Parameter old: another one than the device's.
    /// - Returns: whether the new token had no device, and what became of the old one's.
    @discardableResult
    func register(_ device: DeviceRegistration, replacing old: String, at now: Timestamp) throws
        -> (isNew: Bool, replaced: DeviceReplacement)

    /// Takes over what somebody else knows of very many devices, in any order but that of two with the same token the later one
    /// counts. What a row keeps stays as it is, and where nothing changes nothing is written.
    ///
    /// Nobody registered just now: the time of a known device's registration is the row's if that is later, and a dead token is
    /// alive again only if it was registered after its death. A time in the future counts as now.
    ///
    /// Takes as many transactions as it needs so that nobody else who writes meanwhile waits for more than some ten
    /// milliseconds and a commit; takes few where nobody does.
    ///
    /// - Parameters:
    ///   - isDryRun: whether nothing is kept, and only what would have become of the devices is told.
    ///   - stored: called after each transaction, once it is on the disk, with what became of its devices. When the call
    ///     throws, these are registered and no other.
    @discardableResult
    func register(
        _ batch: RegistrationBatch, at now: Timestamp, isDryRun: Bool, stored: (UpsertCounts) -> Void
    ) throws -> UpsertCounts

    /// Registers a device that is known once more, with what is said of it; what is not named stays as it is.
    ///
    /// - Returns: the device as it is then; nil, and nothing is done, where it is unknown or removed.
    func change(_ device: DeviceChange, of app: AppKey, at now: Timestamp) throws -> DeviceRecord?

    func device(_ app: AppKey, token: String) throws -> DeviceRecord?

    /// The devices of an app on which a user is logged in, those registered last first.
    func devices(of app: AppKey, telephone: String, limit: Int) throws -> [DeviceRecord]

    /// The devices of one user or with one token, in every app, ascending by id from `after` (exclusive); where both are
    /// named, those of both. Removed ones are left out, and nothing is found where neither is named.
    func devices(telephone: String?, token: String?, after: Int64, limit: Int) throws -> [DeviceRecord]

    /// Forgets the device's user and never sends to it again. The ledger keeps what was sent. False when unknown.
    func removeDevice(_ app: AppKey, token: String, by actor: Signature) throws -> Bool

    /// Forgets a user, in one transaction: the devices on which the user is logged in are removed, and the telephone goes out of
    /// the ledger's rows and of what is kept of former users. That pushes were sent, to which device and what came of them stays.
    ///
    /// - Parameter isMeant: whether it is done in an app.
    func eraseUser(_ telephone: String, by actor: Signature, where isMeant: (AppKey) -> Bool) throws -> UserErasure

    /// Devices in ascending id, from `after` (exclusive), at most `limit`; nil app means all. Removed ones are left out.
    func devices(of app: AppKey?, after: Int64, limit: Int) throws -> [DeviceRecord]

    /// The devices of an app whose tokens are dead, from behind a place, in the order in which the relay learnt of it. Whose token was
    /// registered again since, or removed, is not among them.
    func deadDevices(of app: AppKey, after place: DeadPlace, limit: Int) throws -> [DeadDevice]
}

/// What a dry run found.
package struct AudienceSurvey: Hashable, Sendable {
    package var audience: Int64 = 0
    package var filteredBy: [FilterReason: Int64] = [:]

    package init() {}

    package var toPush: Int64 { audience - filteredBy.values.reduce(0, +) }
}
