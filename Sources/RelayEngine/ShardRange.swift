// SPDX-License-Identifier: Apache-2.0

/// A leased shard of one campaign and one push environment: a range of device ids, worked through in order by one owner at a time.
package struct ShardRange: Sendable, Hashable {
    /// From 0: wave by wave, within a wave production first, in ascending device ids.
    package var number: Int
    /// Whose devices it has; the ranges of different waves overlap, and so do those of the two environments.
    package var wave: Int
    /// Every device of the shard up to and including this id has its outcome in the ledger.
    package var cursor: Int64
    /// The last device id of the shard.
    package var last: Int64

    package init(number: Int, wave: Int = 0, cursor: Int64, last: Int64) {
        self.number = number
        self.wave = wave
        self.cursor = cursor
        self.last = last
    }
}
