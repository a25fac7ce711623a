// SPDX-License-Identifier: Apache-2.0

/// Receives, on the simulator's thread, the pushes that a script's `shares` hit, and those that are accepted. Pushes are
/// identified by `ShortHash`; times are in milliseconds since 1970.
package protocol FaultWitness: Sendable {
    /// - Parameters:
    ///   - pushes: the pushes that the fault hit, each with whether it was accepted and its answer is now lost.
    ///   - doubts: accepted pushes that the fault may have hit.
    func happened(
        _ fault: RequestFault, to pushes: [(id: UInt64, losesAnswer: Bool)], doubts: [UInt64], at now: Int64)
    func accepted(_ id: UInt64, at now: Int64)
}

/// The last few hashes that were added.
struct RecentHashes {
    private(set) var ids: [UInt64] = []
    private var next = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    mutating func add(_ id: UInt64) {
        if ids.count < capacity {
            ids.append(id)
        } else {
            ids[next] = id
            next = (next + 1) % capacity
        }
    }
}
