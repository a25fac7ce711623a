// SPDX-License-Identifier: Apache-2.0

/// Decides how many batches each push service may have on its way, and how large. Pure.
///
/// Beside its base share, each service gets batches that fill the streams its pools have open: a connection that was opened
/// to hide latency is of use only if there is something to put on it. The total is bounded, for memory and for what a crash
/// may send twice: with many services each has fewer batches, and in the end smaller ones.
///
/// A service that answers at once gets twice its base share: else its lanes have nothing left to do while the store commits
/// to a slow disk.
package struct BatchBudget: Sendable {
    package struct Share: Sendable, Equatable {
        package var batches: Int
        /// Batches of a service that answers at once (`ServiceMachine.moment`).
        package var quickBatches: Int
        /// Devices in a batch.
        package var batchSize: Int
    }

    /// Devices of all services together, beyond their base shares.
    package static let extraDevices = 32_000
    /// A batch is never smaller: below this the transaction costs more than its devices.
    package static let smallestBatch = 100

    private let limits: BatchLimits

    package init(_ limits: BatchLimits) {
        self.limits = limits
    }

    /// The most that one service may have.
    package var mostBatches: Int { 2 * limits.batchesAtOnce + batches(for: Self.extraDevices) }

    /// - Parameter streams: for each service, the streams that its pools have open.
    package func shares(streams: [Int]) -> [Share] {
        guard !streams.isEmpty else { return [] }
        let size = max(1, limits.batchSize)
        // One service has `batchesAtOnce` at least, and so has each of two; from the third on all share what two have.
        let base = limits.batchesAtOnce * size
        let own = min(base, 2 * base / streams.count)
        var parts = [Int](repeating: 0, count: streams.count)
        var left = Self.extraDevices
        // Services with few streams first: what they leave is for the others.
        let order = streams.indices.sorted { streams[$0] < streams[$1] }
        for (place, index) in order.enumerated() {
            parts[index] = min(max(0, streams[index]), left / (order.count - place))
            left -= parts[index]
        }
        let batchSize = min(size, max(own, Self.smallestBatch))
        return parts.map {
            let extra = batches(for: $0)
            return Share(
                batches: max(1, own / batchSize) + extra, quickBatches: max(1, 2 * own / batchSize) + extra,
                batchSize: batchSize)
        }
    }

    private func batches(for devices: Int) -> Int {
        (devices + limits.batchSize - 1) / max(1, limits.batchSize)
    }
}
