// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension WaveTally {
    /// The additions of a batch's rows to the waves' counts.
    ///
    /// A reminder adds nothing: its wave counted its push when that was accepted.
    ///
    /// - Parameter areRetries: whether the rows were tried before.
    static func tallies(of rows: [LedgerRow], areRetries: Bool) -> [WaveTally] {
        var tallies: [WaveTally] = []
        for index in rows.indices where !rows[index].isReminder {
            // A handful of waves at most: a shard's batch has one wave.
            let wave = Int(rows[index].wave)
            let place = tallies.firstIndex { $0.wave == wave } ?? tallies.count
            if place == tallies.count { tallies.append(WaveTally(wave: wave)) }
            switch rows[index].state {
            case .accepted: tallies[place].accepted += 1
            case .rejected, .unregistered, .expired: tallies[place].failed += 1
            case .retrying: tallies[place].retrying += 1
            case .pending, .inFlight, .filtered, .cancelled: break
            }
            if areRetries { tallies[place].again += 1 }
        }
        return tallies
    }
}
