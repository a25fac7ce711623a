// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Telemetry
import TestPeers
import TestStores
import Testing

@testable import RelayDaemon

@Suite(.ownThread) struct PastWatchTests {
    private let store: any TestStore
    private let now = Timestamp(seconds: 1_800_000_000)
    private let told = Watched<[String]>([])

    init() throws {
        store = try openStore("\(try TestFolder.make())/relay.db")
    }

    private func watch() -> RollbackWatch {
        RollbackWatch(store: store, notedAt: nil, log: Log(minimum: .error) { _, _, _ in }, clock: { now })
    }

    private func hear(_ event: RelayEvent) {
        guard case .part(let part, let reason) = event.subject else { return }
        told.change { $0.append("\(event.type.rawValue) \(part): \(reason.prefix(28))") }
    }

    @Test func `A store that went back is told of at once, once, and so is the end of it`() {
        let watch = watch()
        watch.begin()
        watch.notify(by: hear)
        watch.look()
        #expect(told.now.isEmpty)
        store.membership.memory.fell(to: nil)
        #expect(told.now == ["store.wentBack past: the store went back in time:"])
        store.membership.memory.fell(to: nil)
        watch.notify(by: hear)
        #expect(told.now.count == 1)
        watch.look()
        watch.look()
        #expect(told.now.dropFirst() == ["relay.recovered past: "])
        store.membership.memory.fell(to: nil)
        #expect(told.now.count == 3)
    }

    /// After a failover the watch's look began, a commit found the fall, and the look ended it: `store accept` had nothing to accept.
    @Test func `A look that began before the fall was found does not end it`() throws {
        let memory = Watched<StoreMemory?>(nil)
        let store = try openStore(
            "\(try TestFolder.make())/relay.db",
            onEnter: {
                // A commit finds it while the look is on its way to the store.
                memory.now?.fell(to: nil)
                memory.change { $0 = nil }
            })
        try store.lookBack()
        memory.change { $0 = store.membership.memory }
        #expect(throws: StoreError.self) { try store.lookBack() }
        #expect(store.membership.memory.hasFallen)
        try store.lookBack()
        #expect(!store.membership.memory.hasFallen)
    }

    @Test func `A fall that is found before there are receivers is told to them`() {
        let watch = watch()
        watch.begin()
        store.membership.memory.fell(to: nil)
        watch.notify(by: hear)
        #expect(told.now.map { $0.prefix(14) } == ["store.wentBack"])
    }
}
