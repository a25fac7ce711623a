// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import Synchronization

/// How much a log line matters. Raw values are syslog's priorities (RFC 5424, 6.2.1), which journald reads too.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case debug = 7
    case info = 6
    case notice = 5
    case warning = 4
    case error = 3

    /// By its name: "debug".
    package init?(name: String) {
        guard let level = LogLevel.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    package var name: String { "\(self)" }

    /// Whether `left` matters less than `right`.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue > right.rawValue }
}

/// The form of a log line. Raw values are the configuration's.
package enum LogFormat: String, Sendable, CaseIterable {
    /// A line for people.
    case text
    /// A JSON object on a line, for programs that collect logs.
    case json
}

/// The destination of log lines. A line has a constant message, and its values in fields, so that lines can be counted and
/// searched.
///
/// Telephones and tokens are never logged. The sink may be called on any thread. Copies share their level and
/// their counts. A line that is written while a request is answered carries the field `request` (`RequestMark`).
package struct Log: Sendable {
    package typealias Fields = [(name: String, value: String)]

    private final class Shared: Sendable {
        let minimum: Atomic<Int>
        let lines = Mutex<[LogLevel: Int]>([:])

        init(_ minimum: LogLevel) {
            self.minimum = Atomic(minimum.rawValue)
        }
    }

    private let shared: Shared
    private let sink: @Sendable (LogLevel, StaticString, Fields) -> Void

    package init(minimum: LogLevel = .info, sink: @escaping @Sendable (LogLevel, StaticString, Fields) -> Void) {
        shared = Shared(minimum)
        self.sink = sink
    }

    /// The same log, written on a queue, so that a slow reader does not hold up the thread that logs.
    package func written(on queue: DispatchQueue) -> Log {
        Log(shared: shared) { [sink] level, message, fields in queue.async { sink(level, message, fields) } }
    }

    private init(shared: Shared, sink: @escaping @Sendable (LogLevel, StaticString, Fields) -> Void) {
        self.shared = shared
        self.sink = sink
    }

    /// A log that goes nowhere.
    package static var discarding: Log { Log(minimum: .error) { _, _, _ in } }

    /// Lines below this level are dropped before their fields are made. May be changed at any time, on any thread.
    package var minimum: LogLevel {
        get { LogLevel(rawValue: shared.minimum.load(ordering: .relaxed)) ?? .info }
        nonmutating set { shared.minimum.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Lines written so far, by level.
    package var lines: [LogLevel: Int] { shared.lines.withLock { $0 } }

    package func callAsFunction(
        _ level: LogLevel, _ message: StaticString, _ fields: @autoclosure () -> Fields = []
    ) {
        guard level.rawValue <= shared.minimum.load(ordering: .relaxed) else { return }
        shared.lines.withLock { $0[level, default: 0] += 1 }
        sink(level, message, fields() + (RequestMark.current.map { [("request", $0)] } ?? []))
    }
}

/// The id of the request that this thread is answering, for every log line and every problem that results from it.
package enum RequestMark {
    @TaskLocal package static var current: String?

    /// Runs `body` under the id. Synchronous: the mark belongs to the thread for as long as it runs.
    package static func with<Result>(_ id: String?, _ body: () throws -> Result) rethrows -> Result {
        try $current.withValue(id, operation: body)
    }
}
