// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import RelayStoreSQLite
import StoreConformance
import StoreSQL
import TestStores
import Testing

@Suite("The SQLite driver keeps the rules of every driver", .ownThread)
struct SQLiteConformanceTests {
    @Test(arguments: ConformanceCase.all)
    func holds(_ rule: ConformanceCase) async throws {
        let directory = try TemporaryDirectory()
        try NewStore.copy(to: directory.file("relay.db"))
        let store = try SQLiteStore(path: directory.file("relay.db"))
        let second = try SQLiteStore(path: directory.file("relay.db"))
        defer {
            withExtendedLifetime(directory) {
                second.close()
                store.close()
            }
        }
        try await rule.hold(for: store, beside: second)
    }
}
