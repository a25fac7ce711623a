// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Runs fresh seeds of the simulation with one mutant on, until a promise breaks.
package struct SeedSearch: Sendable {
    /// Seeds in one process.
    private static let piece = 250

    /// The result of a run of seeds.
    private enum Result {
        case holds
        /// This seed breaks a promise, or, run alone, ends its process.
        case fails(seed: UInt64, by: String)
        /// The process did not come to its end, at one seed or another.
        case ends(how: String)
    }

    private let binary: URL
    private let folder: URL
    package let base: UInt64
    /// A piece of seeds may take so long, in seconds: some times what it takes as a rule. Fewer seeds may take their part, and a ninth at least.
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
    ///   - before: so many were looked at already, and are passed over now. Default none.
    ///   - note: is called with how many it has outlived, now and then. Default nothing.
    /// - Throws: where the simulation cannot run, which is no finding.
    package func run(_ number: Int, isOfFleet: Bool, seeds: Int, before: Int = 0, note: (Int) throws -> Void = { _ in })
        throws -> Finding
    {
        var done = before
        while done < seeds {
            let first = base + UInt64(done)
            let piece = first..<(first + UInt64(min(Self.piece, seeds - done)))
            var result = try look(number, isOfFleet, piece)
            if case .ends(let how) = result {
                result = try alone(number, isOfFleet, piece)
                if case .holds = result {
                    show("mutant \(number) \(how) within \(piece), and at no seed alone: it does not count")
                }
            }
            switch result {
            case .holds, .ends: done += piece.count
            case .fails(let seed, let by):
                done = Int(seed - base) + 1
                if case .holds = try look(0, isOfFleet, seed..<(seed + 1)) { return .found(seeds: done, by: by) }
                show("seed \(seed) fails by \(by), and fails without a mutant, too: it does not count")
            }
            try note(done)
        }
        return .lives(seeds: seeds)
    }

    /// Which of these seeds ends its process, or breaks a promise, when nothing runs beside it. A process may also end because the machine
    /// is busy or has no memory left: what ends it has to do so again.
    private func alone(_ number: Int, _ isOfFleet: Bool, _ seeds: Range<UInt64>) throws -> Result {
        if seeds.count == 1 {
            let result = try look(number, isOfFleet, seeds)
            if case .ends(let how) = result { return .fails(seed: seeds.lowerBound, by: how) }
            return result
        }
        let middle = seeds.lowerBound + UInt64(seeds.count / 2)
        for half in [seeds.lowerBound..<middle, middle..<seeds.upperBound] {
            var result = try look(number, isOfFleet, half)
            if case .ends = result { result = try alone(number, isOfFleet, half) }
            if case .fails = result { return result }
        }
        return .holds
    }

    private func look(_ number: Int, _ isOfFleet: Bool, _ seeds: Range<UInt64>) throws -> Result {
        let words = [
            binary.path, "--seeds", "\(seeds.count)", "--base", "\(seeds.lowerBound)", "--most", "1", "--no-shrink",
            // Several mutants run side by side: each has one process.
            "--jobs", "1",
        ]
        let child = try Child.run(
            words + (isOfFleet ? ["--fleet"] : []), in: folder,
            limit: max(1, limit / 9, limit * seeds.count / Self.piece),
            environment: ["MUTANT": "\(number)"],
            log: folder.deletingLastPathComponent().appending(path: "logs/seeds-\(number)-\(seeds.lowerBound).log"))
        switch child.end {
        case .exited(0): return .holds
        case .exited(1):
            if let broken = Self.broken(in: child.output), seeds.contains(broken.seed) {
                return .fails(seed: broken.seed, by: broken.rule)
            }
        case .killed: return .ends(how: "dies")
        case .tookTooLong: return .ends(how: "stands still")
        case .exited, .wroteEnough: break
        }
        throw MutationError("mutant \(number), seeds \(seeds): \(child.end)\n\(child.output.suffix(400))")
    }

    /// The first seed that the report names.
    static func broken(in output: String) -> (seed: UInt64, rule: String)? {
        guard let match = output.firstMatch(of: /(?m)^seed (\d+) \(.*?\) breaks ([A-Za-z.]+)/),
            let seed = UInt64(match.output.1)
        else { return nil }
        return (seed, String(match.output.2))
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
