// SPDX-License-Identifier: Apache-2.0
package import Telemetry

/// One journal entry: the "FIELD=value" strings that sd_journal_sendv(3) takes. Pure.
package struct JournalEntry: Sendable, Hashable {
    package let assignments: [String]

    /// - Parameters:
    ///   - line: the text that `journalctl` shows.
    ///   - event: the constant message, for searches: `journalctl RELAY_EVENT=…`.
    ///   - fields: named as in the log; `campaign` becomes `RELAY_CAMPAIGN`.
    package init(_ level: LogLevel, line: String, event: String, fields: Log.Fields) {
        assignments =
            [
                "MESSAGE=\(line)", "PRIORITY=\(level.rawValue)", "SYSLOG_IDENTIFIER=upgrade-relay",
                "RELAY_EVENT=\(event)",
            ]
            + fields.map { "\(Self.name($0.name))=\($0.value)" }
    }

    /// "controlSocket" is RELAY_CONTROL_SOCKET: journald takes capitals, digits and underscores, 64 at most, and keeps
    /// names that begin with an underscore to itself (systemd.journal-fields(7)).
    static func name(_ name: String) -> String {
        var text = "RELAY_"
        for letter in name.unicodeScalars {
            switch letter {
            case "A"..."Z":
                if text.last?.isLowercase ?? false { text += "_" }
                text.unicodeScalars.append(letter)
            case "a"..."z", "0"..."9": text.unicodeScalars.append(letter)
            default: text += "_"
            }
        }
        return String(text.uppercased().prefix(64))
    }
}
