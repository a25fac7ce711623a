// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// Which rows of the audit trail are meant; a nil field does not filter.
package struct AuditFilter: Hashable, Sendable {
    package var app: String?
    package var platform: Platform?
    /// The apps that the reader may see: rows that are about no app are then left out.
    package var apps: Set<String>?
    /// The actor's name. A user of the control socket is found with or without the number ("alice (uid 1000)",
    /// "alice"), also where root acted for that user.
    package var actor: String?
    package var action: AuditAction?
    /// A campaign's public id.
    package var campaign: String?
    package var since: Timestamp?

    package init() {}
}

/// The audit trail. Rows are added, each in the transaction of its change, and never changed.
package protocol AuditStore: Sendable {
    /// Newest first, from before `before` (exclusive; nil: from the newest), at most `limit`.
    func audit(_ filter: AuditFilter, before: Int64?, limit: Int) throws -> [AuditEntry]

    /// Adds a row about a change outside the store.
    func note(_ entry: AuditEntry) throws

    /// Forgets the rows from before `time`, in short transactions; returns how many.
    @discardableResult
    func forgetAudit(before time: Timestamp) throws -> Int64
}
