// SPDX-License-Identifier: Apache-2.0

/// Why pushes were refused, as far as the credential or all tokens may be at fault.
package struct Refusals: Sendable {
    /// How often each reason was given.
    private var reasons: [CredentialBreaker.Cause: [String: Int]] = [:]

    package init() {}

    /// The reason that was given most.
    package func main(_ cause: CredentialBreaker.Cause) -> String? {
        reasons[cause]?.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    /// The reasons whose pushes are tried again when the breaker trips: a 410 is final for its token, unless all are 410.
    package func reasons(recalledBy cause: CredentialBreaker.Cause) -> [String] {
        reasons.flatMap { $0.key == .unregistered && cause != .unregistered ? [] : Array($0.value.keys) }.sorted()
    }

    package mutating func add(_ reason: String, _ cause: CredentialBreaker.Cause) {
        reasons[cause, default: [:]][reason, default: 0] += 1
    }

    package mutating func add(_ other: Refusals) {
        for (cause, counts) in other.reasons { reasons[cause, default: [:]].merge(counts, uniquingKeysWith: +) }
    }

    package mutating func remove(_ reason: String, _ cause: CredentialBreaker.Cause) {
        reasons[cause]?[reason, default: 1] -= 1
    }
}
