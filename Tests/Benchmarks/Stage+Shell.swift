// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Stage {
    /// SQLite's own program; nil where it is not installed.
    static var sqliteShell: String? { Child.path(of: "sqlite3") }

    /// Runs SQL on the store by its own program.
    ///
    /// - Returns: what it prints; nil where the program is not installed.
    @discardableResult
    func sql(_ text: String) throws -> String? {
        if let server { return try server.ask(text) }
        guard let shell = Self.sqliteShell else { return nil }
        let answer = String(decoding: try Child(shell, ["-bail", storePath, text]).result(), as: UTF8.self)
        return answer.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
