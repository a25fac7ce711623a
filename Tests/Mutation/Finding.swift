// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// The result of a search for one mutant.
package enum Finding: Hashable, Sendable {
    /// After so many seeds by a promise; 0 seeds by something else, such as a suite of tests.
    case found(seeds: Int, by: String)
    /// By none of so many seeds.
    case lives(seeds: Int)

    package var isFound: Bool { if case .found = self { true } else { false } }
}

/// Findings, kept in a file so that a run that was ended goes on where it was. One line for each: a key, seeds, what found it. Any thread may
/// use them.
package final class Findings: @unchecked Sendable {
    private let file: URL
    private let lock = NSLock()
    private var rows: [String: Finding] = [:]

    package init(in file: URL) throws {
        self.file = file
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return }
        for line in text.split(separator: "\n") {
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard cells.count == 3, let seeds = Int(cells[1]) else { continue }
            rows[cells[0]] = cells[2].isEmpty ? .lives(seeds: seeds) : .found(seeds: seeds, by: cells[2])
        }
    }

    package subscript(_ key: String) -> Finding? { lock.withLock { rows[key] } }

    package func put(_ finding: Finding, _ key: String) throws {
        try lock.withLock { try write(finding, key) }
    }

    private func write(_ finding: Finding, _ key: String) throws {
        rows[key] = finding
        let cells =
            switch finding {
            case .found(let seeds, let by): [key, "\(seeds)", by]
            case .lives(let seeds): [key, "\(seeds)", ""]
            }
        let line = Data((cells.joined(separator: "\t") + "\n").utf8)
        guard let handle = try? FileHandle(forWritingTo: file) else { return try line.write(to: file) }
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: line)
    }
}
