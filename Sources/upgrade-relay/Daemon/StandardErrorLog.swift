// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine

/// Log lines on standard error: what a terminal shows and journald takes.
///
/// Under systemd each line begins with its priority, as sd-daemon(3) wants it, and without the time, which the journal
/// adds; elsewhere it begins with the time.
enum StandardErrorLog {
    static func make(minimum: LogLevel, environment: [String: String]) -> Log {
        let isJournal = environment["JOURNAL_STREAM"] != nil
        return Log(minimum: minimum) { level, message, fields in
            let line = line(level, message, fields, isJournal: isJournal, at: Date.now.formatted(.iso8601))
            FileHandle.standardError.write(Data((line + "\n").utf8))
        }
    }

    /// One line, without its end. Pure.
    static func line(
        _ level: LogLevel, _ message: StaticString, _ fields: Log.Fields, isJournal: Bool,
        at time: @autoclosure () -> String
    ) -> String {
        var line = isJournal ? "<\(level.rawValue)>" : "\(time()) \(name(level)) "
        line += message.description
        for field in fields { line += " \(field.name)=\(quoted(field.value))" }
        return line
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
