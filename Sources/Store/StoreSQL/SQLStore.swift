// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
package import Telemetry

/// A store in an SQL database: all code outside the hot paths is written once, here, for every driver.
package protocol SQLStore: RelayStore {
    associatedtype Connection: SQLConnection

    /// The source of campaigns' public ids.
    var random: RandomSource { get }
    /// Receives a line for each change of what is required.
    var log: Log { get }

    /// Reads one snapshot, for methods of more than one statement. `doing` becomes the error's context.
    func read<R: Sendable>(_ doing: String, _ body: (Connection) throws -> R) throws -> R

    /// Reads without a snapshot, for methods of one statement.
    func readOnce<R: Sendable>(_ doing: String, _ body: (Connection) throws -> R) throws -> R

    /// The device of a token in each app that has it, ascending by id.
    func devices(token: String, _ connection: Connection) throws -> [ListedDevice]

    /// Runs one transaction under `lock`. Writes nothing if this relay was fenced.
    ///
    /// - Throws: `StoreError`, `.fenced`.
    func write<R: Sendable>(_ doing: String, lock: WriteLock, _ body: (Connection) throws -> R) throws -> R

    /// The last step of the schema that this release knows.
    var newestStep: Int64 { get }

    /// The clock of the relays' leases; nil: the database's own clock.
    var storeClock: Timestamp? { get }

    /// Runs the work that keeps this relay's lease, which succeeds or fails soon.
    ///
    /// - Parameter isOneStatement: whether the work needs no transaction, and may be done twice.
    func keepLease<R: Sendable>(_ doing: String, isOneStatement: Bool, _ body: (Connection) throws -> R) throws -> R

    /// Ends the sessions that a relay has open with the store, from the store's side.
    func endSessions(of node: Int64) throws
}

/// The lock that a transaction holds until its end. A driver with one writer locks everything.
package enum WriteLock: Sendable {
    /// The transaction's rows alone.
    case rows
    /// Everything that is decided for an app: its requirements and its campaigns.
    case app(AppKey)
    /// The same for the campaign's app.
    case campaign(CampaignKey)
}

extension SQLStore {
    func keepLease<R: Sendable>(_ doing: String, _ body: (Connection) throws -> R) throws -> R {
        try keepLease(doing, isOneStatement: false, body)
    }
}
