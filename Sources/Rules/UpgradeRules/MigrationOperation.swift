// SPDX-License-Identifier: Apache-2.0

/// One step in the growth of locally stored data (SEEDS S6): a migration, the creation of a file, a page shown once.
public struct MigrationOperation {
    /// The version of an operation that runs at every upgrade: no stored version ever reaches it.
    public static let everyUpgrade = Int.max

    /// Its name in logs and reports.
    public let name: String
    /// The version below which the operation runs: it runs while the stored version is lower.
    public let toVersion: Int
    /// Does the work.
    public let operate: () throws -> Void
    /// Called when `operate` threw.
    public let handleError: (any Error) -> MigrationAnswer

    /// - Parameters:
    ///   - name: its name in logs and reports.
    ///   - toVersion: the version of the component that has this work done, from 1, or `everyUpgrade`.
    ///   - operate: the work. With nothing stored the whole chain runs, and after a stop it runs again, so the work must check
    ///     before it changes anything.
    ///   - handleError: decides whether the chain goes on after a failure. Default: stop.
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

/// An error handler's decision.
public enum MigrationAnswer: Hashable, Sendable {
    /// The failure does no harm: the operation counts as done and the next one runs.
    case goOn
    /// The rest must not run. The next `run` repeats the operation.
    case stop
}
