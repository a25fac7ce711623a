// SPDX-License-Identifier: Apache-2.0

/// The result of a chain's run.
public struct MigrationReport: Sendable {
    /// How the run ended.
    public enum Outcome: Hashable, Sendable {
        /// The stored version was the target already: nothing ran.
        case upToDate
        /// The stored version is above the target: nothing ran, nothing changed. There is no way down.
        case newerIsStored
        /// The target is stored.
        case upgraded
        /// An error handler stopped the run; the next `run` repeats the operation of this name.
        case stopped(at: String)
    }

    /// One operation that threw.
    public struct Failure: Sendable {
        /// The operation's name.
        public let operation: String
        /// The error that it threw.
        public let error: any Error
    }

    /// How the run ended.
    public internal(set) var outcome: Outcome
    /// Whether nothing was stored before.
    public let isFirstInstall: Bool
    /// The version that was stored before; 0 for nothing.
    public let from: Int
    /// The names of the operations that succeeded, in the order in which they ran.
    public internal(set) var completed: [String] = []
    /// The operations that threw, in the order in which they ran.
    public internal(set) var failures: [Failure] = []
}
