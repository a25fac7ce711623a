// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Threading

/// Asks side by side: each question has its own thread until it is answered, so that a source that hangs delays no other.
final class QuestionThreads: Sendable {
    private let questions: any SourceQuestions
    private let mailbox: Mailbox<SourceRunner.Event>
    private let underWay = DispatchGroup()

    init(_ questions: any SourceQuestions, answersTo mailbox: Mailbox<SourceRunner.Event>) {
        self.questions = questions
        self.mailbox = mailbox
    }

    /// Starts a question; its answer comes as an event.
    ///
    /// - Parameter watched: the number of the source that asks.
    func ask(_ question: SourceQuestion, of watched: Int) {
        underWay.enter()
        do {
            let thread = try NativeThread(name: "source") { [self] in
                mailbox.post(.answered(watched, questions.answer(question)))
                underWay.leave()
            }
            thread.detach()
        } catch {
            mailbox.post(.answered(watched, SourceAnswer(SourceFault("\(error)"), to: question)))
            underWay.leave()
        }
    }

    /// Waits for the questions under way; a stop ends them within about a second.
    func join() { underWay.wait() }
}
