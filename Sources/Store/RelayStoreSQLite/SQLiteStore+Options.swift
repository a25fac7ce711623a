// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Telemetry
import Threading

extension SQLiteStore {
    /// The settings that a store is opened with. The defaults are the daemon's; a simulation, which has one thread and a
    /// clock of its own, sets others.
    package struct Options: Sendable {
        /// Connections that read: each call that reads takes one, and waits when all are taken. 0: reads use the
        /// writer's connection. Default 4.
        package var readers = 4
        /// Whether a log that a large batch has left is copied into the file by a thread and a connection of its own
        /// (`Checkpoints`). Otherwise each commit copies it, as SQLite does by default. Default true.
        package var copiesLogAside = true
        /// The rows from which on a batch of an import is met by runs (`ImportWalk`): fewer cost less than a run. Default 256.
        package var walkedBatch = 256
        /// Whether each call checks that the files are still there (`StoreFiles`). Default true.
        package var watchesFiles = true
        /// The time of opening, with which the schema's steps are recorded. Default the system's.
        package var clock: @Sendable () -> Timestamp = WallClock.now
        /// Measures a commit or a part of long work, which decides the size of the next part. Default the system's clock.
        package var ticks: @Sendable () -> MonotonicTime = MonotonicClock.now
        /// Leaves the machine to other work between the parts of long work. Default sleeps.
        package var rest: @Sendable (Duration) -> Void = Pause.rest
        /// The source of campaigns' public ids. Default the system's.
        package var random = RandomSource.system
        /// Receives a line for each change of what is required. Default: discarded.
        package var log = Log.discarding
        /// This relay's membership, and the mark that it has seen of the store. Default a relay that is alone.
        package var membership = Membership()
        /// Called before each transaction and each look, while no lock is held, so that other relays may have their turn.
        /// Not by `close()`. Default nil: nothing is called.
        package var onEnter: (@Sendable () -> Void)?

        package init() {}
    }
}
