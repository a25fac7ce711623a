// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing

@testable import RelayStorePostgres

/// A password goes in clear text only if the settings allow that explicitly.
@Suite("Whether the way to the database is protected")
struct ConninfoProtectionTests {
    private static func refusal(_ url: String, _ environment: [String: String] = [:]) throws -> StoreError? {
        do {
            _ = try Conninfo(url, application: "tests", environment: environment, library: .load())
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Refused",
        arguments: [
            ("postgresql://relay@db1/relay", [:]), ("host=db1", [:]), ("host=10.0.0.1 user=relay", [:]),
            ("postgresql://relay@[fd00::1]/relay", [:]), ("postgresql://[::]/relay", [:]), ("host=0.0.0.0", [:]),
            ("postgresql://relay@db1/relay?sslmode=prefer", [:]), ("host=db1 sslmode=allow", [:]),
            ("host=db1 sslmode=Disable", [:]), ("host=/run/postgresql sslmode=no", [:]),
            // One unprotected host of several is enough.
            ("host=/run/postgresql,db2", [:]), ("postgresql://localhost,db2:5433/relay", [:]),
            ("host=db1,localhost", [:]), ("host=127.0.0.1,10.1.1.1 port=1,2", [:]),
            // The address is the one connected to, whatever the name.
            ("host=localhost hostaddr=10.0.0.1", [:]), ("hostaddr=10.0.0.1", [:]),
            ("host=localhost,localhost hostaddr=127.0.0.1,10.0.0.1", [:]),
            ("postgresql:///relay?host=db1", [:]), ("postgresql:///relay?hostaddr=10.0.0.1", [:]),
            // These are not names of this machine.
            ("host=localhost.example.com", [:]), ("host=127.0.0.1.example.com", [:]), ("host=127.1", [:]),
            // The environment neither protects nor loosens.
            ("host=db1", ["PGSSLMODE": "verify-full"]), ("host=db1", ["PGSSLMODE": "disable"]),
            ("dbname=relay", ["PGHOST": "db1"]), ("dbname=relay", ["PGHOST": "localhost,db1"]),
            ("host=localhost", ["PGHOSTADDR": "10.0.0.1"]), ("host=/run/postgresql", ["PGHOSTADDR": "10.0.0.1"]),
            ("host=localhost,", ["PGHOST": "db1"]),
            // A service's file may set anything.
            ("service=relay", [:]), ("host=localhost service=relay", [:]), ("postgresql:///?service=relay", [:]),
            ("host=/run/postgresql", ["PGSERVICE": "relay"]),
            ("service=relay sslmode=prefer", [:]),
        ] as [(String, [String: String])])
    func refused(url: String, environment: [String: String]) throws {
        let error = try #require(try Self.refusal(url, environment), "\(url)")
        #expect(error.code == .failed)
        #expect(error.context.hasPrefix("store.postgres.url "))
        #expect(error.context.contains("sslmode"), "\(error.context)")
        #expect(error.hint?.contains("sslmode=verify-full") == true)
        #expect(error.hint?.contains("sslmode=disable") == true)
    }

    @Test(
        "Taken",
        arguments: [
            ("postgresql://relay@db1,db2/relay?sslmode=verify-full", [:]), ("host=db1 sslmode=verify-ca", [:]),
            ("host=db1 sslmode=require", [:]), ("host=db1 sslmode=disable", [:]),
            ("host=db1 sslmode=verify-full", ["PGSSLMODE": "disable", "PGHOSTADDR": "10.0.0.1"]),
            ("service=relay sslmode=verify-full", [:]), ("host=/run/postgresql sslmode=disable", ["PGSERVICE": "x"]),
            ("host=/run/postgresql", [:]), ("host=@relay", [:]), ("dbname=relay", [:]), ("postgresql:///relay", [:]),
            ("postgresql://%2Frun%2Fpostgresql/relay", [:]),
            ("host=localhost", [:]), ("host=LOCALHOST", [:]), ("host=127.0.0.1", [:]), ("host=127.3.2.1", [:]),
            ("postgresql://[::1]/relay", [:]), ("hostaddr=::ffff:127.0.0.1", [:]),
            ("host=db1 hostaddr=127.0.0.1", [:]), ("host=localhost,127.0.0.1,/tmp port=1,2,3", [:]),
            ("host=localhost sslmode=prefer", [:]), ("host=localhost", ["PGHOST": "db1", "PGSSLMODE": "prefer"]),
            ("dbname=relay", ["PGHOST": "/run/postgresql"]), ("dbname=relay", ["PGSERVICE": ""]),
        ] as [(String, [String: String])])
    func taken(url: String, environment: [String: String]) throws {
        #expect(try Self.refusal(url, environment)?.context == nil, "\(url)")
    }

    /// Opening a store, its inquiry and the check of its configuration all have these settings and no others.
    @Test func settingsAskTheSameQuestion() throws {
        let library = try PostgresLibrary.load()
        #expect(throws: StoreError.self) { try PostgresSettings(url: "host=db1", library: library) }
        #expect(throws: StoreError.self) {
            try PostgresSettings(url: "host=localhost", environment: ["PGHOSTADDR": "10.0.0.1"], library: library)
        }
        #expect(try PostgresSettings(url: "host=db1 sslmode=require", library: library).schema == "upgrade_relay")
    }
}
