// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import RelayEngine
import RelayStore
import TestStores
import Testing
import Threading
import UpgradeRules

@testable import Simulation

/// What is kept of SQLite from one life of a relay to the next (`Tests/CFaultyVFS/kept_connections.c`).
@Suite struct KeptConnectionTests {
    /// The store asks for SQLite's extended result codes, and the other program does not.
    @Test func aConnectionThatIsKeptGoesToWhoAsksForTheSame() throws {
        let storage = try SQLiteStorage()
        try storage.clear()
        // It is closed, and kept, before the store is opened.
        _ = try storage.otherProgram()
        let store = try storage.open(
            SimulatedSetting(
                clock: { Timestamp(seconds: 0) }, ticks: { MonotonicClock.now() }, random: RandomSource { 0 },
                onEnter: {}))
        defer { store.close() }
        storage.arm(.write, first: 1)
        let device = DeviceRegistration(
            app: AppKey(app: "com.example.app", platform: .ios), token: "1", telephone: nil, version: nil)
        let error = #expect(throws: StoreError.self) { try store.register([device], at: Timestamp(seconds: 0)) }
        #expect(error.map { "\($0)" }?.contains("SQLite 778") == true, "\(error.map { "\($0)" } ?? "")")
    }
}
