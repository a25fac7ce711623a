// SPDX-License-Identifier: Apache-2.0
import Foundation
import StoreSQL
import Testing

@testable import RelayStoreSQLite

/// The compiler proves that no statement is put together from foreign text: `SQL` takes no `String`. These tests look at the
/// ways that are left.
@Suite("Statements come from the source")
struct StatementTextTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardizedFileURL

    /// Lines of Swift, without comments, that hold `text`, by file.
    private func lines(with text: String) throws -> [String: Int] {
        var found: [String: Int] = [:]
        let files = FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let count = lines.count { $0.contains(text) && !$0.drop { $0 == " " }.hasPrefix("//") }
            if count > 0 { found[file.lastPathComponent] = count }
        }
        return found
    }

    @Test("SQLite compiles a statement in two places, and both take SQL")
    func doors() throws {
        #expect(try lines(with: "sqlite3_prepare") == ["Statement.swift": 1])
        #expect(try lines(with: "sqlite3_exec(") == ["SQLiteConnection.swift": 1])
    }

    @Test(
        "What is no literal comes from the program's own files, or by maintenance and inspection, which only tests use")
    func typed() throws {
        #expect(
            try lines(with: "SQL(typed:") == [
                "SQL.swift": 1, "SQLiteStore.swift": 3, "Migration+Chain.swift": 1, "TransferredTable.swift": 1,
                "PortableText.swift": 1,
            ])
        #expect(try lines(with: ".administer(") == [:])
        #expect(try lines(with: ".inspect(") == [:])
    }

    @Test("What every driver has in common says nothing that only SQLite knows, but where the dialect does")
    func common() throws {
        let words = [
            "iif(", "json_", "INSERT OR ", "INDEXED", "CROSS JOIN device", "GLOB", "julianday", "randomblob", "instr(",
            "LIMIT -1", "rowid", "PRAGMA",
        ]
        let folder = Self.sources.appending(path: "Store/StoreSQL")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 20)
        for file in files where file != "SQLDialect.swift" {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for word in words { #expect(!text.contains(word), "\(file): \(word)") }
        }
    }

    @Test("Texts are put together from the source's own and from numbers")
    func parts() {
        let table: SQL = "device"
        let sql: SQL = "SELECT \(7) FROM \(table) WHERE " + "id = ?"
        #expect(sql.description == "SELECT 7 FROM device WHERE id = ?")
    }
}
