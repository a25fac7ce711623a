// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import RelayEngine
import RelayStore
import Requirements
import TestStores
import Testing
import Threading
import UpgradeRules

@testable import Simulation

/// SQLite connections that are kept from one life of a relay to the next (`Tests/CFaultyVFS/kept_connections.c`).
@Suite struct KeptConnectionTests {
    /// The store asks for SQLite's extended result codes, and the other program does not.
    @Test func aConnectionThatIsKeptGoesToWhoAsksForTheSame() throws {
        let storage = try SQLiteStorage()
        try storage.clear()
        // The connection is closed, and kept, before the store is opened.
        _ = try storage.otherProgram()
        let store = try open(storage)
        defer { store.close() }
        storage.arm(.write, first: 1)
        let error = #expect(throws: StoreError.self) { try store.register([device], at: Timestamp(seconds: 0)) }
        #expect(error.map { "\($0)" }?.contains("SQLite 778") == true, "\(error.map { "\($0)" } ?? "")")
    }

    /// The registry is read again only when its tables were written, by any program.
    @Test func theRegistryIsKnownToBeAnother() throws {
        let storage = try SQLiteStorage()
        try storage.clear()
        let store = try open(storage)
        defer { store.close() }
        let other = try storage.otherProgram()
        try storage.copy(to: 0)
        func isAnother(_ act: () throws -> Void) rethrows -> Bool {
            let (before, writes) = (storage.registryChanges, storage.writes)
            try act()
            #expect(storage.writes != writes)
            return before == nil || storage.registryChanges != before
        }
        #expect(try isAnother { try store.register([device], at: Timestamp(seconds: 0)) })
        #expect(try !isAnother { try store.checkWritable() })
        let id = try #require(try store.device(device.app, token: device.token)).id
        #expect(try isAnother { try other.deleteDevice(id) })
        #expect(try isAnother { try store.register([device], at: Timestamp(seconds: 0)) })
        #expect(try isAnother { try storage.putBack(from: 0) })
        #expect(try store.device(device.app, token: device.token) == nil)
    }

    private let device = DeviceRegistration(
        app: AppKey(app: "com.example.app", platform: .ios), token: "1", telephone: nil, version: nil)

    private func open(_ storage: SQLiteStorage) throws -> any TestStore {
        try storage.open(
            SimulatedSetting(
                clock: { Timestamp(seconds: 0) }, ticks: { MonotonicClock.now() }, random: RandomSource { 0 },
                onEnter: {}))
    }
}
