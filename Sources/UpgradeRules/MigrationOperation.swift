// SPDX-License-Identifier: Apache-2.0

/// One step in the growth of locally stored data (SEEDS S6): a migration, the creation of a file, a page shown once.
public struct MigrationOperation {
    /// The version of an operation that runs at every upgrade: no stored version ever reaches it.
    public static let everyUpgrade = Int.max

    /// What people call it, in logs and reports.
    public let name: String
    /// Runs for as long as the stored version is below this one.
    public let toVersion: Int
    /// Does the work.
    public let operate: () throws -> Void
    /// Asked when `operate` threw.
    public let handleError: (any Error) -> MigrationAnswer

    /// - Parameters:
    ///   - name: what people call it.
    ///   - toVersion: the version of the component that has this work done, from 1, or `everyUpgrade`.
    ///   - operate: the work. With nothing stored the whole chain runs, and after a stop it runs again: it looks before it
    ///     changes.
    ///   - handleError: what a failure means for the rest of the chain. Default: stop.
    public init(
        _ name: String, toVersion: Int, operate: @escaping () throws -> Void,
        handleError: @escaping (any Error) -> MigrationAnswer = { _ in .stop }
    ) {
        self.name = name
        self.toVersion = toVersion
        self.operate = operate
        self.handleError = handleError
    }
}

/// What an error handler answers.
public enum MigrationAnswer: Hashable, Sendable {
    /// The failure does no harm: the operation counts as done and the next one runs.
    case goOn
    /// The rest must not run. The operation is run again by the next `run`.
    case stop
}
