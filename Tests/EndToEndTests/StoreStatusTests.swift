// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

/// `store status` with the real binary: beside a daemon, without one, and on a store that it must not touch.
@Suite(.serialized, .ownThread) struct StoreStatusTests {
    @Test func isTheSameFromTheDaemonAndFromTheFile() throws {
        let bench = try Workbench()
        try bench.start()
        let running = try bench.command("store", "status")
        #expect(running.status == 0, "\(running.errors)")
        #expect(running.output.contains("the first schema") && !running.output.contains("from the file"))
        let json = try bench.command("store", "status", "--json")
        let relay = try #require(bench.relay)
        relay.send(SIGTERM)
        #expect(relay.wait().status == 0)

        let stopped = try bench.command("store", "status")
        #expect(stopped.status == 0, "\(stopped.errors)")
        #expect(stopped.output.contains("first installed  release 0.1.0") && stopped.output.contains("from the file"))
        let before = try tree(json.output)
        let after = try tree(bench.command("store", "status", "--json").output)
        for name in ["path", "schemaVersion", "newestSchemaVersion", "chain", "firstInstalled", "current"] {
            #expect(
                before[name] as? NSObject != nil && before[name] as? NSObject == after[name] as? NSObject, "\(name)")
        }
    }

    @Test func readsWhatAKilledDaemonLeft() throws {
        let bench = try Workbench()
        try bench.start()
        bench.kill()
        let result = try bench.command("store", "status")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("the first schema"))
        try bench.start()
    }

    @Test func aStoreOfANewerReleaseIsRefusedAndLeftUntouched() throws {
        let bench = try Workbench()
        try bench.start()
        let relay = try #require(bench.relay)
        relay.send(SIGTERM)
        #expect(relay.wait().status == 0)
        #expect(try bench.sql("PRAGMA user_version = 99").status == 0)
        let before = try Data(contentsOf: URL(filePath: bench.path("relay.db")))

        let served = try bench.command("serve")
        #expect(served.status == 1)
        let asked = try bench.command("store", "status")
        #expect(asked.status == 1)
        for errors in [served.errors, asked.errors] {
            #expect(errors.contains("has schema version 99; this release knows versions up to"), "\(errors)")
            #expect(errors.contains("Install the release that wrote it, or a later one; the file was not changed"))
        }
        #expect(try Data(contentsOf: URL(filePath: bench.path("relay.db"))) == before)
        // SQLite creates a log beside a database that it opens; it must be empty.
        let log = try? Data(contentsOf: URL(filePath: bench.path("relay.db-wal")))
        #expect(log?.isEmpty ?? true)
    }

    @Test func withoutDaemonAndFileItSaysSo() throws {
        let bench = try Workbench()
        let result = try bench.command("store", "status")
        #expect(result.status == 1)
        #expect(result.errors.contains("there is no store at \(bench.path("relay.db"))"))
        #expect(!FileManager.default.fileExists(atPath: bench.path("relay.db")))
    }

    private func tree(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
}
