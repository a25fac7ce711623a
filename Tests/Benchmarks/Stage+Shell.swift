// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivatePostgres

extension Stage {
    /// The programs of the stores themselves; nil where they are not installed.
    static var sqliteShell: String? { Child.path(of: "sqlite3") }
    static var postgresShell: String? { PostgresServer.binaries.map { $0 + "/psql" } }

    /// Runs SQL on the store by its own program.
    ///
    /// - Returns: what it prints; nil where the program is not installed.
    @discardableResult
    func sql(_ text: String) throws -> String? {
        let child: Child
        if let server {
            guard let shell = Self.postgresShell else { return nil }
            child = try Child(
                shell, ["--no-psqlrc", "-d", server.conninfo, "-v", "ON_ERROR_STOP=1", "-Atqc", text])
        } else {
            guard let shell = Self.sqliteShell else { return nil }
            child = try Child(shell, ["-bail", storePath, text])
        }
        return String(decoding: try child.result(), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
