// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// All that the relay keeps. One driver implements it for each database; one conformance suite holds for all.
///
/// Calls block until the database has answered and may be made from any thread: one writer at a time, readers beside
/// it. Each method is one transaction, unless its comment names several.
package protocol RelayStore: VersionStore, DeviceRegistry, CampaignStore, Ledger, AccessTokenStore,
    ProviderTokenStore, AlertStore, SightingStore, StoreMaintenance, NotificationStore, AdoptionStore, RoundStore,
    EvidenceStore, AuditStore, SessionStore, PastStore, ApprovalStore
{
    /// Throws when the store cannot be written to (read-only, full). `readyz` calls this.
    func checkWritable() throws

    /// Where the store is and how far it has grown.
    func status() throws -> StoreStatus

    /// Its figures since it was opened. Reads no row.
    func figures() -> StoreFigures

    /// How many devices and campaigns it holds. Reads a row for each app and campaign.
    func census() throws -> StoreCensus

    /// The facts that a person is shown before an act. The transaction that decides reads the same ones.
    func facts(_ subject: ActSubject, at now: Timestamp) throws -> Shown

    /// Closes the store once the running calls have ended. Later calls throw; a second `close()` does nothing.
    func close()
}

extension RelayStore {
    /// How many devices an app has, and how its audience would be filtered: a dry run over the registry.
    ///
    /// Reads in batches, each with a snapshot of its own: over millions of devices, one long snapshot would keep the
    /// store from freeing rows that were replaced since (sqlite.org/wal.html, "Avoiding Excessively Large WAL Files").
    package func survey(
        _ app: AppKey, judge: (DeviceRow, borrowing DeviceRows) -> FilterReason?
    ) throws -> AudienceSurvey {
        var survey = AudienceSurvey()
        var rows = DeviceRows()
        for channel in Channel.allCases {
            var after: Int64 = 0
            repeat {
                try readDevices(
                    app, channel: channel, after: after, through: .max, limit: 4096, into: &rows)
                for row in rows.rows {
                    survey.audience += 1
                    if let reason = judge(row, rows) { survey.filteredBy[reason, default: 0] += 1 }
                    after = row.id
                }
            } while !rows.isEmpty
        }
        return survey
    }
}
