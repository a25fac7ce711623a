// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension WaveTally {
    /// What a batch's rows add to the waves' counts.
    ///
    /// A reminder adds nothing: its wave counted its push when that was accepted.
    ///
    /// - Parameter areRetries: they counted as failed before.
    static func tallies(of rows: [LedgerRow], areRetries: Bool) -> [WaveTally] {
        var tallies: [WaveTally] = []
        for index in rows.indices where !rows[index].isReminder {
            let (accepted, failed): (Int64, Int64) =
                switch rows[index].state {
                case .accepted: (1, 0)
                case .retrying, .rejected, .unregistered, .expired: (0, 1)
                case .pending, .inFlight, .filtered, .cancelled: (0, 0)
                }
            // A handful at most: a shard's batch is of one.
            let wave = Int(rows[index].wave)
            let place = tallies.firstIndex { $0.wave == wave } ?? tallies.count
            if place == tallies.count { tallies.append(WaveTally(wave: wave)) }
            tallies[place].accepted += accepted
            tallies[place].failed += failed - (areRetries ? 1 : 0)
        }
        return tallies
    }
}
