// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A copy of a store's files as a kill left them: opening the originals would do the recovery that the next daemon must do.
struct StoreImage {
    private let folder: URL
    private let path: String

    init(of store: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "image-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "relay.db").path
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store + suffix) {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: path + suffix)
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns the answer of one query, a line for each row.
    func lines(_ query: String) throws -> [Substring] {
        let result = try CommandResult.of([path, query], program: URL(filePath: "/usr/bin/sqlite3"))
        guard result.status == 0 else { throw Unexpected("\(query): \(result.errors)") }
        return result.output.split(separator: "\n")
    }

    func number(_ query: String) throws -> Int {
        guard let number = try lines(query).first.flatMap({ Int($0) }) else { throw Unexpected("no number: \(query)") }
        return number
    }

    /// Expects that SQLite's integrity and foreign key checks find nothing wrong.
    func expectSound(_ comment: String) throws {
        #expect(try lines("PRAGMA integrity_check") == ["ok"], "\(comment)")
        #expect(try lines("PRAGMA foreign_key_check") == [], "\(comment)")
    }

    /// The pushes that the ledger records as accepted, in its rows and in its batches.
    func accepted() throws -> Int {
        try number(
            """
            SELECT (SELECT count(*) FROM delivery WHERE state = 2)
                + (SELECT coalesce(sum(accepted), 0) FROM delivery_batch)
            """)
    }

    /// Compares the counts of every campaign with the ledger's rows and batches, and those of every app with the registry.
    func expectCountsToAddUp(_ comment: String) throws {
        let wrong = try lines(
            """
            SELECT c.public_id, n.accepted, n.retrying, n.rejected, n.unregistered, n.expired, n.filtered, n.cancelled
            FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id WHERE c.state NOT IN ('cancelled', 'superseded') AND
                (n.accepted, n.retrying, n.rejected, n.unregistered, n.filtered) IS NOT
                (SELECT count(*) FILTER (WHERE state = 2) + packed.accepted, count(*) FILTER (WHERE state = 3),
                    count(*) FILTER (WHERE state = 4), count(*) FILTER (WHERE state = 5),
                    count(*) FILTER (WHERE state = 7) + packed.filtered
                 FROM (SELECT coalesce(sum(accepted), 0) AS accepted, coalesce(sum(filtered), 0) AS filtered
                       FROM delivery_batch WHERE campaign_id = c.id) AS packed
                    LEFT JOIN delivery AS d ON d.campaign_id = c.id)
            """)
        #expect(wrong == [], "\(comment): campaigns whose counts are not their rows")
        let apps = try lines(
            """
            SELECT a.name FROM app AS a WHERE a.devices IS NOT
                (SELECT count(*) FROM device AS d WHERE d.app_id = a.id AND d.removed_at IS NULL)
            """)
        #expect(apps == [], "\(comment): apps whose count is not their devices")
    }
}
