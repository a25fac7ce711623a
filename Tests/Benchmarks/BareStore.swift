// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The work of an import that its store cannot save: the same number of rows into a table with the indexes of the relay's, by the store's
/// own program (`.import` of the sqlite3 shell, `\copy` of psql). Each row is new, and nothing is looked up, compared or counted.
struct BareStore {
    private let stage: Stage
    private let devices: Int
    private var rowsPath: String { stage.folder.appending(path: "bare.csv").path }
    private var filePath: String { stage.folder.appending(path: "bare.db").path }

    /// - Returns: microseconds of CPU a row, of the shell or of PostgreSQL's server; nil where the program is not installed.
    static func cost(_ devices: Int, _ stage: Stage) throws -> Double? {
        let bare = BareStore(stage: stage, devices: devices)
        defer {
            for path in [bare.rowsPath, bare.filePath] { try? FileManager.default.removeItem(atPath: path) }
        }
        let time = try stage.server.map(bare.copy) ?? bare.insert()
        return time.map { Double($0) / Double(devices) / 1000 }
    }

    /// - Parameter server: has the relay's schema.
    /// - Returns: seconds of the server's CPU for a copy of so many rows.
    static func copyTime(_ devices: Int, _ stage: Stage, to server: StageServer) throws -> Double {
        let bare = BareStore(stage: stage, devices: devices)
        defer { try? FileManager.default.removeItem(atPath: bare.rowsPath) }
        return Double(try bare.copy(server)) / 1e9
    }

    // MARK: SQLite

    private func insert() throws -> UInt64? {
        guard let shell = Stage.sqliteShell else { return nil }
        let definitions = """
            SELECT sql || ';' FROM sqlite_schema
            WHERE tbl_name = 'device' AND type IN ('table', 'index') AND sql IS NOT NULL ORDER BY type DESC
            """
        guard let schema = try stage.sql(definitions) else { return nil }
        // The journal and the cache that the relay has; the shell commits once, at the end.
        _ = try Child(shell, [filePath, "PRAGMA journal_mode = WAL", schema]).result()
        // The columns of the table up to the last that has a value: the shell leaves the others empty.
        try Stage.write(0..<devices, to: rowsPath) { number in
            "\(number + 1),1,\(Sender.token(number)),\(Self.mixed(number)),\(Sender.telephone(number)),1.0.0,0,\(Self.time)\n"
        }
        let before = ProcessUsage.childrensTime
        // It warns of each row that columns are left empty.
        let command = "\"$0\" \"$1\" 'PRAGMA cache_size = -16384' '.mode csv' \".import $2 device\" 2> /dev/null"
        _ = try Child("/bin/sh", ["-c", command, shell, filePath, rowsPath]).result()
        let time = ProcessUsage.childrensTime - before
        let count = try Child(shell, ["-readonly", filePath, "SELECT count(*) FROM device"]).result()
        return try checked(time, String(decoding: count, as: UTF8.self).trimmingCharacters(in: .newlines))
    }

    // MARK: PostgreSQL

    private func copy(_ server: StageServer) throws -> UInt64 {
        try server.ask("CREATE TABLE bare (LIKE upgrade_relay.device INCLUDING ALL)")
        defer { _ = try? server.ask("DROP TABLE bare") }
        try Stage.write(0..<devices, to: rowsPath) { number in
            let digest = [number, ~number].map { String(format: "%016lx", Self.mixed($0)) }.joined()
            return
                "\(number + 1),1,\(digest),\\x00\(Sender.token(number)),\(Sender.telephone(number)),1.0.0,0,\(Self.time)\n"
        }
        let before = try server.usage(asksFirst: true)
        try server.ask(
            "\\copy bare (id, app_id, digest, token, telephone, version, environment, registered_at)"
                + " from '\(rowsPath)' (FORMAT csv)")
        let time = try server.usageOfEndedSessions().processorTime - before.processorTime
        return try checked(time, server.ask("SELECT count(*) FROM bare"))
    }

    // MARK: Rows

    private static let time = 1_764_500_000_000

    private func checked(_ time: UInt64, _ count: String) throws -> UInt64 {
        guard count == "\(devices)" else { throw BenchError("the bare store has \(count) of \(devices) rows") }
        return time
    }

    /// A number in no order, as a token's hash is (the finaliser of SplitMix64).
    private static func mixed(_ number: Int) -> Int {
        var bits = UInt64(bitPattern: Int64(number)) &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return Int(Int64(bitPattern: bits ^ bits >> 31))
    }
}
