// SPDX-License-Identifier: Apache-2.0
package import FaultInjection
package import RelayEngine
import RelayStore
package import Requirements
package import TestStores

/// Where a simulated relay keeps its store, and the faults of that place. One for each thread that simulates; it is used again for world
/// after world.
package protocol SimulatedStorage: AnyObject {
    /// As `--store` names it.
    var name: String { get }

    /// Whether the relay makes backups of it.
    var makesBackups: Bool { get }

    /// Makes the store empty, on a disk that works.
    func clear() throws

    /// Opens the store as a starting relay does.
    func open(_ setting: SimulatedSetting) throws -> any TestStore

    /// Another program that also has the store open.
    func otherProgram() throws -> any OtherProgram

    /// Copies the store's content, over the copy before of that number, 0 or 1.
    func copy(to number: Int) throws

    /// Puts a copy in the store's place while connections are open.
    func putBack(from number: Int) throws

    /// Sets the time of the storage's own clock; nil: the system's.
    func set(time: Timestamp?)

    // MARK: Faults

    /// Makes writes fail, all from the `first` on (1 is the next).
    func arm(_ kind: StoreFaults.Kind, first: Int)
    func disarm()

    /// How many have failed since `arm`.
    var failures: Int { get }

    // MARK: Writes

    /// How many writes there were, successful or not: as long as that is the same, so is the store.
    var writes: Int { get }

    /// The numbers of the campaigns that were written to since the last call; nil: any may be.
    func changes() -> [Int64]?

    /// How many writes there were to what the registry is read from: devices, apps, and how many devices have which version. nil: unknown.
    var registryChanges: Int64? { get }

    /// A query for the places of a text in the store, in any table and column: a row for each place.
    func places(of text: String, _ store: any TestStore) throws -> String

    /// The text without what differs between processes.
    func plain(_ text: String) -> String
}

/// Another program that writes to the store, as README allows.
package protocol OtherProgram: AnyObject {
    func require(_ version: String, of app: AppKey) throws
    func deleteDevice(_ id: Int64) throws
    /// As a relay that takes the one before it for gone: takes a campaign over, or leaves it without an owner.
    func own(_ campaign: Int64, _ isOwned: Bool) throws
}
