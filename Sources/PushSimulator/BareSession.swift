// SPDX-License-Identifier: Apache-2.0

/// Bare mode: every request is accepted and counted, whatever it holds.
final class BareSession: SimulatorSession {
    private let judge: RequestJudge
    private let delaysAnswers: Bool
    private var frames: BareFrames
    private var delayed: [DelayedAnswer] = []

    init(judge: RequestJudge, answers: BareAnswers, delaysAnswers: Bool) {
        self.judge = judge
        self.delaysAnswers = delaysAnswers
        frames = BareFrames(maximumStreams: UInt32(judge.maximumStreams), answers: answers)
    }

    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> SimulatorConnection.Need? {
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

    func pack(into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        swap(&output, &frames.output)
    }

    /// A client ends its connection itself.
    var isOver: Bool { false }

    func takeDelayed() -> [DelayedAnswer] {
        defer { delayed.removeAll(keepingCapacity: true) }
        return delayed
    }

    func answer(_ answer: DelayedAnswer) { frames.answer(UInt32(bitPattern: answer.stream)) }
}
