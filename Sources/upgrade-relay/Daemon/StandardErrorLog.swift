// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import Systemd
import Telemetry

/// Log lines on standard error, each beginning with the time.
///
/// Where standard error is the journal, each line is an entry with its fields, its priority and without the time, which
/// journald adds; should journald not take it, a line that begins with its priority (sd-daemon(3)).
enum StandardErrorLog {
    static func make(minimum: LogLevel, environment: [String: String]) -> Log {
        let isJournal = Journal.isStandardError(environment: environment)
        return Log(minimum: minimum) { level, message, fields in
            if isJournal {
                let entry = JournalEntry(
                    level, line: text(message, fields), event: message.description, fields: fields)
                if Journal.write(entry) { return }
            }
            let line = line(level, message, fields, isJournal: isJournal, at: Date.now.formatted(.iso8601))
            // A full disk or a reader that is gone costs log lines. `write(_:)`, which cannot throw, would end the process.
            try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
        }
    }

    /// One line, without its end. Pure.
    static func line(
        _ level: LogLevel, _ message: StaticString, _ fields: Log.Fields, isJournal: Bool,
        at time: @autoclosure () -> String
    ) -> String {
        (isJournal ? "<\(level.rawValue)>" : "\(time()) \(name(level)) ") + text(message, fields)
    }

    private static func text(_ message: StaticString, _ fields: Log.Fields) -> String {
        var text = message.description
        for field in fields { text += " \(field.name)=\(quoted(field.value))" }
        return text
    }

    private static func name(_ level: LogLevel) -> String {
        switch level {
        case .debug: "debug  "
        case .info: "info   "
        case .notice: "notice "
        case .warning: "warning"
        case .error: "error  "
        }
    }

    /// Nothing that came from outside can begin a line of its own or a field of its own.
    private static func quoted(_ value: String) -> String {
        let plain = value.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 32 && $0.value < 127 && $0 != "\"" }
        guard !plain || value.isEmpty else { return value }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where DisplayWidth.isControl(scalar):
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
