// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// The arguments of `mutants`.
package struct MutantArguments: Sendable {
    package enum Work: String, Sendable {
        /// Those that are kept as patches.
        case patches
        /// Those that rules make.
        case sample
    }

    package let work: Work
    /// For each mutant, at most; nil: 3,000 for patches, 500 for a sample.
    package var seeds: Int?
    /// At a time.
    package var jobs = ProcessInfo.processInfo.activeProcessorCount
    /// The first seed of the simulation.
    package var base: UInt64?
    /// Numbers of mutants; empty: all.
    package var only: Set<Int> = []
    /// How many mutants a sample has.
    package var sample = 200
    /// The number that a sample is drawn by.
    package var draw: UInt64 = 1
    /// Names of rooms; empty: all that decide.
    package var rooms: [String] = []
    /// The table goes into the guide.
    package var writes = false
    /// Patches that no seed finds are held against the tests of their rooms.
    package var asksTests = false
    /// Nothing is kept of runs before.
    package var isAnew = false
    package var root = URL(filePath: FileManager.default.currentDirectoryPath)
    package var scratch: URL { root.appending(path: ".build/\(work == .patches ? "mutants" : "mutate")") }
    package var swift = "swift"
    /// For one build, in seconds.
    package var buildLimit = 3600

    package init(_ words: ArraySlice<String>) throws {
        var words = words
        guard let work = words.popFirst().flatMap(Work.init(rawValue:)) else {
            throw MutationError("mutants patches|sample, with the options that Tests/Simulation/README.md lists")
        }
        self.work = work
        while let name = words.popFirst() {
            if name == "--write" { writes = true; continue }
            if name == "--tests" { asksTests = true; continue }
            if name == "--anew" { isAnew = true; continue }
            guard let word = words.popFirst() else { throw MutationError("\(name) needs a value") }
            func number<Number: FixedWidthInteger>() throws -> Number {
                guard let number = Number(word), number >= 0 else {
                    throw MutationError("\(name) needs a number, not \"\(word)\"")
                }
                return number
            }
            switch name {
            case "--seeds": seeds = try number()
            case "--jobs": jobs = try max(1, number())
            case "--base": base = try number()
            case "--sample": sample = try number()
            case "--draw": draw = try number()
            case "--only":
                only = Set(
                    try word.split(separator: ",").map {
                        guard let number = Int($0) else { throw MutationError("--only needs numbers, not \"\($0)\"") }
                        return number
                    })
            case "--rooms": rooms = word.split(separator: ",").map(String.init)
            case "--swift": swift = word
            case "--build-limit": buildLimit = try number()
            default:
                throw MutationError(
                    "\"\(name)\" is none of --seeds, --jobs, --base, --only, --sample, --draw, --rooms, --tests, --write, --anew, --swift, --build-limit"
                )
            }
        }
    }
}

/// Writes a line at once, also into a pipe: a measure takes hours.
@Sendable func show(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
