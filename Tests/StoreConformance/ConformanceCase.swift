// SPDX-License-Identifier: Apache-2.0
package import RelayStore

/// One rule that every store driver keeps, as a check to run on an empty store.
///
/// A driver's test target runs them all, each on a store of its own:
///
///     @Test(arguments: ConformanceCase.all) func holds(_ rule: ConformanceCase) async throws {
///         try await rule.hold(for: try makeEmptyStore())
///     }
package struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The rule, as a sentence without its full stop.
    package let description: String
    /// The ability that a database needs for this rule to apply; nil: none beyond those that all have.
    package let ability: Ability?
    private let body: @Sendable (Subject) async throws -> Void

    /// An ability that not every database has.
    package enum Ability: Sendable, CaseIterable {
        /// It can be copied while it is in use.
        case snapshots
        /// It refuses an outcome of a device that it does not have.
        case references
    }

    init(
        _ description: String, where ability: Ability? = nil,
        _ body: @escaping @Sendable (Subject) async throws -> Void
    ) {
        self.description = description
        self.ability = ability
        self.body = body
    }

    /// Throws `ConformanceFailure`, or an error that the store should not have thrown.
    ///
    /// - Parameter second: another store on the same data, if the driver can have one.
    package func hold(for store: any RelayStore, beside second: (any RelayStore)? = nil) async throws {
        try await body(Subject(store: store, second: second))
    }

    /// Whether the rule is about two relays, or checks more with two.
    package var isOfTwo: Bool { Self.ofTwo.contains(description) }

    private static let ofTwo = Set((runs + nodes + past + together + dead).map(\.description))

    package static let all: [ConformanceCase] =
        versions + webhooks + registry + replacing + dead + upgrades + campaigns + planning + runs + nodes + past
        + ledger
        + uneventful
        + hygiene
        + leftovers
        + deliveries + erasing
        + tokens + providerTokens + sessions
        + inForce + withdrawing + gates + hostile + maintenance + outbox + events + waves + channels + providers + moved
        + adoption + versionShares + blocks + rounds + evidence + audit + confirming + approvals + together
}

/// A driver's breach of a rule.
package struct ConformanceFailure: Error, CustomStringConvertible {
    package let description: String
}

/// Fails unless `condition` holds.
func check(
    _ condition: Bool, _ rule: @autoclosure () -> String, file: String = #fileID, line: Int = #line
) throws {
    guard !condition else { return }
    throw ConformanceFailure(description: "\(file):\(line): \(rule())")
}

/// Fails unless both are equal.
func same<Value: Equatable>(
    _ actual: Value, _ expected: Value, _ what: @autoclosure () -> String = "", file: String = #fileID,
    line: Int = #line
) throws {
    try check(actual == expected, "\(what()): got \(actual), expected \(expected)", file: file, line: line)
}

/// Unwraps, or fails.
func present<Value>(_ value: Value?, _ what: String, file: String = #fileID, line: Int = #line) throws -> Value {
    guard let value else { throw ConformanceFailure(description: "\(file):\(line): \(what) is missing") }
    return value
}

/// Fails unless `body` throws a `StoreError` of this code.
func fails<Value>(
    _ code: StoreError.Code, file: String = #fileID, line: Int = #line, _ body: () throws -> Value
) throws {
    do {
        _ = try body()
    } catch let error as StoreError {
        return try same(error.code, code, "the error", file: file, line: line)
    }
    throw ConformanceFailure(description: "\(file):\(line): nothing was thrown, expected \(code)")
}
