// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The command line of `relay-bench`.
struct BenchOptions {
    enum Suite: String, CaseIterable {
        case transport
        case whole
        case latency
        case imports
        case restart
        case api
    }

    static let help = """
        Usage: relay-bench [options]

          --relay PATH          the upgrade-relay binary (default: beside this one)
          --json FILE           write the figures here as well (default: none)
          --only SUITE,…        transport, whole, latency, imports, restart, api (default: all)
          --runs N              runs of each transport figure; the best counts (default: 3)
          --pushes N            pushes of a transport run (default: 300000)
          --streams N,…         streams of the one connection (default: 10,100,1000)
          --devices N,…         audiences of the whole way (default: 100000,1000000)
          --late-devices N      audience where the service is late (default: 500000)
          --latencies MS,…      how late it is; 0 ms is always measured as well (default: 50,200)
          --connections N,…     limits of connections that are measured while it is late (default: 1,2,4,8,16,32)
          --sweep-devices N     audience of each; a row takes four seconds (default: 1000000)
          --import-rows N       rows of an import (default: 200000)
          --registry N          devices that are registered before the imports (default: 1000000)
          --resume-devices N    audience of the campaign that is killed (default: 500000)
          --api-devices N       audience of the campaigns that run while the API is asked (default: 1000000)
          --api-connections N   connections that ask (default: 8)
          --api-seconds N       how long each figure of the API takes (default: 2)
        """

    /// This program.
    let program: String
    private(set) var relay: String
    private(set) var json: String?
    private(set) var suites = Set(Suite.allCases)
    private(set) var runs = 3
    private(set) var pushes = 300_000
    private(set) var streams = [10, 100, 1000]
    private(set) var devices = [100_000, 1_000_000]
    private(set) var lateDevices = 500_000
    private(set) var latencies = [50, 200]
    private(set) var connections = [1, 2, 4, 8, 16, 32]
    private(set) var sweepDevices = 1_000_000
    private(set) var importRows = 200_000
    private(set) var registry = 1_000_000
    private(set) var resumeDevices = 500_000
    private(set) var apiDevices = 1_000_000
    private(set) var apiConnections = 8
    private(set) var apiSeconds = 2

    init(_ words: [String]) throws {
        program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        relay = URL(fileURLWithPath: program).deletingLastPathComponent().appending(path: "upgrade-relay").path
        var index = 0
        while index < words.count {
            let name = words[index]
            guard index + 1 < words.count else { throw BenchError("\(name) needs a value\n\n\(Self.help)") }
            try set(name, to: words[index + 1])
            index += 2
        }
    }

    private mutating func set(_ name: String, to value: String) throws {
        switch name {
        case "--relay": relay = value
        case "--json": json = value
        case "--only":
            suites = Set(
                try value.split(separator: ",").map { word in
                    guard let suite = Suite(rawValue: String(word)) else {
                        throw BenchError("--only: \"\(word)\" is none of \(Suite.allCases.map(\.rawValue))")
                    }
                    return suite
                })
        case "--runs": runs = try Self.number(name, value)
        case "--pushes": pushes = try Self.number(name, value)
        case "--streams": streams = try Self.numbers(name, value)
        case "--devices": devices = try Self.numbers(name, value)
        case "--late-devices": lateDevices = try Self.number(name, value)
        case "--latencies": latencies = try Self.numbers(name, value)
        case "--connections": connections = try Self.numbers(name, value)
        case "--sweep-devices": sweepDevices = try Self.number(name, value)
        case "--import-rows": importRows = try Self.number(name, value)
        case "--registry": registry = try Self.number(name, value)
        case "--resume-devices": resumeDevices = try Self.number(name, value)
        case "--api-devices": apiDevices = try Self.number(name, value)
        case "--api-connections": apiConnections = try Self.number(name, value)
        case "--api-seconds": apiSeconds = try Self.number(name, value)
        default: throw BenchError("there is no option \(name)\n\n\(Self.help)")
        }
    }

    private static func numbers(_ name: String, _ value: String) throws -> [Int] {
        try value.split(separator: ",").map { try number(name, String($0)) }
    }

    private static func number(_ name: String, _ value: String) throws -> Int {
        guard let number = Int(value), (1...50_000_000).contains(number) else {
            throw BenchError("\(name): \"\(value)\" is not a number from 1 to 50,000,000")
        }
        return number
    }
}
