// SPDX-License-Identifier: Apache-2.0

/// Decides how many connections have been unneeded for a long time. Pure: time is passed in.
///
/// Apple: "Keep your connections with APNs open across multiple notifications; do not repeatedly open and close
/// connections." So nothing is closed for a pause between campaigns, and the last one is never closed; but sixteen that a
/// campaign needed do not stay for the trickle after it.
package struct SurplusRule: Sendable {
    /// How long they must have been unneeded.
    package static let patience = Duration.seconds(600)

    private var since: MonotonicTime?
    private var peak = 0

    package init() {}

    /// - Parameters:
    ///   - usable: connections that take new requests.
    ///   - streams: the streams that they carry together at most.
    ///   - inFlight: the requests on them now.
    /// - Returns: how many may be retired. The requests of the busiest moment fit twice into those that stay.
    package mutating func surplus(usable: Int, streams: Int, inFlight: Int, at now: MonotonicTime) -> Int {
        guard usable > 1, streams > 0 else {
            since = nil
            return 0
        }
        guard let start = since else {
            since = now
            peak = inFlight
            return 0
        }
        peak = max(peak, inFlight)
        guard now - start >= Self.patience else { return 0 }
        let needed = max(1, (2 * peak * usable + streams - 1) / streams)
        since = now
        peak = inFlight
        return max(0, usable - needed)
    }
}
