// SPDX-License-Identifier: Apache-2.0

/// Decides when outcomes are worth a transaction. Pure: time is passed in.
///
/// A transaction costs its fsync, its locks and the pages of its counters and cursors, for 300 outcomes as for 3,000. So
/// batches that are back wait a moment for batches that are still out. This does not add to what a crash sends again: a batch
/// counts as out until it is recorded.
package struct CommitGate: Sendable, Equatable {
    /// Devices that are worth a transaction: its own cost is below a tenth of theirs.
    package static let enough = 2_000
    /// The longest that a batch waits: a fraction of what a push service takes to answer.
    package static let patience = Duration.milliseconds(20)

    private var firstCameAt: MonotonicTime?

    package init() {}

    /// - Parameters:
    ///   - devices: the number of devices whose outcomes wait.
    ///   - isMoreOut: whether other batches are still to come back.
    /// - Returns: whether to record them now.
    package mutating func isOpen(devices: Int, isMoreOut: Bool, at now: MonotonicTime) -> Bool {
        guard devices > 0, isMoreOut, devices < Self.enough else {
            firstCameAt = nil
            return true
        }
        let since = firstCameAt ?? now
        guard now - since < Self.patience else {
            firstCameAt = nil
            return true
        }
        firstCameAt = since
        return false
    }

    /// The time until what waits is committed even if nothing more comes; nil while nothing waits.
    package func wait(at now: MonotonicTime) -> Duration? {
        firstCameAt.map { max(.zero, Self.patience - (now - $0)) }
    }
}
