// SPDX-License-Identifier: Apache-2.0
import Configuration
import Dispatch
import RelayEngine
import Synchronization
import Telemetry
import Threading

/// Asks every service that a configuration names whether it accepts the configuration's credentials: one push to a token
/// that no device has for each push service, one read of each source, one test event for each receiver. Stores nothing, and
/// needs no daemon.
struct OnlineCheck: Sendable {
    /// The time for one answer: a person at a terminal would not wait longer.
    static let patience = Duration.seconds(10)

    /// One question to one service.
    struct Question: Sendable {
        var field: String
        var detail: String?
        /// The way to the service; nil where nothing is dialled.
        var way: String?
        /// Blocks until the service has answered, without a limit.
        var ask: @Sendable () -> [OnlineFinding]

        /// - Parameter ask: for a service that gives one finding.
        init(
            field: String, detail: String? = nil, way: String? = nil, ask: @escaping @Sendable () -> OnlineFinding
        ) {
            self.init(field: field, detail: detail, way: way, askAll: { [ask()] })
        }

        init(
            field: String, detail: String? = nil, way: String? = nil,
            askAll: @escaping @Sendable () -> [OnlineFinding]
        ) {
            (self.field, self.detail, self.way, ask) = (field, detail, way, askAll)
        }
    }

    /// Questions that a service must get one after another, with a pause between two; most turns have one question.
    struct Turn: Sendable {
        var questions: [Question]
        var spacing = Duration.zero
    }

    let configuration: RelayConfiguration
    let environment: [String: String]
    var clock: @Sendable () -> Timestamp = WallClock.now
    var patience = Self.patience

    /// Runs all turns side by side; each question has its own time limit.
    ///
    /// - Throws: `CommandFailure` (78) where a key cannot be used.
    func run() throws -> [OnlineFinding] { ask(try turns()) }

    /// - Returns: the findings, in the order of the questions.
    func ask(_ turns: [Turn]) -> [OnlineFinding] {
        let board = Board(turns.map { $0.questions.count })
        let underWay = DispatchGroup()
        for (place, turn) in turns.enumerated() {
            underWay.enter()
            let isStarted = start {
                for (number, question) in turn.questions.enumerated() {
                    if number > 0 { Pause.rest(turn.spacing) }
                    var findings = answer(to: question)
                    for index in findings.indices { findings[index].way = question.way }
                    board.note(findings, at: place, number)
                }
                underWay.leave()
            }
            if let trouble = isStarted {
                for (number, question) in turn.questions.enumerated() {
                    board.note([Self.failure(question, trouble)], at: place, number)
                }
                underWay.leave()
            }
        }
        underWay.wait()
        return board.findings
    }

    /// Leaves the thread behind if the service does not answer, as the process ends soon.
    private func answer(to question: Question) -> [OnlineFinding] {
        let (box, isThere) = (Board([1]), DispatchSemaphore(value: 0))
        let trouble = start {
            box.note(question.ask(), at: 0, 0)
            isThere.signal()
        }
        if let trouble { return [Self.failure(question, trouble)] }
        let end = DispatchTime.now() + .milliseconds(Int(patience.milliseconds))
        if isThere.wait(timeout: end) == .success { return box.findings }
        return [
            OnlineFinding(
                field: question.field, detail: question.detail, result: .failed,
                answer: "no answer within \(patience.milliseconds / 1000) s",
                remedy: "look at the network, DNS, the proxy and the firewall's outgoing rules")
        ]
    }

    private static func failure(_ question: Question, _ trouble: String) -> OnlineFinding {
        OnlineFinding(field: question.field, detail: question.detail, result: .failed, answer: trouble)
    }

    /// - Returns: why no thread could be started; nil: it runs.
    private func start(_ body: @escaping @Sendable () -> Void) -> String? {
        do {
            try NativeThread(name: "online-check", body).detach()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Findings, by turn and number.
    private final class Board: Sendable {
        private let rows: Mutex<[[[OnlineFinding]]]>

        init(_ counts: [Int]) { rows = Mutex(counts.map { Array(repeating: [], count: $0) }) }

        func note(_ findings: [OnlineFinding], at turn: Int, _ number: Int) {
            rows.withLock { $0[turn][number] = findings }
        }

        var findings: [OnlineFinding] { rows.withLock { $0.flatMap { $0.flatMap(\.self) } } }
    }
}
