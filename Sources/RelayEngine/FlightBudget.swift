// SPDX-License-Identifier: Apache-2.0

/// Says how many batches each campaign may have on its way. Pure.
///
/// To what every campaign has comes what fills the streams that its pools have open: a connection that was opened to hide
/// latency is of use only if there is something to put on it. What comes on top is bounded in all, for memory and for what
/// a crash may send twice, and campaigns that want more than there is get equal parts.
package struct FlightBudget: Sendable {
    /// Devices in all, of all campaigns, beyond `CampaignMachine.Limits.batchesAtOnce` of each.
    package static let extraDevices = 32_000

    private let limits: CampaignMachine.Limits

    package init(_ limits: CampaignMachine.Limits) {
        self.limits = limits
    }

    /// The most that one campaign may have.
    package var mostBatches: Int { limits.batchesAtOnce + batches(for: Self.extraDevices) }

    /// - Parameter streams: for each campaign, the streams that its pools have open.
    /// - Returns: for each campaign, batches.
    package func batches(streams: [Int]) -> [Int] {
        var parts = [Int](repeating: 0, count: streams.count)
        var left = Self.extraDevices
        // The modest first: what they do not take is for the others.
        let order = streams.indices.sorted { streams[$0] < streams[$1] }
        for (place, index) in order.enumerated() {
            parts[index] = min(max(0, streams[index]), left / (order.count - place))
            left -= parts[index]
        }
        return parts.map { limits.batchesAtOnce + batches(for: $0) }
    }

    private func batches(for devices: Int) -> Int {
        (devices + limits.batchSize - 1) / max(1, limits.batchSize)
    }
}
