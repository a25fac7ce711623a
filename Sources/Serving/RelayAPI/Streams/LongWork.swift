// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTPServer
import RelayStore
import Synchronization
import Threading
import WireFormat

/// Work that may take longer than a connection may be silent, on a thread of its own: its answer is a stream of NDJSON that
/// reports its progress, with an empty line where there is nothing to report.
///
/// The work goes at the reader's pace, a few lines ahead, and is asked to stop when the reader is gone or the server stops.
final class LongWork: Sendable {
    enum Step {
        case line([UInt8])
        case nothingYet
        /// With the snapshot that it made, if any.
        case over((any StoreSnapshot)?)
    }

    /// Where the work puts its lines.
    final class Outlet: Sendable {
        private let state = Mutex(State())
        private let room = DispatchSemaphore(value: 0)
        private let stop: CancellationFlag

        private struct State {
            var lines: [[UInt8]] = []
            var end: Result<(any StoreSnapshot)?, any Error>?
            var isAbandoned = false
            var isReported = false
            /// When the reader was last sent something, in milliseconds of the monotonic clock.
            var writtenAt = MonotonicClock.milliseconds()
        }

        fileprivate init(stop: CancellationFlag, ahead: Int = 4) {
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
            return true
        }

        fileprivate func end(_ result: Result<(any StoreSnapshot)?, any Error>) {
            state.withLock { $0.end = result }
        }

        fileprivate func abandon() {
            state.withLock { $0.isAbandoned = true }
        }

        fileprivate func next() throws -> Step {
            let now = MonotonicClock.milliseconds()
            let step: Step = try state.withLock { state in
                if !state.lines.isEmpty { return .line(state.lines.removeFirst()) }
                switch state.end {
                case .success(let result): return .over(result)
                case .failure(let error):
                    // The error is reported in a line first; then the connection is cut, so that no reader takes a part for the whole.
                    if state.isReported { throw error }
                    state.isReported = true
                    var writer = JSONWriter()
                    writer.object { $0.member(.error, ProblemDetails.of(error).detail) }
                    writer.newLine()
                    return .line(writer.bytes)
                case nil: return now - state.writtenAt < LongWork.patience ? .nothingYet : .line([0x0A])
                }
            }
            guard case .line(let line) = step else { return step }
            state.withLock { $0.writtenAt = now }
            if line != [0x0A] { room.signal() }
            return step
        }
    }

    /// Milliseconds of silence after which the reader gets an empty line as a sign of life.
    private static var patience: Int64 { 5000 }

    private let outlet: Outlet

    init(
        _ name: String, stop: CancellationFlag, _ body: @escaping @Sendable (Outlet) throws -> (any StoreSnapshot)?
    ) {
        let outlet = Outlet(stop: stop)
        self.outlet = outlet
        DispatchQueue(label: name).async {
            outlet.end(Result { try body(outlet) })
        }
    }

    deinit {
        outlet.abandon()
    }

    func next() throws -> Step { try outlet.next() }
}

/// The lines of a long work as a body; after them a line with the size of its result, and the result byte for byte. So a reader
/// sees the progress, and a copy that was cut short cannot pass for a whole one.
final class LongAnswer: ByteSource {
    private let work: LongWork
    /// The slot that lets one such work run at a time. Given back before the answer's end is sent, so that a caller that
    /// asks again at once finds it free; or when the connection ends.
    private var slot: Slots.Slot?
    private var isOver = false
    private var snapshot: (any StoreSnapshot)?
    /// Milliseconds until the next look for a line.
    private static let look: Int64 = 20
    private static let piece = 256 * 1024

    init(_ work: LongWork, slot: Slots.Slot) {
        self.work = work
        self.slot = slot
    }

    func next() throws -> BodyPiece {
        if isOver {
            let bytes = try snapshot?.read(atMost: Self.piece) ?? []
            if bytes.isEmpty { slot = nil }
            return bytes.isEmpty ? .end : .bytes(bytes)
        }
        switch try work.next() {
        case .line(let line): return .bytes(line)
        case .nothingYet: return .later(Self.look)
        case .over(let made):
            (isOver, snapshot) = (true, made)
            guard let made else { return try next() }
            var writer = JSONWriter()
            writer.object { $0.member(.size, made.size) }
            writer.newLine()
            return .bytes(writer.bytes)
        }
    }
}
