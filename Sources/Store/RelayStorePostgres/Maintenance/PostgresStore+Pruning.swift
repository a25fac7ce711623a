// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import StoreSQL
import Synchronization

/// The server reuses the space that a pruning frees; it returns little of it to the file system.
extension PostgresStore {
    package func prune(
        before time: Timestamp, at now: Timestamp, pulse: (PruneReport) -> Bool
    ) throws -> PruneReport {
        try withoutActuallyEscaping(pulse) { pulse in
            var pruning = StorePruning(of: self, before: time, at: now, pulse: pulse)
            return try pruning.run()
        }
    }

    package func lookLong<R: Sendable>(
        _ doing: String, isSnapshot: Bool, _ body: (PostgresSession) throws -> R
    ) throws -> R { try look(.long, doing, isSnapshot: isSnapshot, body) }

    package func writeLong<R: Sendable>(
        _ doing: String, lock: WriteLock, _ body: (PostgresSession) throws -> R
    ) throws -> R { try write(.long, doing, lock: lock, body) }

    package func pruneOnce<R: Sendable>(
        lock: WriteLock, deletesDevices: Bool, _ body: (PostgresSession) throws -> R
    ) throws -> (result: R, time: Duration) {
        let start = options.ticks()
        let result = try write(.long, "pruning the store", lock: lock, body)
        return (result, options.ticks() - start)
    }

    package func restFromPruning(_ pause: Duration, after steps: Int) { options.rest(pause) }

    /// Deletes records of erased devices after a day: a push that was on its way then has been recorded. The server's
    /// clock may be set in between, so the day must also have passed on this process's own clock. After thirty days the
    /// server's clock alone counts, for relays that restart every day.
    package func pruneOwn(_ session: PostgresSession) throws {
        let now = options.ticks()
        guard let newest = try session.integer("SELECT max(at) FROM erased_device HAVING count(*) > 0") else { return }
        let known = erasedDevices.withLock { known in
            let before = known
            if before.map({ now - $0.at >= Self.onItsWay }) ?? true { known = (newest, now) }
            return before.flatMap { now - $0.at >= Self.onItsWay ? $0.newest : nil }
        }
        try session.run(
            """
            DELETE FROM erased_device
            WHERE at < now_ms() - 86400000 AND at <= ? OR at < now_ms() - 2592000000
            """, known ?? -1)
    }

    private static let onItsWay = Duration.seconds(86_400)
}
