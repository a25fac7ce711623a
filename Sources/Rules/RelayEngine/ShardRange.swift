// SPDX-License-Identifier: Apache-2.0

/// A shard of one campaign and one channel: a range of device ids, worked through in order by the relay that owns
/// the campaign's run.
package struct ShardRange: Sendable, Hashable {
    /// From 0: wave by wave, within a wave production first, in ascending device ids.
    package var number: Int
    /// The wave of its devices; the ranges of different waves overlap, and so do those of channels.
    package var wave: Int
    /// Every device of the shard up to and including this id has its outcome in the ledger.
    package var cursor: Int64
    /// The last device id of the shard.
    package var last: Int64
    /// Devices of the audience without an outcome.
    package var remaining: Int64
    /// Whether its outcomes may be packed: the ranges of such shards do not overlap.
    package var packs: Bool

    package init(number: Int, wave: Int = 0, cursor: Int64, last: Int64, remaining: Int64 = 0, packs: Bool = false) {
        self.number = number
        self.wave = wave
        self.cursor = cursor
        self.last = last
        self.remaining = remaining
        self.packs = packs
    }

    /// The shard after `devices` more of its devices have their outcome, up to `cursor`. Devices that have left the audience get no
    /// outcome, so `remaining` drops to 0 when it is done.
    package func advanced(to cursor: Int64, devices: Int, isDone: Bool) -> ShardRange {
        var shard = self
        shard.cursor = isDone ? last : min(cursor, last)
        shard.remaining = shard.isDone ? 0 : max(remaining - Int64(devices), 0)
        return shard
    }

    /// Whether no device is left in it.
    package var isDone: Bool { cursor >= last }
}
