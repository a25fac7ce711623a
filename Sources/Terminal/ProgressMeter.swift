// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Measures a work's rate and guesses what is left. Pure: amounts with their time in, progress out.
package struct ProgressMeter: Sendable {
    package let total: Int64?
    /// How far back the rate looks: an old stall is forgotten after about this time.
    private let memory: Double
    private var last: (done: Int64, seconds: Double)
    /// The steps' rates, each by its weight, and the sum of the weights: below 1 until the memory is full, so that the first
    /// seconds are not weighed against a time before the beginning.
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

    /// Notes that `done` is reached at `time`, and says how things stand.
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
