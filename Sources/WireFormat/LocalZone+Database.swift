// SPDX-License-Identifier: Apache-2.0
import Foundation
package import RelayEngine

extension LocalZone {
    /// A zone of the tz database by its name, such as "Asia/Shanghai" (RFC 6557); nil where it is not known. What is an offset, as "GMT+8",
    /// is no zone: it would not know when clocks are set.
    package init?(named name: String) {
        guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else { return nil }
        self.init(name: name) { Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0)))) }
    }

    /// What would be right where a name is not known.
    package static let problem =
        "is no zone of the tz database; give one such as \"Asia/Shanghai\" or \"Europe/Berlin\""
}
