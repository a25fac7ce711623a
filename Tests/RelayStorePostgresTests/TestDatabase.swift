// SPDX-License-Identifier: Apache-2.0
import PrivatePostgres
import RelayEngine
import StorePeers
import Synchronization
import Telemetry
import TestPeers
import Threading

@testable import RelayStorePostgres

/// A database of a test's own, on the process's server or on one of its own.
struct TestDatabase {
    private static let count = Atomic(0)

    let server: PostgresServer
    let name: String

    /// Makes one with an empty schema.
    init(on server: PostgresServer? = nil) throws {
        try self.init(on: server ?? PostgresServer.shared.get(), like: "template0")
        try connect().execute("CREATE SCHEMA upgrade_relay", until: .soon)
    }

    private init(on server: PostgresServer, like template: String) throws {
        self.server = server
        name = "test_\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        let owner = try Self.dialer(server.conninfo()).dial(.requests, until: .soon)
        try owner.execute("CREATE DATABASE \(name) TEMPLATE \(template)", until: .soon)
    }

    private static let newStore = Result {
        let database = try TestDatabase()
        try database.store().close()
        return database
    }

    /// Returns one with an empty store of this release. The store is made once in a process, because all steps of the schema
    /// take longer than most tests.
    static func ofNewStore() throws -> TestDatabase {
        let template = try newStore.get()
        return try TestDatabase(on: template.server, like: template.name)
    }

    var conninfo: String { server.conninfo(database: name) }

    func connect(_ role: PostgresRole = .requests) throws -> PostgresConnection {
        try Self.dialer(conninfo).dial(role, until: .soon)
    }

    func pool(connections: Int = 8, log: Log = .discarding) throws -> PostgresPool {
        try Self.pool(conninfo, connections: connections, log: log)
    }

    /// Opens a store in it, which may lose its data: the server does not wait for its disk.
    func store() throws -> PostgresStore {
        var options = PostgresStore.Options()
        options.isTrial = true
        return try PostgresStore(
            try PostgresSettings(url: conninfo, library: .load()), options: options)
    }

    static func pool(_ conninfo: String, connections: Int = 8, log: Log = .discarding) throws -> PostgresPool {
        PostgresPool(
            try PostgresSettings(url: conninfo, connections: connections, library: .load()), log: log,
            random: RandomSource { 0 })
    }

    static func dialer(_ conninfo: String, password: String? = nil) throws -> PostgresDialer {
        PostgresDialer(
            conninfo: try Conninfo(conninfo, application: "tests", library: .load()), schema: "upgrade_relay",
            password: password.map { Array($0.utf8) })
    }
}

extension MonotonicTime {
    /// A time at which a test that goes well has long ended.
    static var soon: MonotonicTime { .after(.seconds(60)) }

    static func after(_ duration: Duration) -> MonotonicTime { MonotonicClock.now() + duration }
}

extension PostgresConnection {
    /// The first value of a statement's result, as text.
    func value(_ text: String) throws -> String { try execute(text, until: .soon).text(0, 0) }
}

/// The logged lines, as "level message".
final class LogLines: Sendable {
    let lines = Watched<[String]>([])

    var log: Log {
        Log { [lines] level, message, _ in lines.change { $0.append("\(level.name) \(message)") } }
    }
}
