// SPDX-License-Identifier: Apache-2.0
import Dispatch
import StoreSQL
import Synchronization

/// Decides when SQLite's log is copied into the file, and by which connection.
///
/// Usually the commit that finds 16 MiB in the log copies it, as SQLite does by itself: some thousand pages all over
/// the file, and two waits for the disk, before the commit returns. A large batch leaves many times as many pages, and
/// the next caller to commit would wait for all of them; then another connection copies them while writes go on:
/// "Checkpoint as many frames as possible without waiting for any database readers or writers to finish"
/// (sqlite.org/c3ref/wal_checkpoint_v2.html, SQLITE_CHECKPOINT_PASSIVE).
///
/// A log that is copied completely begins anew with the next transaction, unless a reader still needs it.
final class Checkpoints: Sendable {
    /// Pages of 4 KiB. A commit copies the log when it has at least `few` pages, of which fewer than `many` are left to copy.
    static let few = 4000
    static let many = 8000
    /// A copy beside a large batch begins at this number of pages left to copy. The longer it waits, the more pages
    /// have been changed twice, and are copied once.
    static let beside = 10_000
    /// At this number of pages in the log, 64 MiB, the next large batch waits for a copy: after a crash the log is read
    /// from its beginning.
    static let most = 16_384

    private let connection: Mutex<SQLiteConnection?>
    private let queue = DispatchQueue(label: "checkpoint")
    /// The log's pages after the last commit.
    private let logged = Atomic(0)
    /// The number of those pages that `copy` has copied.
    private let copied = Atomic(0)
    private let isAsked = Atomic(false)
    /// Whether the current transaction is a large batch's.
    private let isLarge = Atomic(false)

    init(_ connection: SQLiteConnection) {
        self.connection = Mutex(connection)
    }

    /// Whether a commit that leaves so many pages in the log should copy them itself. Where it should not and they are many,
    /// begins to copy them on another thread. Called by the writer.
    func isForCommit(_ pages: Int) -> Bool {
        logged.store(pages, ordering: .relaxed)
        // Fewer pages than before: the log has begun anew.
        if copied.load(ordering: .relaxed) > pages { copied.store(0, ordering: .relaxed) }
        let left = pages - copied.load(ordering: .relaxed)
        if isLarge.load(ordering: .relaxed) {
            if left >= Self.beside { begin() }
            return false
        }
        guard pages >= Self.few else { return false }
        if left < Self.many { return true }
        begin()
        return false
    }

    /// Runs a large batch's transaction. Called by the writer.
    func withoutCommits<R>(_ body: () throws -> R) rethrows -> R {
        isLarge.store(true, ordering: .relaxed)
        defer { isLarge.store(false, ordering: .relaxed) }
        return try body()
    }

    /// Copies a log that has grown too large. Must be called before a large batch, outside of any transaction.
    func keepUp() {
        guard logged.load(ordering: .relaxed) >= Self.most else { return }
        copy()
    }

    private func begin() {
        guard !isAsked.exchange(true, ordering: .relaxed) else { return }
        queue.async { [self] in
            isAsked.store(false, ordering: .relaxed)
            copy()
        }
    }

    /// Waits for the copies that have begun.
    func settle() {
        queue.sync {}
    }

    /// Copies the committed pages that no reader holds back. Waits for no writer, and no writer waits for it.
    func copy() {
        connection.withLock { connection in
            // A failure here, such as a full disk, costs nothing that was committed; the next write fails as well, and can
            // report it.
            let done = try? connection?.first("PRAGMA wal_checkpoint(PASSIVE)") { row in
                // Skips whether the copy was blocked, and the length of the log.
                row.skip(2)
                return row.integer()
            }
            if let done { copied.store(Int(done), ordering: .relaxed) }
        }
    }

    /// Waits for a copy that is being made.
    func close() {
        connection.withLock { $0 = nil }
    }
}
