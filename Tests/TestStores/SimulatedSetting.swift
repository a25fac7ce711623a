// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
internal import RelayStore
package import RelayStorePostgres
import RelayStoreSQLite

/// The clock, randomness and hooks that a simulation, which has one thread and a clock of its own, gives to its store.
package struct SimulatedSetting {
    let clock: @Sendable () -> Timestamp
    let ticks: @Sendable () -> MonotonicTime
    let random: RandomSource
    let onEnter: @Sendable () -> Void

    /// - Parameters:
    ///   - ticks: read inside transactions.
    ///   - onEnter: called before each transaction and each look.
    package init(
        clock: @escaping @Sendable () -> Timestamp, ticks: @escaping @Sendable () -> MonotonicTime,
        random: RandomSource, onEnter: @escaping @Sendable () -> Void
    ) {
        (self.clock, self.ticks, self.random, self.onEnter) = (clock, ticks, random, onEnter)
    }

    /// The same, with `body` called after `onEnter`.
    package func entering(_ body: @escaping @Sendable () -> Void) -> SimulatedSetting {
        SimulatedSetting(clock: clock, ticks: ticks, random: random) {
            onEnter()
            body()
        }
    }
}

/// Opens the store at a path for a simulation.
package func openSimulatedStore(
    _ path: String, release: String, _ setting: SimulatedSetting
) throws -> any TestStore {
    var options = SQLiteStore.Options()
    (options.readers, options.copiesLogAside, options.watchesFiles, options.walkedBatch) = (0, false, false, 1)
    (options.clock, options.ticks, options.rest) = (setting.clock, setting.ticks, { _ in })
    (options.random, options.onEnter) = (setting.random, setting.onEnter)
    return try SQLiteStore(path: path, release: release, options: options)
}

/// Opens the store in a database for a simulation.
package func openSimulatedStore(
    _ settings: PostgresSettings, release: String, _ setting: SimulatedSetting
) throws -> PostgresStore {
    var options = PostgresStore.Options()
    options.isTrial = true
    options.longestSilence = .zero
    (options.clock, options.ticks, options.rest) = (setting.clock, setting.ticks, { _ in })
    (options.random, options.onEnter) = (setting.random, setting.onEnter)
    return try PostgresStore(settings, release: release, options: options)
}
