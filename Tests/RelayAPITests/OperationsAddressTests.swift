// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Synchronization
import Testing

/// `listen.operations`: a second address, for the relay's operators.
@Suite("The address for operations, live", .ownThread)
struct OperationsAddressTests {
    private static let kept = ["/healthz", "/openapi.json"]

    @Test("it serves health, readiness, metrics and the document, and nothing else")
    func serves() throws {
        let bench = try Bench(operations: true)
        for path in Self.kept + ["/readyz", "/metrics"] {
            #expect(try bench.askOperations("GET", path).status == 200, "\(path)")
        }
        let token = [("Authorization", "Bearer \(try bench.newToken(.status))")]
        for path in [
            "/v1/apps", "/v1/campaigns", CheckLiveTests.path("1.0"), "/v1/apps/com.example.app/launchgate.json",
            "/v1/store",
            "/v1/enforce?app=com.example.app&platform=ios&version=1", "/v1/enforce/below", "/nothing",
        ] {
            #expect(try bench.askOperations("GET", path, headers: token).status == 404, "\(path)")
        }
        let put = try bench.askOperations("PUT", "/v1/apps/com.example.app/ios/version", "{")
        #expect(put.status == 404 && put.text("detail")?.contains("/readyz") ?? false, "\(put.body)")
    }

    @Test("the first address tells nothing of apps and figures then; the control socket does")
    func firstAddress() throws {
        let bench = try Bench(operations: true)
        let metrics = try bench.askNetwork("GET", "/metrics")
        #expect(metrics.status == 404 && metrics.text("detail")?.contains("listen.operations") ?? false)
        #expect(try bench.askNetwork("GET", "/readyz").body == #"{"status":"ready"}"#)
        for path in Self.kept { #expect(try bench.askNetwork("GET", path).status == 200, "\(path)") }
        bench.control.faultsNow.withLock {
            $0 = [ReadinessFault(part: "store", reason: "no room for com.example.app")]
        }
        // The result is kept for a second.
        try bench.until { try bench.askNetwork("GET", "/readyz").status == 503 }
        #expect(try bench.askNetwork("GET", "/readyz").body == #"{"status":"notReady"}"#)
        #expect(try bench.askOperations("GET", "/readyz").body.contains("com.example.app"))
        #expect(try bench.ask("GET", "/readyz").body.contains("com.example.app"))
        #expect(try bench.ask("GET", "/metrics").status == 200)
    }

    @Test("without it the one address serves all of it")
    func without() throws {
        let bench = try Bench()
        #expect(bench.server.operationsPort == nil)
        #expect(try bench.askNetwork("GET", "/metrics").status == 200)
        #expect(try bench.askNetwork("GET", "/readyz").text("status") == "ready")
        #expect(try bench.askNetwork("GET", "/readyz").count("faults") == 0)
    }
}
