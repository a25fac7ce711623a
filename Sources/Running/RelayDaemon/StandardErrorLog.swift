// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
import Synchronization
import Systemd
import Telemetry
import Terminal
import Threading
import WireFormat

/// Log lines on standard error, as text that begins with the time, or as JSON.
///
/// Where standard error is the journal, a text line is an entry with its fields and its priority, without the time, which
/// journald adds. A JSON line, or one that journald does not take, begins with its priority (sd-daemon(3)).
final class StandardErrorLog: Sendable {
    let log: Log
    private let isJSON: Flag

    /// May be changed at any time; a reload does so.
    var format: LogFormat {
        get { isJSON.value.load(ordering: .relaxed) ? .json : .text }
        set { isJSON.value.store(newValue == .json, ordering: .relaxed) }
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    init(minimum: LogLevel, environment: [String: String]) {
        let isJournal = Journal.isStandardError(environment: environment)
        let isJSON = Flag()
        self.isJSON = isJSON
        log = Log(minimum: minimum) { level, message, fields in
            let format = isJSON.value.load(ordering: .relaxed) ? LogFormat.json : .text
            if isJournal, format == .text {
                let entry = JournalEntry(
                    level, line: Self.text(message, fields), event: message.description, fields: fields)
                if Journal.write(entry) { return }
            }
            let line = Self.line(level, message, fields, format, isJournal: isJournal, at: WallClock.now().internetTime)
            // Where the disk is full or the reader is gone, log lines are lost.
            _ = WholeFile.append(Array((line + "\n").utf8), to: STDERR_FILENO)
        }
    }

    /// One line, without its end. Pure.
    static func line(
        _ level: LogLevel, _ message: StaticString, _ fields: Log.Fields, _ format: LogFormat = .text, isJournal: Bool,
        at time: @autoclosure () -> String
    ) -> String {
        let priority = isJournal ? "<\(level.rawValue)>" : ""
        switch format {
        case .json: return priority + json(level, message, fields, at: time())
        case .text:
            // As wide as the longest name, so that messages are aligned.
            let name = level.name + String(repeating: " ", count: "warning".count - level.name.count)
            return (isJournal ? priority : "\(time()) \(name) ") + text(message, fields)
        }
    }

    /// `time`, `level` and `message`, then the fields, all as text.
    private static func json(
        _ level: LogLevel, _ message: StaticString, _ fields: Log.Fields, at time: String
    ) -> String {
        var writer = JSONWriter(reserving: 256)
        writer.object { writer in
            writer.member("time", time)
            writer.member("level", level.name)
            writer.member("message", message.description)
            for field in fields { writer.member(field.name, field.value) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func text(_ message: StaticString, _ fields: Log.Fields) -> String {
        var text = message.description
        for field in fields { text += " \(field.name)=\(quoted(field.value))" }
        return text
    }

    /// Quotes a value, so that input from outside cannot begin a line or a field of its own.
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
