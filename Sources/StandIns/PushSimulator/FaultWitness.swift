// SPDX-License-Identifier: Apache-2.0

/// Is notified on the simulator's thread of the pushes that a script's `shares` hit, and of those accepted. Pushes are known by
/// `ShortHash`, times are in milliseconds.
package protocol FaultWitness: Sendable {
    /// - Parameters:
    ///   - pushes: those that it hit, with whether each was accepted and its answer is now lost.
    ///   - doubts: accepted ones that it may have hit.
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
