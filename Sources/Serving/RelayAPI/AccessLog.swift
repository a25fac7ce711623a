// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Telemetry

/// Logs requests, on a queue of its own: no answer waits for a log whose reader is slow. Lines without room are dropped and counted.
final class AccessLog: Sendable {
    /// Lines that may wait.
    static let limit = 1000

    private struct State {
        var waiting = 0
        var suppressed = 0
    }

    private let log: Log
    private let queue = DispatchQueue(label: "access log")
    private let state = Mutex(State())

    init(_ log: Log) {
        self.log = log
    }

    /// - Parameter id: the request's mark.
    func report(
        _ level: LogLevel, _ message: StaticString = "request answered", id: String?,
        _ fields: @escaping @Sendable () -> Log.Fields
    ) {
        guard level >= log.minimum else { return }
        let suppressed: Int? = state.withLock { state in
            guard state.waiting < Self.limit else {
                state.suppressed += 1
                return nil
            }
            state.waiting += 1
            defer { state.suppressed = 0 }
            return state.suppressed
        }
        guard let suppressed else { return }
        queue.async { [self] in
            RequestMark.with(id) {
                log(level, message, fields() + (suppressed == 0 ? [] : [("suppressed", String(suppressed))]))
            }
            state.withLock { $0.waiting -= 1 }
        }
    }

    /// Waits until everything is logged.
    func finish() {
        queue.sync {}
    }
}
