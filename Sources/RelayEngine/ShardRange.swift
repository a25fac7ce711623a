// SPDX-License-Identifier: Apache-2.0

/// A leased shard as the machines need to know it: a range of device ids, worked through in order.
package struct ShardRange: Sendable, Equatable {
    package var number: Int
    package var wave: Int
    package var cursor: Int64
    package var last: Int64

    package init(number: Int, wave: Int = 0, cursor: Int64, last: Int64) {
        self.number = number
        self.wave = wave
        self.cursor = cursor
        self.last = last
    }
}
