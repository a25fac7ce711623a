// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import RelayStoreSQLite

/// The store that a test works on. Only the driver's own tests know which driver it is.
package protocol TestStore: RelayStore {
    /// What one query answers, as text.
    func inspect(_ query: String) throws -> [[String]]

    /// Runs a script: what another program, or a fault, would have done.
    func administer(_ script: String) throws
}

extension SQLiteStore: TestStore {}

/// Opens the store at a path, and makes it where there is none.
///
/// - Parameter release: what the release calls itself.
package func openStore(_ path: String, release: String = "unknown") throws -> any TestStore {
    try SQLiteStore(path: path, release: release)
}

/// Opens it for a simulation, which has one thread and a clock of its own.
///
/// - Parameters:
///   - ticks: read inside transactions.
///   - onEnter: called before each transaction and each look.
package func openSimulatedStore(
    _ path: String, release: String, clock: @escaping @Sendable () -> Timestamp,
    ticks: @escaping @Sendable () -> MonotonicTime, random: RandomSource, onEnter: @escaping @Sendable () -> Void
) throws -> any TestStore {
    var options = SQLiteStore.Options()
    (options.readers, options.copiesLogAside, options.watchesFiles) = (0, false, false)
    (options.clock, options.ticks, options.rest) = (clock, ticks, { _ in })
    (options.random, options.onEnter) = (random, onEnter)
    return try SQLiteStore(path: path, release: release, options: options)
}
