// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Telemetry
import Threading

extension SQLiteStore {
    /// What a store is opened with. The defaults are the daemon's; a simulation, which has one thread and a clock of its own,
    /// wants others.
    package struct Options: Sendable {
        /// Connections that read: each call that reads takes one, and waits when all are taken. 0: it takes the writer's. Default 4.
        package var readers = 4
        /// Whether a log that a large batch has left is copied into the file by a thread and a connection of its own
        /// (`Checkpoints`). Where not, each commit copies it as SQLite does by itself. Default true.
        package var copiesLogAside = true
        /// Whether each call looks whether the files are still there (`StoreFiles`). Default true.
        package var watchesFiles = true
        /// The time of opening, which the schema's steps are recorded with. Default the system's.
        package var clock: @Sendable () -> Timestamp = WallClock.now
        /// How long a commit or a part of a long work took, which decides how much the next part takes on. Default the system's.
        package var ticks: @Sendable () -> MonotonicTime = MonotonicClock.now
        /// Leaves the machine to others between the parts of a long work. Default sleeps.
        package var rest: @Sendable (Duration) -> Void = Pause.rest
        /// Where the public ids of campaigns come from. Default the system's.
        package var random = RandomSource.system
        /// Gets a line for each change of what is required. Default nobody's.
        package var log = Log.discarding
        /// What this relay may do, and what it has seen of the store. Default one that is alone.
        package var membership = Membership()
        /// Called before each transaction and each look, while no lock is held: where others may have their turn. Not by
        /// `close()`. Default nil: nothing is called.
        package var onEnter: (@Sendable () -> Void)?

        package init() {}
    }
}
