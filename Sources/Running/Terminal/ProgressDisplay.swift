// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Shows the progress of a long operation: a bar that redraws itself on a terminal, plain lines now and then elsewhere.
package final class ProgressDisplay: Sendable {
    /// Without a terminal, a line is due after this time or after a tenth more of the work.
    private static let plainInterval = Duration.seconds(5)

    private struct State {
        var meter: ProgressMeter
        var lastDrawn: ContinuousClock.Instant?
        var lastTenth = -1
        var isDrawn = false
        var lastText = ""
    }

    private let console: Console
    private let label: String
    private let unit: Progress.Unit
    private let isQuiet: Bool
    private let start = ContinuousClock.now
    private let state: Mutex<State>

    package init(
        _ console: Console, label: String, total: Int64?, unit: Progress.Unit = .items, isQuiet: Bool = false
    ) {
        self.console = console
        self.label = label
        self.unit = unit
        self.isQuiet = isQuiet
        state = Mutex(State(meter: ProgressMeter(total: total, start: .zero)))
    }

    /// Measures the rate itself.
    package func update(done: Int64, note: String = "") {
        guard !isQuiet else { return }
        let now = ContinuousClock.now
        state.withLock { state in
            if console.isTerminal, let last = state.lastDrawn, now - last < .milliseconds(100) { return }
            show(measured(done, note, at: now, in: &state), at: now, in: &state)
        }
    }

    /// Shows progress whose rate the caller knows.
    package func update(_ progress: Progress) {
        guard !isQuiet else { return }
        state.withLock { state in show(progress, at: .now, in: &state) }
    }

    /// Measures and draws the last state, and ends the line.
    package func finish(done: Int64, note: String = "") {
        guard !isQuiet else { return }
        finish(state.withLock { state in measured(done, note, at: .now, in: &state) })
    }

    /// Writes lines above the bar, which the next update draws again. Writes them also where no progress is shown.
    package func interrupt(_ lines: String) {
        state.withLock { state in
            // CR and EL: the first line overwrites the bar.
            console.writeError(state.isDrawn ? "\r\u{1B}[K" + lines : lines)
            state.isDrawn = false
            state.lastDrawn = console.isTerminal ? nil : state.lastDrawn
        }
    }

    /// Draws the last state, even shortly after the previous drawing, and ends the line.
    package func finish(_ progress: Progress? = nil) {
        guard !isQuiet else { return }
        state.withLock { state in
            if let progress {
                state.lastDrawn = nil
                state.lastTenth = -1
                show(progress, at: .now, in: &state)
            }
            if console.isTerminal, state.isDrawn { console.writeError("\n") }
            state.isDrawn = false
        }
    }

    private func measured(
        _ done: Int64, _ note: String, at now: ContinuousClock.Instant, in state: inout State
    ) -> Progress {
        var progress = state.meter.update(done: done, at: now - start, note: note)
        progress.unit = unit
        return progress
    }

    private func show(_ progress: Progress, at now: ContinuousClock.Instant, in state: inout State) {
        if console.isTerminal {
            let line = ProgressBar.line(label, progress, width: max(20, console.width - 1))
            // CR, the line, and EL ("erase to the end of the line", ECMA-48 8.3.41).
            console.writeError("\r\(line)\u{1B}[K")
            state.isDrawn = true
            state.lastDrawn = now
            return
        }
        let tenth = progress.share.map { Int($0 * 10) } ?? 0
        if let last = state.lastDrawn, now - last < Self.plainInterval, tenth <= state.lastTenth { return }
        let text = ProgressBar.plain(label, progress)
        guard text != state.lastText else { return }
        console.writeError(text + "\n")
        state.lastText = text
        state.lastDrawn = now
        state.lastTenth = tenth
    }
}

/// Measures the rate of an operation and estimates the time left. Pure: amounts with their time in, progress out.
package struct ProgressMeter: Sendable {
    package let total: Int64?
    /// Seconds that the rate looks back: a stall is forgotten after about this time.
    private let memory: Double
    private var last: (done: Int64, seconds: Double)
    /// The weighted rates of the steps, and the sum of their weights. The sum is below 1 until the memory is full; dividing by
    /// it keeps the time before the beginning out of the first averages.
    private var weighed = 0.0
    private var weights = 0.0

    /// - Parameters:
    ///   - start: the time of the beginning, on the same clock as later updates.
    ///   - memory: in seconds. Default 5.
    package init(total: Int64?, start: Duration, memory: Double = 5) {
        self.total = total
        self.memory = memory
        last = (0, Self.seconds(start))
    }

    /// Notes that `done` is reached at `time`, and returns the progress.
    package mutating func update(done: Int64, at time: Duration, note: String = "") -> Progress {
        let now = Self.seconds(time)
        let elapsed = now - last.seconds
        if elapsed > 0 {
            let current = Double(done - last.done) / elapsed
            // Exponential smoothing over uneven steps: a step as long as the memory weighs 63 %.
            let weight = 1 - exp(-elapsed / memory)
            weighed += weight * (current - weighed)
            weights += weight * (1 - weights)
            last = (done, now)
        }
        let rate = weights > 0 ? max(0, weighed / weights) : 0
        var left: Int64?
        if let total, rate > 0 { left = Int64(min((Double(max(0, total - done)) / rate).rounded(.up), 1e12)) }
        return Progress(done: done, total: total, ratePerSecond: rate, secondsLeft: left, note: note)
    }

    private static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
