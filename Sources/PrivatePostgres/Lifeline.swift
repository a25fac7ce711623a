// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A program that ends when its input does, which is when nobody holds this any more, or the process is gone.
final class Lifeline: Sendable {
    private struct Ends: @unchecked Sendable {
        // Used under the lock alone.
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        var hasEnded = false

        func line() throws -> String {
            var line: [UInt8] = []
            while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A {
                line.append(byte)
            }
            return String(decoding: line, as: UTF8.self)
        }
    }

    private let ends = Mutex(Ends())

    /// - Parameter user: who runs it; nil: as this process.
    init(as user: String?, _ command: [String]) throws {
        let words = user.map { ["/usr/bin/setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups", "--"] } ?? []
        let all = words + command
        try ends.withLock { ends in
            ends.process.executableURL = URL(filePath: all[0])
            ends.process.arguments = Array(all.dropFirst())
            ends.process.standardInput = ends.input
            ends.process.standardOutput = ends.output
            // A terminal's Ctrl-C must not reach it before this process has ended, and our folder is no place of its user's.
            ends.process.currentDirectoryURL = URL(filePath: "/tmp")
            try ends.process.run()
        }
    }

    deinit { end() }

    /// Returns when the program has ended.
    func end() {
        ends.withLock { ends in
            guard !ends.hasEnded else { return }
            ends.hasEnded = true
            try? ends.input.fileHandleForWriting.close()
            ends.process.waitUntilExit()
        }
    }

    /// The next line that it writes; "" where it has ended.
    func line() throws -> String { try ends.withLock { try $0.line() } }

    /// Gives it a line; returns the line that it answers with.
    func ask(_ command: String) throws -> String {
        try ends.withLock { ends in
            try ends.input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
            return try ends.line()
        }
    }
}
