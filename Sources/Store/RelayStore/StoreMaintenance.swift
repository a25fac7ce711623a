// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Keeps a store in order while the daemon works on it. No method here holds the writer for longer than a batch of
/// outcomes does.
package protocol StoreMaintenance: Sendable {
    /// Copies the store as it is at this moment. Writers do not wait for the copy, and later changes are not in it.
    ///
    /// - Parameter progress: called after every step, on the calling thread; false gives up.
    /// - Throws: `StoreError`, also when `progress` gave up; then nothing stays behind.
    func snapshot(progress: (BackupProgress) -> Bool) throws -> any StoreSnapshot

    /// Looks for damage: broken pages, references to nothing, and counts that do not add up.
    ///
    /// - Parameter begins: called with the name of each check as it begins; false gives up.
    /// - Returns: what was found; empty for a sound store.
    func check(begins: (String) -> Bool) throws -> [StoreFault]

    /// Deletes data of no more use: rows of the ledger of campaigns that ended before `time`, the webhook ids, alerts
    /// and dead devices from before it, and the former telephones that only those needed. Gives the room back to the
    /// file system where the store can.
    ///
    /// A campaign itself stays, with its counts and reasons, so that no version is announced twice. Its deliveries can
    /// no longer be listed, the curve of its adoption is deleted, and `upgraded` no longer changes. Works in small
    /// transactions, with pauses between them; interrupted, it goes on where it stood the next time.
    ///
    /// - Parameter pulse: called between transactions with what was done so far; false stops.
    func prune(before time: Timestamp, at now: Timestamp, pulse: (PruneReport) -> Bool) throws -> PruneReport
}

/// A store, or a backup of one, for commands that work without the daemon. Each write takes effect as a whole or not at
/// all.
package protocol ClosedStore {
    /// Where it is, in words for an operator.
    var place: String { get }

    /// Whether a daemon works on it, or was killed while it did.
    var isInUse: Bool { get }

    /// Reads only.
    ///
    /// - Throws: `StoreError`: `.tooNew`, or `.failed` where there is none or it cannot be read.
    func status() throws -> StoreStatus

    /// `StoreMaintenance.check`.
    func check(begins: (String) -> Bool) throws -> [StoreFault]

    /// Copies the store to a new file, which only its owner may open.
    func copy(to path: String, progress: (BackupProgress) -> Bool) throws

    /// Checks a backup and puts it in the store's place. The store as it was is kept beside it.
    ///
    /// - Throws: `StoreError`: `.busy` where a daemon works on it.
    func restore(from backup: String, progress: (BackupProgress) -> Bool) throws -> RestoredStore
}

/// A store that was replaced by a backup.
package struct RestoredStore: Hashable, Sendable {
    package var place: String
    /// Bytes.
    package var size: Int64
    /// Where the replaced store is kept; nil where there was none.
    package var kept: String?

    package init(place: String, size: Int64, kept: String?) {
        self.place = place
        self.size = size
        self.kept = kept
    }
}

/// How far a backup is, in bytes.
package struct BackupProgress: Hashable, Sendable {
    package var done: Int64
    package var total: Int64

    package init(done: Int64, total: Int64) {
        self.done = done
        self.total = total
    }
}

/// A copy of a store that is gone when the last reference to it is.
package protocol StoreSnapshot: AnyObject, Sendable {
    /// Bytes.
    var size: Int64 { get }

    /// The next bytes, at most `limit`; empty at the end. One thread at a time.
    func read(atMost limit: Int) throws -> [UInt8]
}

/// One thing that is wrong with a store.
package struct StoreFault: Hashable, Sendable {
    /// The check that found it, as `StoreMaintenance.check` names it.
    package var check: String
    package var detail: String

    package init(check: String, detail: String) {
        self.check = check
        self.detail = detail
    }
}

/// The amounts that a pruning deleted.
package struct PruneReport: Hashable, Sendable {
    /// Campaigns whose ledger was emptied.
    package var campaigns: Int64 = 0
    package var deliveries: Int64 = 0
    package var formerTelephones: Int64 = 0
    package var devices: Int64 = 0
    package var webhooks: Int64 = 0
    package var alerts: Int64 = 0
    package var notifications: Int64 = 0
    /// Rows of the audit trail, which are kept for a time of their own (`AuditStore.forgetAudit`).
    package var audit: Int64 = 0
    /// Requests for a second person that are over, which are kept as long as the audit trail
    /// (`ApprovalStore.forgetApprovals`).
    package var approvals: Int64 = 0
    /// Bytes given back to the file system.
    package var freed: Int64 = 0
    /// The longest that any other writer had to wait.
    package var longestPause = Duration.zero

    package init() {}

    /// Whether there was anything to do.
    package var isEmpty: Bool {
        campaigns + deliveries + formerTelephones + devices + webhooks + alerts + notifications + audit + approvals
            + freed == 0
    }
}
