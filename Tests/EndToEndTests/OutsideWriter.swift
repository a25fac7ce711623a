// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Another program in the middle of a long transaction: sqlite3, which keeps the write lock until `commit`.
final class OutsideWriter {
    private let process = Process()
    private let input = Pipe()

    /// Returns when it has the lock.
    ///
    /// - Parameter change: the SQL that it has run by then.
    init(_ path: String, change: String = "") throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/sqlite3")
        process.arguments = ["-cmd", ".timeout 60000", path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("BEGIN IMMEDIATE;\n\(change)\nSELECT 'held';\n".utf8))
        guard String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("held") else {
            throw Unexpected("sqlite3 does not get the write lock of \(path)")
        }
    }

    /// Returns when the lock is free.
    func commit() throws {
        try input.fileHandleForWriting.write(contentsOf: Data("COMMIT;\n".utf8))
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    deinit {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }
}
