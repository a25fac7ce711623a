// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import RelayAPI
@testable import Terminal
@testable import upgrade_relay

/// Tests/RelayAPITests/COSTS.md lists the requests that each command sends to the daemon.
@Suite struct CommandCostTests {
    private static func rows() throws -> [[String]] {
        let lines = try ManualTests.file("Tests/RelayAPITests/COSTS.md").split(separator: "\n")
            .drop { $0 != "| command | asks for | beside that |" }
        return lines.dropFirst(2).prefix { $0.hasPrefix("|") }.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func everyCommandHasItsLine() throws {
        #expect(try Self.rows().map(\.[0]) == CommandTree.all.commands.map { $0.spec.name })
    }

    @Test func whatACommandAsksForIsThere() throws {
        let routes = Set(Route.all.map(\.pattern))
        for row in try Self.rows() where !row[1].isEmpty {
            for asked in row[1].components(separatedBy: ", ") { #expect(routes.contains(asked), "\(row[0]): \(asked)") }
        }
    }

    @Test func whatIsForOperatorsAloneIsAskedForByACommand() throws {
        let asked = Set(try Self.rows().flatMap { $0[1].components(separatedBy: ", ") })
        for route in Route.all where route.right == .operatorOnly { #expect(asked.contains(route.pattern)) }
    }
}
