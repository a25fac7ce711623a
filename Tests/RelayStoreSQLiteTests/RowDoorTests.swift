// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStoreSQLite
import StoreConformance
import TestStores
import Testing

@Suite("Another program's row is judged as a bump is", .ownThread) struct RowDoorTests {
    @Test(arguments: BumpSample.all)
    func waits(sample: BumpSample) throws {
        let fixture = try StoreFixture()
        try BumpSample.hold(sample, in: fixture.store) { try fixture.store.administer($0) }
    }

    @Test("A text that it spoils of what is in force is not said")
    func spoiled() throws {
        let fixture = try StoreFixture()
        try BumpSample.holdSpoiled(in: fixture.store) { try fixture.store.administer($0) }
    }
}
