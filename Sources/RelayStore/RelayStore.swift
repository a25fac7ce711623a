// SPDX-License-Identifier: Apache-2.0

/// All that the relay keeps. One driver implements it for each database; one conformance suite holds for all.
///
/// Calls block until the database has answered and may be made from any thread: one writer at a time, readers beside
/// it. Each method is one transaction.
package protocol RelayStore: VersionStore, DeviceRegistry, CampaignStore, Ledger, AccessTokenStore,
    ProviderTokenStore, AlertStore, SightingStore, StoreMaintenance, NotificationStore, AdoptionStore, RoundStore
{
    /// Throws when the store cannot be written to (read-only, full): what `readyz` asks.
    func checkWritable() throws

    /// Where the store is and how far it has grown.
    func status() throws -> StoreStatus

    /// How it has done since it was opened. Reads no row.
    func figures() -> StoreFigures

    /// How many devices and campaigns it holds. Reads a row for each app and campaign.
    func census() throws -> StoreCensus

    /// Waits for the calls that are running. Later ones throw; a second `close()` does nothing.
    func close()
}
