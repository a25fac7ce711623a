// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// One wave's devices among those of a range.
package struct WaveSlice: Hashable, Sendable {
    package var draw: WaveDraw
    package var number: Int

    package init(_ draw: WaveDraw, number: Int) {
        self.draw = draw
        self.number = number
    }

    /// Whether it is the last wave, which takes all devices without an outcome, whichever wave their users are in.
    package var isLast: Bool { number == draw.plan.count - 1 }
}

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

extension CampaignRecord {
    /// Whether its requirement is not in force for everybody yet.
    package var isStaged: Bool { requirement.reach < Requirement.everybody }

    /// Whether it goes to named users alone for now.
    package var isCanary: Bool { canary?.phase == .alone }

    /// The telephones that it goes to; nil: everybody.
    package var audience: [String]? { canary?.phase == .released ? nil : requirement.canary }

    /// The canary's pushes that failed for good, counted as waves count failures.
    package var canaryFailures: Int64 {
        figures.counts.rejected + figures.counts.unregistered + figures.counts.expired
    }

    /// Which device is in which wave; nil where the campaign has none.
    package var draw: WaveDraw? {
        WavePlan(ends: figures.waves.list.map(\.end)).map { WaveDraw($0, requirement: requirement.id) }
    }

    /// Pending devices whose wave has not begun.
    package var notYetBegun: Int64 {
        figures.waves.list.reduce(0) { $1.begunAt == nil ? $0 + $1.pending : $0 }
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
