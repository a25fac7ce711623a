// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The command line of `relay-bench`: suites and sizes.
struct BenchOptions {
    static let suites = [
        "transport", "carriers", "whole", "android", "latency", "cuts", "imports", "growth", "sizes", "idle", "fleet",
        "migrate", "restart", "api",
    ]

    private static let sizes: [(name: String, meaning: String, values: [Int])] = [
        ("runs", "runs of each transport figure; the best counts", [3]),
        ("pushes", "pushes of a transport run", [300_000]),
        ("streams", "streams of the one connection", [10, 100, 1000]),
        ("devices", "audiences of the whole way", [100_000, 1_000_000]),
        ("late-devices", "audience where the service is late", [500_000]),
        ("latencies", "how late it is, in ms; 0 is always measured as well", [50, 200]),
        ("connections", "limits of connections that are measured while it is late", [1, 2, 4, 8, 16, 32]),
        ("sweep-devices", "audience of each; a row takes four seconds", [1_000_000]),
        ("cut-devices", "audience while connections are cut", [50_000]),
        ("cut-late-devices", "the same where the service answers after 200 ms", [5_000]),
        ("cut-paced-devices", "the same at 200 pushes a second as well", [1_500]),
        ("cut-seconds", "how long a row of it may take", [30]),
        ("import-rows", "rows of an import", [200_000]),
        ("registry", "devices that are registered before the imports", [1_000_000]),
        ("growth", "registries whose imports are compared", [300_000, 3_000_000]),
        ("sizes", "registries in which an operator's acts are timed", [300_000, 3_000_000]),
        ("idle-seconds", "how long a daemon is watched that has nothing to do", [30]),
        ("fleet-devices", "audience of each campaign of two relays", [500_000]),
        ("migrated", "devices of the store that is moved to PostgreSQL", [1_000_000]),
        ("resume-devices", "audience of the campaign that is killed", [500_000]),
        ("api-devices", "audience of the campaigns that run while the API is asked", [1_000_000]),
        ("api-connections", "connections that ask", [8]),
        ("api-seconds", "how long each figure of the API takes", [2]),
    ]

    static var help: String {
        let lines = sizes.map { size in
            let option = "--\(size.name) N\(size.values.count > 1 ? ",…" : "")"
            return "  \(option.padding(toLength: 22, withPad: " ", startingAt: 0))\(size.meaning)"
                + " (default: \(size.values.map(String.init).joined(separator: ",")))\n"
        }
        return """
            Usage: relay-bench [options]

              --relay PATH          the upgrade-relay binary (default: beside this one)
              --json FILE           write the figures here as well (default: none)
              --only SUITE,…        \(suites.joined(separator: ", ")) (default: all)
              --stores STORE,…      \(StageStore.allCases.map(\.rawValue).joined(separator: ", ")): for whole, imports, growth, sizes, idle (default: both)
            \(lines.joined())
            """
    }

    /// The path of this program.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    private(set) var relay: String
    private(set) var json: String?
    private(set) var only = Set(suites)
    /// Measured in turns, so that other load on the machine affects both.
    private(set) var stores = StageStore.allCases
    private var values = Dictionary(uniqueKeysWithValues: sizes.map { ($0.name, $0.values) })

    init(_ words: [String]) throws {
        relay = URL(fileURLWithPath: Self.program).deletingLastPathComponent().appending(path: "upgrade-relay").path
        for index in stride(from: 0, to: words.count, by: 2) {
            guard index + 1 < words.count else { throw BenchError("\(words[index]) needs a value\n\n\(Self.help)") }
            try set(words[index], to: words[index + 1])
        }
    }

    private mutating func set(_ option: String, to value: String) throws {
        let words = value.split(separator: ",").map(String.init)
        switch option {
        case "--relay": relay = value
        case "--json": json = value
        case "--stores":
            stores = words.compactMap(StageStore.init)
            guard stores.count == words.count, !stores.isEmpty else {
                throw BenchError("--stores: \(value) is not of \(StageStore.allCases.map(\.rawValue))")
            }
        case "--only":
            only = Set(words)
            guard only.isSubset(of: Self.suites) else { throw BenchError("--only: \(value) is not of \(Self.suites)") }
        default:
            let numbers = words.compactMap { Int($0) }.filter { (1...50_000_000).contains($0) }
            guard option.hasPrefix("--"), values.updateValue(numbers, forKey: String(option.dropFirst(2))) != nil else {
                throw BenchError("there is no option \(option)\n\n\(Self.help)")
            }
            guard numbers.count == words.count, !numbers.isEmpty else {
                throw BenchError("\(option): \"\(value)\" is not of numbers from 1 to 50,000,000")
            }
        }
    }

    subscript(_ size: String) -> Int { all(size)[0] }

    func all(_ size: String) -> [Int] {
        guard let values = values[size] else { preconditionFailure("\(size) is no size") }
        return values
    }
}
