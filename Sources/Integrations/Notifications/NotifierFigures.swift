// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The outcomes of the attempts to notify, for metrics.
package struct NotifierFigures: Sendable {
    package enum Result: String, Sendable, Hashable, CaseIterable {
        case delivered
        /// It failed and is tried again.
        case retried
        /// It failed for the last time.
        case failed
        /// The receiver is gone and gets no more.
        case gone

        init(_ verdict: NotificationVerdict) {
            self =
                switch verdict {
                case .delivered: .delivered
                case .retry: .retried
                case .giveUp: .failed
                case .disable: .gone
                }
        }
    }

    /// By the receiver's label.
    package private(set) var attempts: [String: [Result: Int]] = [:]

    /// Counts from zero.
    package mutating func add(receiver url: String) {
        let label = Self.label(url)
        attempts[label] = attempts[label] ?? [:]
    }

    package mutating func add(_ verdict: NotificationVerdict, from url: String) {
        attempts[Self.label(url), default: [:]][Result(verdict), default: 0] += 1
    }

    /// The receiver's host and port. Its path and query may be a secret, and `/metrics` is open to everybody, so
    /// receivers of one host share a label.
    package static func label(_ url: String) -> String {
        let afterScheme = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return afterScheme.prefix { !"/?#".contains($0) }.lowercased()
    }
}
