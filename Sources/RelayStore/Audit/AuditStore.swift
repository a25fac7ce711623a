// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// Which rows of the audit trail are meant; what is nil says nothing.
package struct AuditFilter: Hashable, Sendable {
    package var app: String?
    package var platform: Platform?
    /// The apps that whoever asks may see: rows that are about no app are not among them.
    package var apps: Set<String>?
    /// The actor's name.
    package var actor: String?
    package var action: AuditAction?
    /// A campaign's public id.
    package var campaign: String?
    package var since: Timestamp?

    package init() {}
}

/// Who did what. Rows are added, each in the transaction of the change that it tells of, and never changed.
package protocol AuditStore: Sendable {
    /// Newest first, from before `before` (exclusive; nil: from the newest), at most `limit`.
    func audit(_ filter: AuditFilter, before: Int64?, limit: Int) throws -> [AuditEntry]

    /// Adds a row about what is not in the store.
    func note(_ entry: AuditEntry) throws

    /// Forgets the rows from before `time`, in short transactions; returns how many.
    @discardableResult
    func forgetAudit(before time: Timestamp) throws -> Int64
}
