// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Judges by their pulses whether all parts of the daemon make progress. Pure: readings and time in, a verdict out.
///
/// A part is stuck when it has been at work for longer than `patience` without a beat. A part that waits for another's work,
/// as the fan-out waits for the store, is given ten times as long while the other one beats: there may be a queue before it.
package struct Watchdog: Sendable {
    package struct Part: Sendable {
        package var pulse: Pulse
        /// The pulse of the part that it waits for.
        package var waitsFor: Pulse?

        package init(_ pulse: Pulse, waitsFor: Pulse? = nil) {
            self.pulse = pulse
            self.waitsFor = waitsFor
        }
    }

    package struct Reading: Sendable {
        package var part: String
        package var own: PulseReading
        package var awaited: PulseReading?
    }

    private struct Silence {
        var own: PulseReading
        var ownFor = Duration.zero
        var awaited: PulseReading?
        var awaitedFor = Duration.zero
    }

    private static let timesLongerInAQueue = 10

    private let patience: Duration
    private let step: Duration
    private var lastLook: MonotonicTime?
    private var silences: [String: Silence] = [:]

    /// - Parameters:
    ///   - patience: how long a part may take for one step.
    ///   - step: how often `look` is called. Time between two looks beyond twice this is not counted: the whole process stood
    ///     still then (SIGSTOP, a virtual machine that was frozen).
    package init(patience: Duration, step: Duration) {
        self.patience = patience
        self.step = step
    }

    /// The parts that are stuck; empty where all make progress.
    package mutating func look(_ readings: [Reading], at now: MonotonicTime) -> [String] {
        let passed = min(lastLook.map { now - $0 } ?? .zero, step * 2)
        lastLook = now
        var stuck: [String] = []
        for reading in readings {
            var silence = silences[reading.part] ?? Silence(own: reading.own, awaited: reading.awaited)
            let isQuiet = silence.own == reading.own && !reading.own.isAtRest
            silence.ownFor = isQuiet ? silence.ownFor + passed : .zero
            silence.awaitedFor = silence.awaited == reading.awaited ? silence.awaitedFor + passed : .zero
            (silence.own, silence.awaited) = (reading.own, reading.awaited)
            silences[reading.part] = silence
            let queues = reading.awaited != nil && silence.awaitedFor <= patience
            if silence.ownFor > (queues ? patience * Self.timesLongerInAQueue : patience) { stuck.append(reading.part) }
        }
        return stuck
    }
}

extension Watchdog.Reading {
    package init(_ part: Watchdog.Part) {
        self.init(part: part.pulse.part, own: part.pulse.reading, awaited: part.waitsFor?.reading)
    }
}
