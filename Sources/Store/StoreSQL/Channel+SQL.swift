// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension Channel {
    /// The values of a column that has a channel.
    package static let list: SQL = "0, 1, 2, 3"
    /// The same as a table of one column.
    package static let table: SQL = "SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"

    /// The index of the devices of this channel: as a rule few among many. nil: they are found in the table itself.
    package var index: SQL? {
        switch rawValue {
        case 0: nil
        case 1: "device_sandbox"
        case 2: "device_channel_2"
        default: "device_channel_3"
        }
    }
}
