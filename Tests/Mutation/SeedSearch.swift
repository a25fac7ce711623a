// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Runs fresh seeds of the simulation with one mutant on, until a promise breaks.
package struct SeedSearch: Sendable {
    /// Seeds in one process. A process that stands still, or dies, is seen at the end of its piece.
    private static let piece = 250

    private let binary: URL
    private let folder: URL
    package let base: UInt64
    /// A piece of seeds may take so long, in seconds: some times what it takes as a rule.
    private let limit: Int

    /// - Parameters:
    ///   - folder: of the scratch copy; logs are written beside it.
    ///   - base: the first seed.
    package init(_ binary: URL, in folder: URL, base: UInt64, limit: Int = 900) {
        (self.binary, self.folder, self.base, self.limit) = (binary, folder, base, limit)
    }

    /// - Parameters:
    ///   - number: of the mutant; 0: none.
    ///   - seeds: at most, with those before.
    ///   - before: so many were looked at already, and passed over now. Default none.
    ///   - note: is called with how many it has outlived, now and then. Default nothing.
    package func run(_ number: Int, isOfFleet: Bool, seeds: Int, before: Int = 0, note: (Int) throws -> Void = { _ in })
        throws -> Finding
    {
        var done = before
        while done < seeds {
            let count = min(Self.piece, seeds - done)
            let first = base + UInt64(done)
            let words =
                [binary.path, "--seeds", "\(count)", "--base", "\(first)", "--most", "1", "--no-shrink"]
                + (isOfFleet ? ["--fleet"] : [])
            let child = try Child.run(
                words, in: folder, limit: limit, environment: ["MUTANT": "\(number)"],
                log: folder.deletingLastPathComponent().appending(path: "logs/seeds-\(number).log"))
            // The lowest, should several be looked at side by side.
            let broken = child.output.matches(of: /(?m)^seed (\d+) .*?breaks ([A-Za-z.]+)/).compactMap { match in
                UInt64(match.output.1).map { (seed: $0, rule: String(match.output.2)) }
            }
            if let first = broken.min(by: { $0.seed < $1.seed }) {
                return .found(seeds: Int(first.seed - base) + 1, by: first.rule)
            }
            if child.tookTooLong { return .found(seeds: done + count, by: "stands still") }
            guard child.code == 0 else {
                if child.code == 2 { throw MutationError("mutant \(number): \(child.output.suffix(400))") }
                return .found(seeds: done + count, by: "dies")
            }
            done += count
            try note(done)
        }
        return .lives(seeds: seeds)
    }
}

/// Does work side by side.
package enum SideBySide {
    /// - Parameters:
    ///   - jobs: so many at a time.
    ///   - body: is called for each, on any thread.
    /// - Throws: the first error of any, when what had begun has ended.
    package static func run<Item: Sendable>(
        _ items: [Item], jobs: Int, _ body: @Sendable @escaping (Item) throws -> Void
    ) throws {
        let line = Line(items)
        let group = DispatchGroup()
        for _ in 0..<max(1, min(jobs, items.count)) {
            group.enter()
            let thread = Thread {
                while let item = line.next() {
                    do { try body(item) } catch { line.fail(error) }
                }
                group.leave()
            }
            thread.start()
        }
        group.wait()
        if let error = line.error { throw error }
    }

    private final class Line<Item: Sendable>: @unchecked Sendable {
        private let lock = NSLock()
        private var items: [Item]
        private(set) var error: (any Error)?

        init(_ items: [Item]) { self.items = items.reversed() }

        func next() -> Item? { lock.withLock { error == nil ? items.popLast() : nil } }

        func fail(_ error: any Error) { lock.withLock { self.error = self.error ?? error } }
    }
}
