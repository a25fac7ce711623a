import APIModel
import Dispatch
// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Synchronization
import WireFormat

/// Work that may take longer than a connection may be silent, on a thread of its own: its answer is a stream of NDJSON that
/// reports how far it is, with an empty line where there is nothing to report.
///
/// The work goes at the reader's pace, a few lines ahead, and is told to stop when the reader is gone or the server stops.
final class LongWork<Result: Sendable>: Sendable {
    enum Step {
        case line([UInt8])
        case over(Result)
    }

    /// Where the work puts its lines.
    final class Outlet: Sendable {
        private let state = Mutex(State())
        private let changed = DispatchSemaphore(value: 0)
        private let room = DispatchSemaphore(value: 0)
        private let stop: OneShotEvent

        private struct State {
            var lines: [[UInt8]] = []
            var end: Swift.Result<Result, any Error>?
            var isAbandoned = false
            var isReported = false
        }

        fileprivate init(stop: OneShotEvent, ahead: Int = 4) {
            self.stop = stop
            // A semaphore must not end below the value that it began with (dispatch_semaphore_create(3)).
            for _ in 0..<ahead { room.signal() }
        }

        /// Whether the work should go on.
        var isWanted: Bool { !stop.isSet && !state.withLock { $0.isAbandoned } }

        /// Waits where the reader is slow. Returns whether the work should go on.
        func write(_ content: (inout JSONWriter) -> Void) -> Bool {
            var writer = JSONWriter(reserving: 128)
            writer.object(content)
            writer.newLine()
            while room.wait(timeout: .now() + 1) == .timedOut {
                if !isWanted { return false }
            }
            guard isWanted else { return false }
            state.withLock { $0.lines.append(writer.bytes) }
            changed.signal()
            return true
        }

        fileprivate func end(_ result: Swift.Result<Result, any Error>) {
            state.withLock { $0.end = result }
            changed.signal()
        }

        fileprivate func abandon() {
            state.withLock { $0.isAbandoned = true }
        }

        fileprivate func next() throws -> Step {
            if changed.wait(timeout: .now() + LongWork.patience) == .timedOut { return .line([0x0A]) }
            let line: [UInt8]? = state.withLock { $0.lines.isEmpty ? nil : $0.lines.removeFirst() }
            if let line {
                room.signal()
                return .line(line)
            }
            switch state.withLock({ $0.end }) {
            case nil: return .line([0x0A])
            case .success(let result): return .over(result)
            case .failure(let error):
                // Reported in words first; then the connection is cut, so that nobody takes a part for the whole.
                let isReported = state.withLock { state in
                    defer { state.isReported = true }
                    return state.isReported
                }
                if isReported { throw error }
                changed.signal()
                var writer = JSONWriter()
                writer.object { $0.member(.error, ProblemDetails.of(error).detail) }
                writer.newLine()
                return .line(writer.bytes)
            }
        }
    }

    /// So that who reads knows that there is life.
    private static var patience: DispatchTimeInterval { .seconds(5) }

    private let outlet: Outlet

    init(_ name: String, stop: OneShotEvent, _ body: @escaping @Sendable (Outlet) throws -> Result) {
        let outlet = Outlet(stop: stop)
        self.outlet = outlet
        DispatchQueue(label: name).async {
            outlet.end(Swift.Result { try body(outlet) })
        }
    }

    deinit {
        outlet.abandon()
    }

    func next() throws -> Step { try outlet.next() }
}

/// The lines of a long work, as a body.
final class LongAnswer: ByteSource {
    private let work: LongWork<Void>
    /// One of its kind at a time. Given back before the answer's end is sent, so that who asks again at once finds it free;
    /// or when the connection ends.
    private var slot: StreamSlots.Slot?
    private var isOver = false
    let mayWaitLong = true

    init(_ work: LongWork<Void>, slot: StreamSlots.Slot) {
        self.work = work
        self.slot = slot
    }

    func next() throws -> [UInt8]? {
        if isOver { return nil }
        switch try work.next() {
        case .line(let line):
            return line
        case .over:
            isOver = true
            slot = nil
            return nil
        }
    }
}
