// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

extension LocalZone {
    /// Where Linux keeps the tz database (tzfile(5)): Debian's package tzdata.
    private static let database = "/usr/share/zoneinfo"
    /// Far more bytes than any zone has.
    private static let largest = 1 << 20

    /// A zone of the tz database by its name, such as "Asia/Shanghai" (RFC 6557); nil where it is not known. An offset such
    /// as "GMT+8" is not accepted: it has no rule for setting clocks. Reads the zone's file; "UTC" needs none.
    package init?(named name: String) {
        if name == "UTC" {
            self.init(name: name) { _ in 0 }
            return
        }
        guard Self.isName(name), let bytes = try? WholeFile.read("\(Self.database)/\(name)", limit: Self.largest),
            let file = TimeZoneFile(bytes)
        else { return nil }
        self.init(name: name) { file.offset(at: $0) }
    }

    /// The zone of a person at a terminal: `TZ`, by a name of the tz database or by a rule (POSIX.1-2024, XBD 8.3), else the
    /// machine's (/etc/localtime, localtime(5)); nil where it is UTC, or cannot be read.
    ///
    /// - Parameter environment: the variables of the process.
    package static func ofTerminal(_ environment: [String: String]) -> LocalZone? {
        let zone: LocalZone?
        if let variable = environment["TZ"] {
            let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            zone =
                LocalZone(named: name)
                ?? ClockRule(Array(name.utf8)[...]).map { rule in LocalZone(name: name) { rule.offset(at: $0) } }
        } else {
            zone = (try? WholeFile.read("/etc/localtime", limit: largest)).flatMap(TimeZoneFile.init).map { file in
                LocalZone(name: "localtime") { file.offset(at: $0) }
            }
        }
        // A winter and a summer.
        let isUTC = [1_784_116_800, 1_768_478_400].map(Timestamp.init(seconds:)).allSatisfy { zone?.local($0) == $0 }
        return isUTC ? nil : zone
    }

    /// Whether it looks like a zone's name. A dot could lead out of the database; `posix` and `right` hold copies of all
    /// zones, those in `right` with leap seconds.
    private static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count > 1 && parts[0] != "posix" && parts[0] != "right"
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "_+-".utf8.contains(byte)
                    }
            }
    }

    /// The remark on a name that is not known.
    package static var problem: String {
        guard (try? Folder.names(database)) != nil else {
            return "cannot be looked up: there is no tz database in \(database); install the package tzdata"
        }
        return "is no zone of the tz database; give one such as \"Asia/Shanghai\" or \"Europe/Berlin\""
    }
}
