// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// The figures that one batch adds to the counts of one wave.
package struct WaveTally: Hashable, Sendable {
    package var wave: Int
    package var accepted: Int64 = 0
    /// Failed for good.
    package var failed: Int64 = 0
    /// To be tried again.
    package var retrying: Int64 = 0
    /// Pushes among those above that were tried before: they counted as retrying, or as failed where the campaign was opened again for
    /// them.
    package var again: Int64 = 0

    package init(wave: Int, accepted: Int64 = 0, failed: Int64 = 0, retrying: Int64 = 0, again: Int64 = 0) {
        self.wave = wave
        self.accepted = accepted
        self.failed = failed
        self.retrying = retrying
        self.again = again
    }
}

extension Ledger {
    /// Reads all devices of a range.
    package func readDevices(
        _ app: AppKey, channel: Channel, after: Int64, through last: Int64, limit: Int,
        of slice: WaveSlice? = nil, into rows: inout DeviceRows
    ) throws {
        try readDevices(
            app, channel: channel, after: after, through: last, limit: limit, of: slice, without: nil,
            into: &rows)
    }
}
