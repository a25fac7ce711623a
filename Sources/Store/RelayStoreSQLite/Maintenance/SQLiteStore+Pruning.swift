// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import StoreSQL

extension SQLiteStore {
    package func prune(
        before time: Timestamp, at now: Timestamp, pulse: (PruneReport) -> Bool
    ) throws -> PruneReport {
        try withoutActuallyEscaping(pulse) { pulse in
            var pruning = StorePruning(of: self, before: time, at: now, pulse: pulse)
            return try pruning.run { try giveBack(&$0) }
        }
    }

    package func lookLong<R: Sendable>(
        _ doing: String, isSnapshot: Bool, _ body: (SQLiteConnection) throws -> R
    ) throws -> R { try isSnapshot ? read(doing, body) : readOnce(doing, body) }

    package func writeLong<R: Sendable>(
        _ doing: String, lock: WriteLock, _ body: (SQLiteConnection) throws -> R
    ) throws -> R { try write(doing, body) }

    /// Deletes devices without checking foreign keys, for which SQLite would read the whole ledger for each device,
    /// since its key begins with the campaign. The statement's own conditions enforce the same rule, by an index.
    package func pruneOnce<R: Sendable>(
        lock: WriteLock, deletesDevices: Bool, _ body: (SQLiteConnection) throws -> R
    ) throws -> (result: R, time: Duration) {
        try timed(deletesDevices ? "pruning devices" : "pruning the store") { connection in
            if deletesDevices { connection.enforceForeignKeys(false) }
            defer { if deletesDevices { connection.enforceForeignKeys(true) } }
            return try connection.write(body)
        }
    }

    private func timed<R: Sendable>(
        _ doing: String, _ body: (SQLiteConnection) throws -> R
    ) throws -> (result: R, time: Duration) {
        try locked(doing) { connection in
            let start = options.ticks()
            let result = try body(connection)
            return (result, options.ticks() - start)
        }
    }

    package func restFromPruning(_ pause: Duration, after steps: Int) {
        // So that the writer seldom has to copy the log.
        if steps % 16 == 0 { checkpoints?.copy() }
        options.rest(pause)
    }

    package func pruneOwn(_ connection: SQLiteConnection) throws {}

    /// Gives free pages back to the file system.
    private func giveBack(_ pruning: inout StorePruning<SQLiteStore>) throws {
        pruning.pace(sizes: 16...1024)
        while true {
            let size = pruning.size
            let ((freed, rest), time) = try timed("giving free pages back") { connection -> (Int64, Int64) in
                let free = try FreePages.free(connection)
                guard free > 0, try FreePages.areGivenBack(connection) else { return (0, 0) }
                try FreePages.giveBack(size, connection)
                let rest = try FreePages.free(connection)
                return ((free - rest) * (try FreePages.pageSize(connection)), rest)
            }
            pruning.rest(after: time)
            try pruning.look(freed: freed)
            if freed == 0 || rest == 0 { break }
        }
        checkpoints?.copy()
    }
}
