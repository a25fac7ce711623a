// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore

/// The outcomes of one app's pushes since the process began: counted when they are recorded, batch by batch.
package struct PushTally: Sendable, Equatable {
    package private(set) var accepted = 0
    package private(set) var unregistered = 0
    package private(set) var expired = 0
    /// Final refusals by reason, of a known and bounded set.
    package private(set) var rejectedBy: [String: Int] = [:]
    /// Attempts that are repeated, by reason, of the same set.
    package private(set) var retriedBy: [String: Int] = [:]
    package private(set) var filteredBy: [FilterReason: Int] = [:]

    package init() {}

    package var rejected: Int { rejectedBy.values.reduce(0, +) }
    package var filtered: Int { filteredBy.values.reduce(0, +) }

    /// - Parameter reasons: those that the provider knows; any other is counted as "other", for a server may answer anything.
    mutating func add(_ rows: [LedgerRow], reasons: Set<String>) {
        func label(_ reason: String?) -> String { reason.map { reasons.contains($0) ? $0 : "other" } ?? "other" }
        for index in rows.indices {
            switch rows[index].state {
            case .accepted: accepted += 1
            case .unregistered: unregistered += 1
            case .expired: expired += 1
            case .rejected: rejectedBy[label(rows[index].reason), default: 0] += 1
            case .retrying: retriedBy[label(rows[index].reason), default: 0] += 1
            case .filtered:
                if let reason = rows[index].reason.flatMap(FilterReason.init) { filteredBy[reason, default: 0] += 1 }
            case .pending, .inFlight, .cancelled: break
            }
        }
    }

    /// Adds the devices that a campaign still had to reach when its time to live ran out.
    mutating func add(expired count: Int) { expired += count }
}
