// SPDX-License-Identifier: Apache-2.0

/// A component whose locally stored data grows from version to version by a chain of operations (SEEDS S6).
///
/// ```swift
/// let orders = MigrationChain(component: "orders", storage: DefaultsStorage())
/// let report = try orders.run([
///     MigrationOperation("create the table", toVersion: 1) { try createTable() },
///     MigrationOperation("split the address", toVersion: 3) { try splitAddress() },
///     MigrationOperation("what is new", toVersion: MigrationOperation.everyUpgrade) { showNews = true },
/// ], target: 3)
/// ```
///
/// | | |
/// |---|---|
/// | nothing stored | counts as 0: the whole chain runs |
/// | stored below the target | every operation whose `toVersion` is above the stored version runs, in the chain's order |
/// | `toVersion` above the target | runs now and at each later upgrade until the stored version has reached it |
/// | `everyUpgrade` | follows from that: runs at every upgrade |
/// | stored equal to the target | nothing runs, unless the last run was stopped on its way there |
/// | stored above the target | nothing runs and nothing changes: no downgrade, no rollback |
///
/// Operations are compared with the version that was stored when the run began, so two operations to the same version both
/// run. The stored version advances after each operation that is done, but always stays below the version of an operation
/// that has not run yet: after a stop, or when the process dies, the next run begins with the operation that is not done. An
/// operation before it in the chain runs again only if it has the same `toVersion`, a higher one, or runs at every upgrade;
/// so give each migration a version of its own, in ascending order. With `goOn` a failed operation counts as done.
public struct MigrationChain<Storage: MigrationStorage> {
    /// The component's name: the key in the storage.
    public let component: String
    /// The storage of the component's version.
    public let storage: Storage

    /// Makes a chain; runs nothing yet.
    public init(component: String, storage: Storage) {
        self.component = component
        self.storage = storage
    }

    // MARK: Questions

    /// Whether nothing is stored yet: true until the first operation of the first run is done.
    public var isFirstInstall: Bool {
        get throws { try storage.record(of: component) == nil }
    }

    /// The target version of the first run; nil before that.
    public var firstInstalledVersion: Int? {
        get throws { try storage.record(of: component)?.firstInstalledVersion }
    }

    /// The version that the stored data has; 0 when nothing is stored.
    public var currentVersion: Int {
        get throws { try storage.record(of: component)?.version ?? 0 }
    }

    // MARK: The run

    /// Brings the stored data to `target`.
    ///
    /// - Parameters:
    ///   - operations: the whole chain, including operations that ran long ago, in the order in which they run.
    ///   - target: the version of the component in this build, from 1.
    /// - Returns: the operations that ran, and the outcome. An operation's error is in there, not thrown.
    /// - Throws: the storage's error, at once: an error handler is not asked about it.
    public func run(_ operations: [MigrationOperation], target: Int) throws -> MigrationReport {
        let record = try storage.record(of: component)
        let stored = record?.version ?? 0
        var report = MigrationReport(outcome: .upToDate, isFirstInstall: record == nil, from: stored)
        guard stored <= target else {
            report.outcome = .newerIsStored
            return report
        }
        guard stored < target || record?.isUnfinished == true else { return report }

        let due = operations.filter { $0.toVersion > stored }
        for (index, operation) in due.enumerated() {
            let progress = Progress(done: due[...index], left: due[(index + 1)...], from: stored, target: target)
            guard try run(operation, progress, &report) else {
                report.outcome = .stopped(at: operation.name)
                return report
            }
        }
        if due.isEmpty {
            try storage.atomically(component) { try save(Progress(done: [], left: [], from: stored, target: target)) }
        }
        report.outcome = .upgraded
        return report
    }

    /// Returns false when the rest must not run.
    private func run(
        _ operation: MigrationOperation, _ progress: Progress, _ report: inout MigrationReport
    ) throws -> Bool {
        var failure: (any Error)?
        var ran = false
        do {
            try storage.atomically(component) {
                // Another process may have done this operation since the run began.
                guard try storage.record(of: component)?.version ?? 0 < operation.toVersion else { return }
                do {
                    try operation.operate()
                } catch {
                    failure = error
                    throw error
                }
                try save(progress)
                ran = true
            }
        } catch {
            guard let failure else { throw error }
            report.failures.append(MigrationReport.Failure(operation: operation.name, error: failure))
            guard operation.handleError(failure) == .goOn else { return false }
            try storage.atomically(component) { try save(progress) }
        }
        if ran { report.completed.append(operation.name) }
        return true
    }

    /// Never lowers the stored version.
    private func save(_ progress: Progress) throws {
        let before = try storage.record(of: component)
        let stored = before?.version ?? 0
        guard stored <= progress.target else { return }
        try storage.save(
            MigrationRecord(
                version: max(stored, progress.version),
                firstInstalledVersion: before?.firstInstalledVersion ?? progress.target,
                isUnfinished: progress.isUnfinished),
            of: component)
    }
}

/// The progress of a run, as it is recorded.
private struct Progress {
    let version: Int
    let target: Int
    let isUnfinished: Bool

    init(
        done: ArraySlice<MigrationOperation>, left: ArraySlice<MigrationOperation>, from stored: Int, target: Int
    ) {
        self.target = target
        isUnfinished = !left.isEmpty
        guard let next = left.lazy.map(\.toVersion).min() else {
            version = target
            return
        }
        // The remaining operations have versions above `stored`, so this is never below it.
        let highest = done.lazy.map(\.toVersion).filter { $0 <= target }.max() ?? stored
        version = min(highest, next - 1)
    }
}
