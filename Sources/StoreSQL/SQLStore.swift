// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Telemetry

/// A store in a database that speaks SQL: what is not on a hot path is written once, here, for every driver.
package protocol SQLStore: RelayStore {
    associatedtype Connection: SQLConnection

    /// Where the public ids of campaigns come from.
    var random: RandomSource { get }
    /// Gets a line for each change of what is required.
    var log: Log { get }

    /// One snapshot, for methods of more than one statement. `doing` becomes the error's context.
    func read<R: Sendable>(_ doing: String, _ body: (Connection) throws -> R) throws -> R

    /// For methods of one statement.
    func readOnce<R: Sendable>(_ doing: String, _ body: (Connection) throws -> R) throws -> R

    /// The device of a token in each app that has it, ascending by id.
    func devices(token: String, _ connection: Connection) throws -> [ListedDevice]

    /// One transaction, which has to itself what `lock` says. Of a relay that was fenced it does nothing.
    ///
    /// - Throws: `StoreError`, `.fenced`.
    func write<R: Sendable>(_ doing: String, lock: WriteLock, _ body: (Connection) throws -> R) throws -> R

    /// The last step of the schema that this release knows.
    var newestStep: Int64 { get }

    /// What the leases of relays count by; nil: the database's own clock.
    var storeClock: Timestamp? { get }

    /// What keeps this relay's lease: it is over soon, one way or the other.
    ///
    /// - Parameter isOneStatement: it needs no transaction, and may be done twice.
    func keepLease<R: Sendable>(_ doing: String, isOneStatement: Bool, _ body: (Connection) throws -> R) throws -> R

    /// Ends what a relay has open with the store, as seen from there.
    func endSessions(of node: Int64) throws
}

/// What a transaction has to itself for as long as it goes on. A driver with one writer has everything.
package enum WriteLock: Sendable {
    /// Its rows alone.
    case rows
    /// All that is decided of an app: what is required, and its campaigns.
    case app(AppKey)
    /// The same of the app that the campaign is of.
    case campaign(CampaignKey)
}

extension SQLStore {
    func keepLease<R: Sendable>(_ doing: String, _ body: (Connection) throws -> R) throws -> R {
        try keepLease(doing, isOneStatement: false, body)
    }
}
