// SPDX-License-Identifier: Apache-2.0

/// How much a log line matters. Raw values are syslog's priorities (RFC 5424, 6.2.1), which journald reads too.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case debug = 7
    case info = 6
    case notice = 5
    case warning = 4
    case error = 3

    /// Whether `left` matters less than `right`.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue > right.rawValue }
}

/// Where log lines go: a constant message, and what varies in fields, so that lines can be counted and searched.
///
/// Telephones and tokens go through `Masked` first. The sink may be called on any thread.
package struct Log: Sendable {
    package typealias Fields = [(name: String, value: String)]

    /// Lines below this level are dropped before their fields are made.
    package let minimum: LogLevel
    private let sink: @Sendable (LogLevel, StaticString, Fields) -> Void

    package init(minimum: LogLevel = .info, sink: @escaping @Sendable (LogLevel, StaticString, Fields) -> Void) {
        self.minimum = minimum
        self.sink = sink
    }

    /// A log that nobody reads.
    package static let discarding = Log(minimum: .error) { _, _, _ in }

    package func callAsFunction(
        _ level: LogLevel, _ message: StaticString, _ fields: @autoclosure () -> Fields = []
    ) {
        guard level >= minimum else { return }
        sink(level, message, fields())
    }
}

/// Personal data as a log may hold it.
package enum Masked {
    /// The last two characters of a telephone.
    package static func telephone(_ text: String) -> String {
        text.count > 4 ? "…" + text.suffix(2) : "…"
    }

    /// The first six characters of a push token.
    package static func token(_ text: String) -> String {
        text.count > 12 ? text.prefix(6) + "…" : "…"
    }
}
