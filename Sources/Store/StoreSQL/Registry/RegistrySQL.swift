// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import RelayStore
package import Requirements

/// The part of the registry of devices that each driver does itself: how a device is found by its token, and how
/// many are written at once. Everything else is written here once.
///
/// Tokens are passed as `Platform.stored` makes them.
package protocol RegistrySQL: SQLStore {
    associatedtype Registrar: DeviceRegistrar where Registrar.Connection == Connection

    /// Runs one transaction of an import, which writes much at once.
    func writeMuch<R: Sendable>(_ doing: String, _ body: (Connection) throws -> R) throws -> R

    /// A registered device, by the token as the app has it.
    func device(_ app: AppKey, token: String, _ connection: Connection) throws -> DeviceRecord?

    /// A device that may have been removed, for the lists of deliveries.
    func listed(token: String, of app: Int64, _ connection: Connection) throws -> ListedDevice?

    /// Locks the devices of some tokens until the end of the transaction, removed ones too.
    func lock(tokens: [String], of app: Int64, _ connection: Connection) throws -> [String: LockedDevice]

    /// Locks the devices that a user has now until the end of the transaction.
    func lock(devicesOf telephone: String, _ connection: Connection) throws

    /// Gives a device another token.
    ///
    /// - Returns: false where another connection has registered that token since.
    func move(_ device: Int64, of app: Int64, to token: String, _ connection: Connection) throws -> Bool

    /// Keeps the telephone that a device is losing, so that the user's pushes are found later. Where the app has no campaign whose
    /// deliveries can be asked for, nothing is kept.
    func remember(_ telephone: String, of device: Int64, _ app: Int64, _ connection: Connection) throws

    /// Keeps pushes on their way to these devices from bringing an erased user's telephone back into a row of the ledger.
    func forgetOnItsWay(to devices: [Int64], _ connection: Connection) throws
}

/// Registers devices of one app within one transaction; of two with the same token the later one counts.
package protocol DeviceRegistrar {
    associatedtype Connection: SQLConnection

    init(_ connection: Connection, _ app: AppKey, at now: Timestamp, from source: RegistrationSource) throws

    /// Registers all rows of a batch, in their order.
    mutating func register(_ batch: RegistrationBatch) throws
    /// Writes the collected counts. Must come last in the transaction.
    mutating func finish() throws -> UpsertCounts
}

/// A device that this transaction has locked.
package struct LockedDevice: Sendable {
    package var id: Int64
    package var telephone: String?
    package var version: String?
    package var isRemoved: Bool
    package var registered: Timestamp

    package init(id: Int64, telephone: String?, version: String?, isRemoved: Bool, registered: Timestamp) {
        (self.id, self.telephone, self.version) = (id, telephone, version)
        (self.isRemoved, self.registered) = (isRemoved, registered)
    }
}

extension LockedDevice: Selection {
    /// Columns of `device`.
    package static let columns: SQL = "id, telephone, version, removed_at, registered_at"

    package static func read(_ row: inout Columns<some SQLRow>) -> LockedDevice {
        LockedDevice(
            id: row.integer(), telephone: row.optionalText(), version: row.optionalText(), isRemoved: !row.isNull(),
            registered: row.time())
    }
}
