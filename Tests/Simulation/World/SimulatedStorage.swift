// SPDX-License-Identifier: Apache-2.0
package import FaultInjection
package import RelayEngine
package import RelayStore
package import TestStores

/// Where a simulated relay keeps its store, and what goes wrong with that. One for each thread that simulates; it is used again for
/// world after world.
package protocol SimulatedStorage: AnyObject {
    /// As `--store` names it.
    var name: String { get }

    /// Whether the relay makes backups of it.
    var makesBackups: Bool { get }

    /// An empty store, on a disk that works.
    func clear() throws

    /// As a relay that starts does.
    func open(_ setting: SimulatedSetting) throws -> any TestStore

    /// Another program, which has the store open, too.
    func otherProgram() throws -> any OtherProgram

    /// Copies what is in the store, in the place of the copy before of that number, 0 or 1.
    func copy(to number: Int) throws

    /// A copy takes the store's place, under whoever has it open.
    func putBack(from number: Int) throws

    /// What the storage's own idea of now is from here on; nil: the system's.
    func set(time: Timestamp?)

    // MARK: What goes wrong

    /// Of the writes from now on those from the `first` on (1 is the next) fail.
    func arm(_ kind: StoreFaults.Kind, first: Int)
    func disarm()

    /// How many have failed since `arm`.
    var failures: Int { get }

    // MARK: What was written

    /// How often anything was written, whatever came of it: where that is as before, so is the store.
    var writes: Int { get }

    /// The numbers of the campaigns of which anything was written since the last call; nil: any may be.
    func changes() -> [Int64]?

    /// How often anything was written to what the registry is read from: devices, apps, and how many devices have which version. nil: it
    /// is not known.
    var registryChanges: Int64? { get }

    /// A query for where a text is in the store, in whatever table and column: a row for each place.
    func places(of text: String, _ store: any TestStore) throws -> String

    /// Without what is another in each process.
    func plain(_ text: String) -> String
}

/// Another program that writes to the store, as README allows.
package protocol OtherProgram: AnyObject {
    func require(_ version: String, of app: AppKey) throws
    func deleteDevice(_ id: Int64) throws
    /// As a relay does that believes the one before it gone: a campaign is its own; or has no owner any more.
    func own(_ campaign: Int64, _ isOwned: Bool) throws
}
