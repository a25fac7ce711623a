// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension Channel {
    /// The values of a column that has a channel.
    package static let list: SQL = "0, 1, 2, 3"
    /// The same as a table of one column.
    package static let table: SQL = "SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"

    /// SQLite's index of the devices of all channels but the first: as a rule few among many. nil: they are found in the table
    /// itself. PostgreSQL has an index for each.
    package var index: SQL? { rawValue == 0 ? nil : "device_channel" }

    /// The condition that a campaign's shards count a device under this channel.
    ///
    /// - Parameter column: the channel of the device, as the index has it.
    package func isChannel(of column: SQL) -> SQL {
        // "> 0" is the index's own condition: without it, SQLite may not use it (sqlite.org/partialindex.html).
        rawValue == 0 ? "\(column) = 0" : "\(column) = \(rawValue) AND \(column) > 0"
    }
}
