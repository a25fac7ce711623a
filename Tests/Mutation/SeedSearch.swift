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
            let child = try simulate(number, isOfFleet, first..<(first + UInt64(count)))
            // The lowest, should several be looked at side by side.
            let broken = child.output.matches(of: /(?m)^seed (\d+) .*?breaks ([A-Za-z.]+)/).compactMap { match in
                UInt64(match.output.1).map { (seed: $0, rule: String(match.output.2)) }
            }.min { $0.seed < $1.seed }
            if let broken {
                done = Int(broken.seed - base) + 1
                if try holds(isOfFleet, broken.seed..<(broken.seed + 1)) { return .found(seeds: done, by: broken.rule) }
                show("seed \(broken.seed) breaks \(broken.rule) without a mutant, too: it does not count")
            } else {
                done += count
                if child.end == .exited(2) { throw MutationError("mutant \(number): \(child.output.suffix(400))") }
                if child.end != .exited(0), try holds(isOfFleet, first..<(first + UInt64(count))) {
                    return .found(seeds: done, by: child.end == .tookTooLong ? "stands still" : "dies")
                }
            }
            try note(done)
        }
        return .lives(seeds: seeds)
    }

    private func simulate(_ number: Int, _ isOfFleet: Bool, _ seeds: Range<UInt64>) throws -> Child {
        let words = [
            binary.path, "--seeds", "\(seeds.count)", "--base", "\(seeds.lowerBound)", "--most", "1", "--no-shrink",
            // Several mutants run side by side: each has one process.
            "--jobs", "1",
        ]
        return try Child.run(
            words + (isOfFleet ? ["--fleet"] : []), in: folder, limit: limit, environment: ["MUTANT": "\(number)"],
            log: folder.deletingLastPathComponent().appending(path: "logs/seeds-\(number)-\(seeds.lowerBound).log"))
    }

    /// Whether nothing breaks without a mutant. What breaks then is a fault of the relay, or of the model.
    private func holds(_ isOfFleet: Bool, _ seeds: Range<UInt64>) throws -> Bool {
        try simulate(0, isOfFleet, seeds).end == .exited(0)
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
