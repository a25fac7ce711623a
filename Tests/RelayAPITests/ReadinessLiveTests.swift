// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayAPI
import Synchronization
import TestStores
import Testing

@Suite("Health and readiness, live", .ownThread)
struct ReadinessLiveTests {
    @Test("health and readiness")
    func health() throws {
        let bench = try Bench()
        #expect(try bench.askNetwork("GET", "/healthz").text("status") == "ok")
        // A warning is reported and changes nothing.
        bench.control.warningsNow.withLock {
            $0 = [ReadinessFault(part: "certificate:com.example.app", reason: "ends in 8 days")]
        }
        let ready = try bench.askNetwork("GET", "/readyz")
        #expect(ready.status == 200 && ready.text("status") == "ready")
        #expect(ready.text("warnings", "0", "part") == "certificate:com.example.app")
    }

    /// Each of these was a 503: a load balancer that takes the relay out for Apple's outage, a refused reload or one tenant's
    /// sandbox takes the login check out with it.
    @Test(
        "what keeps no request from its answer is told with 200",
        arguments: [
            "apns:com.example.app", "apns:com.example.app/sandbox", "fcm:com.example.app/android",
            "outage:com.example.app", "credential:com.example.app/android", "quota:com.example.app/android",
            "pause:com.example.app", "stopped:com.example.app/sandbox", "environment:com.example.app",
            "app:com.example.app/ios", "source:com.example.app/ios:appStore", "gates", "evidence", "watcher",
            "certificate:com.example.app", "configuration",
        ])
    func degraded(part: String) throws {
        let bench = try Bench()
        bench.control.faultsNow.withLock { $0 = [ReadinessFault(part: part, reason: "it is so")] }
        let answer = try bench.askNetwork("GET", "/readyz")
        #expect(answer.status == 200 && answer.text("status") == "ready")
        #expect(answer.text("degraded", "0", "part") == part && answer.text("degraded", "0", "reason") == "it is so")
        let remedy = try #require(answer.text("degraded", "0", "remedy"))
        #expect(remedy.count > 20, "\(remedy)")
        #expect(answer.text("faults", "0", "part") == nil)
    }

    @Test("what keeps requests from being recorded is 503, whatever else is wrong")
    func notReady() throws {
        let bench = try Bench()
        bench.control.faultsNow.withLock {
            $0 = [
                ReadinessFault(part: "apns:com.example.app", reason: "away"),
                ReadinessFault(part: "store", reason: "the disk is full"),
            ]
        }
        let answer = try bench.askNetwork("GET", "/readyz")
        #expect(answer.status == 503 && answer.text("status") == "notReady")
        #expect(answer.text("faults", "0", "reason") == "the disk is full")
        #expect(answer.text("faults", "0", "remedy")?.contains("store check") == true)
        #expect(answer.text("degraded", "0", "part") == "apns:com.example.app")
    }

    @Test("a table that takes nothing is named while that lasts")
    func table() throws {
        let bench = try Bench()
        try bench.store.administer("ALTER TABLE alert RENAME TO gone")
        try bench.until { try bench.askNetwork("GET", "/readyz").status == 503 }
        let reason = try bench.askNetwork("GET", "/readyz").text("faults", "0", "reason")
        #expect(reason?.contains("alert") == true, "\(reason ?? "none")")
        try bench.store.administer("ALTER TABLE gone RENAME TO alert")
        try bench.until { try bench.askNetwork("GET", "/readyz").status == 200 }
    }
}
