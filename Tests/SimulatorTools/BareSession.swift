// SPDX-License-Identifier: Apache-2.0

package import PushSimulator

/// Accepts and counts every request, whatever it contains, also those for access tokens. There are no faults and no record.
package final class BareSession: SimulatorSession {
    private let judge: RequestJudge
    private let delaysAnswers: Bool
    private var frames: BareFrames
    private var delayed: [DelayedAnswer] = []

    private init(_ judge: RequestJudge, answers: BareAnswers, delaysAnswers: Bool) {
        self.judge = judge
        self.delaysAnswers = delaysAnswers
        frames = BareFrames(maximumStreams: UInt32(judge.maximumStreams), answers: answers)
    }

    /// Makes all of a simulator's connections answer in this way.
    package static func answer(_ configuration: inout SimulatorConfiguration) {
        let answers = BareAnswers(configuration.service)
        let delaysAnswers = configuration.latency > .zero
        configuration.session = { BareSession($0, answers: answers, delaysAnswers: delaysAnswers) }
    }

    package func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> SimulatorConnection.Need? {
        guard unsafe frames.receive(bytes.span) else { return .close }
        judge.countAccepted(frames.ended.count, mostStreams: frames.mostStreams)
        if delaysAnswers {
            delayed += frames.ended.map { DelayedAnswer(stream: Int32(bitPattern: $0)) }
        } else {
            for stream in frames.ended { frames.answer(stream) }
        }
        frames.ended.removeAll(keepingCapacity: true)
        return nil
    }

    package func pack(into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        swap(&output, &frames.output)
    }

    /// The client ends its connection itself.
    package var isOver: Bool { false }

    package func takeDelayed() -> [DelayedAnswer] {
        defer { delayed.removeAll(keepingCapacity: true) }
        return delayed
    }

    package func answer(_ answer: DelayedAnswer) { frames.answer(UInt32(bitPattern: answer.stream)) }
}
