// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing

@testable import RelayStorePostgres

@Suite("Where the database is")
struct ConninfoTests {
    private static func conninfo(_ text: String) throws -> Conninfo {
        try Conninfo(text, application: "upgrade-relay", library: PostgresLibrary.load())
    }

    private static func options(_ info: Conninfo) -> [String: String] {
        Dictionary(uniqueKeysWithValues: info.options.map { ($0.keyword, $0.value) })
    }

    @Test func aURLWithTwoServers() throws {
        let info = try Self.conninfo("postgresql://relay@db1,db2:5433/relay?sslmode=verify-full&connect_timeout=2")
        #expect(info.place == "db1,db2/relay")
        #expect(info.timeout == .seconds(2))
        #expect(
            info.servers.map { $0.map { "\($0.keyword)=\($0.value)" } } == [["host=db1"], ["host=db2", "port=5433"]])
        let options = Self.options(info)
        #expect(options["user"] == "relay")
        #expect(options["sslmode"] == "verify-full")
        #expect(options["target_session_attrs"] == "read-write")
        #expect(options["application_name"] == "upgrade-relay")
        #expect(options["keepalives_idle"] == "2")
        #expect(options["client_encoding"] == "UTF8")
        #expect(options["connect_timeout"] == nil)
    }

    @Test func keysAndValues() throws {
        let info = try Self.conninfo(
            "host=/run/postgresql port=5433 dbname='my relay' application_name=mine keepalives_idle=9 target_session_attrs=primary"
        )
        #expect(info.place == "/run/postgresql/my relay")
        #expect(info.timeout == .seconds(3))
        let options = Self.options(info)
        #expect(options["application_name"] == "mine")
        #expect(options["keepalives_idle"] == "9")
        #expect(options["target_session_attrs"] == "primary")
    }

    @Test func onePortForAllServers() throws {
        let info = try Self.conninfo("host=a,b port=7777 sslmode=require")
        #expect(info.servers.map { $0.map(\.value) } == [["a", "7777"], ["b", "7777"]])
    }

    /// A text that may hold a password is never quoted.
    @Test(
        "A password is refused, and in no message",
        arguments: [
            "postgresql://relay:hunter2@db1/relay", "host=db1 password=hunter2",
            "postgresql://db1/relay?password=hunter2",
            "postgresql://db1/relay?sslpassword=hunter2", "postgresql://relay:hun/hunter2@db1/relay",
            "postgresql://relay:hun@hunter2@db1/relay", "postgresql://relay:hun?hunter2@db1/relay",
            "postgresql://relay:hunter2/relay", "host=db1 password=a hunter2",
            "postgresql://relay:%zzhunter2@db1/relay",
            "host=db1 'hunter2", "postgresql://db1/relay?hunter2=1", "postgresql://[hunter2", "host=db1 pass=hunter2",
        ])
    func password(text: String) throws {
        let error = try #require(throws: StoreError.self) { try Self.conninfo(text) }
        #expect(!error.description.contains("hunter2"), "\(error.description)")
        #expect(!error.description.contains("hun"), "\(error.description)")
        #expect(error.context.hasPrefix("store.postgres.url "))
        #expect(error.hint != nil)
    }

    @Test(arguments: ["", "postgresql://db1:0/relay", "postgresql://db1:70000/x", "host=a,b,c port=1,2"])
    func whatIsNoPlace(text: String) throws {
        let error = try #require(throws: StoreError.self) { try Self.conninfo(text) }
        #expect(error.code == .failed)
        #expect(error.hint != nil)
    }

    @Test func settings() throws {
        let library = try PostgresLibrary.load()
        func error(_ schema: String = "upgrade_relay", _ connections: Int = 8, _ password: [UInt8]? = nil)
            -> StoreError?
        {
            #expect(throws: StoreError.self) {
                try PostgresSettings(
                    url: "host=db1 sslmode=require", password: password, schema: schema, connections: connections,
                    library: library)
            }
        }
        #expect(error("Relay")?.context == "store.postgres.schema is \"Relay\"")
        #expect(error("a\"; DROP TABLE device; --") != nil)
        #expect(error("pg_relay") != nil)
        #expect(error("a", 4)?.context == "store.postgres.connections is 4")
        #expect(error("a", 65) != nil)
        #expect(error("a", 8, [])?.context.hasPrefix("store.postgres.password") == true)
        #expect(error("a", 8, [0x61, 0, 0x62]) != nil)
        #expect(try PostgresSettings(url: "host=db1 sslmode=require", library: library).schema == "upgrade_relay")
    }

    @Test func connectionsByRole() {
        #expect(PostgresRole.allCases.map { $0.connections(of: 8) }.reduce(0, +) == 8)
        #expect(PostgresRole.requests.connections(of: 8) == 4)
        #expect(PostgresRole.requests.connections(of: 5) == 1)
    }
}

@Suite("PostgreSQL's client library")
struct PostgresLibraryTests {
    @Test func itIsThere() throws {
        #expect(try PostgresLibrary.load().version >= 130_000)
    }

    @Test func itIsMissing() throws {
        let error = try #require(throws: StoreError.self) { try PostgresLibrary(named: "libpq.so.none") }
        #expect(error.context.contains("libpq.so.none"))
        #expect(error.hint?.contains("apt install libpq5") == true)
    }

    @Test func itIsAnother() throws {
        let error = try #require(throws: StoreError.self) { try PostgresLibrary(named: "libm.so.6") }
        #expect(error.context.contains("it has no PQlibVersion"))
        #expect(error.hint?.contains("apt install libpq5") == true)
    }
}
