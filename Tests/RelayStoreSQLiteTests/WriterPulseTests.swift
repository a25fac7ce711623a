// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import RelayStoreSQLite
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@testable import Telemetry

@Suite("The writer's pulse", .timeLimit(.minutes(60)), .ownThread)
struct WriterPulseTests {
    @Test("A call that does not come back is work without a beat")
    func stuck() throws {
        let fixture = try StoreFixture()
        #expect(fixture.store.pulse.reading.isAtRest)
        let (inside, goOn, done) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let bump = VersionBump(app: fixture.app, latest: try Version("1.0"), required: nil)
        Thread {
            _ = try? fixture.store.apply(bump, actor: "a", source: "b", at: fixture.now, draft: nil, receipt: nil) {
                _ in
                inside.signal()
                goOn.wait()
                return StoredAnswer(status: 200, body: [])
            }
            done.signal()
        }.start()
        #expect(inside.wait(timeout: .now() + 20) == .success)
        let reading = fixture.store.pulse.reading
        #expect(!reading.isAtRest)
        goOn.signal()
        #expect(done.wait(timeout: .now() + 20) == .success)
        #expect(fixture.store.pulse.reading.isAtRest)
        try fixture.store.checkWritable()
        #expect(fixture.store.pulse.reading != reading, "it beats with each call")
    }

    @Test("A long statement beats while it runs")
    func long() throws {
        let fixture = try StoreFixture()
        let before = fixture.store.pulse.reading
        // Some ten million instructions in one call.
        try fixture.store.administer(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT sum(i) FROM n")
        #expect((fixture.store.pulse.reading.state - before.state) / 2 > 3)
    }
}
