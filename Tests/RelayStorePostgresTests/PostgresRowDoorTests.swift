// SPDX-License-Identifier: Apache-2.0
import OwnThread
import PrivatePostgres
import StoreConformance
import StorePeers
import TestStores
import Testing

@testable import RelayStorePostgres

@Suite(
    "Another program's row is judged as a bump is, in PostgreSQL", .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct PostgresRowDoorTests {
    @Test(arguments: BumpSample.all)
    func waits(sample: BumpSample) throws {
        let store = try TestDatabase.ofNewStore().store()
        defer { store.close() }
        try BumpSample.hold(sample, in: store) { try store.administer($0) }
    }

    @Test("A text that it spoils of what is in force is not said")
    func spoiled() throws {
        let store = try TestDatabase.ofNewStore().store()
        defer { store.close() }
        try BumpSample.holdSpoiled(in: store) { try store.administer($0) }
    }
}
