// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Synchronization
import Testing

/// SIGKILL while several senders deliver webhooks, each again and again until it is answered.
@Suite(.serialized, .ownThread) struct CrashedWebhookTests {
    struct Answer: Equatable, Sendable {
        var status: Int
        var body: String
    }

    /// A release pipeline: its own ids, versions that rise, and patience.
    private final class Sender: Sendable {
        private let socket: String
        private let number: Int
        private let count: Int
        let answers = Mutex<[String: Answer]>([:])
        let versions = Mutex<[String: String]>([:])
        let tries = Atomic<Int>(0)
        let isDone = DispatchSemaphore(value: 0)
        /// Ends the sender also where no daemon answers any more.
        private let deadline: ContinuousClock.Instant

        init(socket: String, number: Int, count: Int, patience: Duration) {
            self.socket = socket
            self.number = number
            self.count = count
            deadline = .now + patience
        }

        static func version(_ sender: Int, _ step: Int) -> String { "2.\(step * 10 + sender)" }

        func start() {
            Thread { [self] in deliverAll() }.start()
        }

        private func deliverAll() {
            let folder = try? FolderWatch((socket as NSString).deletingLastPathComponent)
            for step in 1...count {
                let id = "sender-\(number)-\(step)"
                while ContinuousClock.now < deadline {
                    tries.wrappingAdd(1, ordering: .relaxed)
                    if let answer = try? CrashedWebhookTests.deliver(Self.version(number, step), id: id, over: socket),
                        answer.status < 500
                    {
                        answers.withLock { $0[id] = answer }
                        versions.withLock { $0[id] = Self.version(number, step) }
                        break
                    }
                    // The daemon is dead or starting. Waits until its control socket is made, 100 ms at most: it listens a moment
                    // after that.
                    folder?.wait(for: .milliseconds(100))
                }
            }
            isDone.signal()
        }
    }

    fileprivate static func deliver(_ version: String, id: String, over socket: String) throws -> Answer {
        let response = try HTTPClient(unixSocket: socket).send(
            Workbench.webhook(version, id: id, to: "http://localhost"))
        return Answer(status: response.status, body: String(decoding: response.body, as: UTF8.self))
    }

    @Test func aWebhookThatWasAnsweredIsNeverLost() throws {
        var plan = CrashPlan()
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 50))
        // A start takes up to ten seconds on a busy machine.
        let patience = Duration.seconds(60 + 15 * plan.kills)
        let senders = (0..<4).map {
            Sender(socket: bench.path("control.sock"), number: $0, count: plan.kills * 3, patience: patience)
        }
        for sender in senders { sender.start() }
        for _ in 0..<plan.kills {
            plan.pass(upTo: .milliseconds(60))
            bench.kill()
            try bench.start()
        }
        for sender in senders {
            let limit = DispatchTime.now() + Double(patience.components.seconds + 20)
            #expect(sender.isDone.wait(timeout: limit) == .success, "\(plan): a sender was never answered")
        }
        bench.kill()
        try bench.start()
        let answers = senders.reduce(into: [String: Answer]()) { all, sender in
            all.merge(sender.answers.withLock { $0 }) { first, _ in first }
        }
        #expect(answers.count == 4 * plan.kills * 3, "\(plan)")
        let versions = senders.reduce(into: [String: String]()) { all, sender in
            all.merge(sender.versions.withLock { $0 }) { first, _ in first }
        }
        // An accepted webhook answers as the first time and takes no other body; one refused with 409 was never accepted.
        var replayed = 0
        for (id, answer) in answers where answer.status < 300 {
            let version = try #require(versions[id])
            let again = try Self.deliver(version, id: id, over: bench.path("control.sock"))
            #expect(again == answer, "\(plan), \(id)")
            #expect(try Self.deliver("99.0", id: id, over: bench.path("control.sock")).status == 409)
            replayed += 1
        }
        #expect(answers.values.allSatisfy { [200, 202, 409].contains($0.status) }, "\(plan)")
        // Each rise is one campaign: those in the senders' 202 answers are distinct, and are all that the store has.
        let raised = try answers.values.filter { $0.status == 202 }.map { answer in
            let json = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
            return try #require((json?["campaign"] as? [String: Any])?["id"] as? String)
        }
        #expect(Set(raised).count == raised.count, "\(plan): one campaign for two rises")
        let stored = try bench.sql("SELECT public_id FROM campaign").output.split(separator: "\n").map(String.init)
        #expect(Set(stored) == Set(raised) && stored.count == raised.count, "\(plan)")
        #expect(try bench.sql("SELECT required FROM version").output == "\(Sender.version(3, plan.kills * 3))\n")
        let tries = senders.reduce(0) { $0 + $1.tries.load(ordering: .relaxed) }
        print(
            "webhooks, \(plan): \(answers.count) answered after \(tries) tries, \(raised.count) rises, "
                + "\(replayed) replayed alike, lost 0")
    }
}
