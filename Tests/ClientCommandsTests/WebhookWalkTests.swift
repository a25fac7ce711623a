// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import OwnThread
import RelayEngine
import Synchronization
import Testing
import UpgradeRules

/// The way of a webhook from its head to the decision and back (HOUSE.md, section 4): a second read would be seen here.
@Suite("The walk of a webhook", .ownThread) struct WebhookWalkTests {
    /// The steps of one thread, without those of the daemon's own threads.
    private final class Steps: Sendable {
        private let thread = Mutex<pthread_t?>(nil)
        private let state = Mutex((entries: 0, atDecision: Int?.none))

        func enter() {
            guard isWatched else { return }
            state.withLock { $0.entries += 1 }
        }

        func decided() {
            guard isWatched else { return }
            state.withLock { $0.atDecision = $0.atDecision ?? $0.entries }
        }

        private var isWatched: Bool { thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }

        /// How often the store was entered before the transaction that decided, and after it; nil where nothing was decided:
        /// all is before.
        func watch(_ body: () throws -> Void) rethrows -> (before: Int, after: Int?) {
            thread.withLock { $0 = pthread_self() }
            state.withLock { $0 = (0, nil) }
            defer { thread.withLock { $0 = nil } }
            try body()
            return state.withLock { state in
                state.atDecision.map { ($0 - 1, state.entries - $0) } ?? (state.entries, nil)
            }
        }
    }

    private static func body(_ required: String, _ more: String = "") -> [UInt8] {
        Array(#"{"app":"\#(RealDaemon.app)","platform":"ios","required":"\#(required)"\#(more)}"#.utf8)
    }

    @Test("before the transaction that decides the store is read once, and after it by the cache alone")
    func reads() throws {
        let steps = Steps()
        let daemon = try RealDaemon(onEnter: { steps.enter() })
        daemon.decisions.watcher.withLock { $0 = { steps.decided() } }
        func walk(_ body: [UInt8], _ id: String, status: Int) throws -> (before: Int, after: Int?) {
            var answered = 0
            let count = try steps.watch { answered = try daemon.walk(body, id: id).status }
            #expect(answered == status, "\(id)")
            return count
        }
        let taken = try walk(Self.body("2.0.0"), "taken", status: 202)
        #expect(taken.before == 1, "the versions seen")
        #expect(taken.after == 0, "the cache has a thread of its own")
        let canary = try walk(Self.body("2.1.0", #","telephones":["138","139"]"#), "of two users", status: 202)
        #expect(canary.before == 3, "and whether there is a device of each of its canary")
        let again = try walk(Self.body("2.0.0"), "taken", status: 202)
        #expect(again == (2, nil), "the versions seen, and the transaction that has found the answer")
        let fall = try walk(Self.body("1.0.0"), "falls", status: 409)
        #expect(fall == (2, nil), "the versions seen, and the transaction that has refused it")
        let faulty = try walk(Self.body("x"), "is no version", status: 422)
        #expect(faulty == (1, nil), "whether it was answered before")
        let unsigned = try walk(Self.body("3.0.0"), "", status: 401)
        #expect(unsigned == (0, nil), "nothing is believed, and nothing asked")
    }

    @Test("a decision is shown once, by whom the store tells of it")
    func shownOnce() throws {
        let daemon = try RealDaemon()
        let before = daemon.versionReads.count.load(ordering: .relaxed)
        #expect(try daemon.walk(Self.body("2.0.0"), id: "taken").status == 202)
        #expect(daemon.versionReads.count.load(ordering: .relaxed) - before == 1)
        #expect(try daemon.walk(Self.body("2.0.0"), id: "taken").status == 202)
        #expect(daemon.versionReads.count.load(ordering: .relaxed) - before == 1, "a repeated one decides nothing")
    }

    @Test("the requirement machine runs where a decision is committed, and for dry runs, and nowhere else")
    func machine() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources").standardized
        let files = try #require(FileManager.default.enumerator(atPath: sources.path)).compactMap { $0 as? String }
        var runs: [String: Int] = [:]
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            guard text.contains("RequirementMachine(") else { continue }
            let count = text.matches(of: /machine\.reduce\(/).count
            if count > 0 { runs[file] = count }
        }
        // One dry run is for `plan`, one counts the devices that an act reaches where a second person may have to approve it.
        // A look runs the first of the two outside of a transaction, to find out whether it needs one.
        #expect(
            runs == [
                "Store/StoreSQL/Requirements/SQLStore+Decisions.swift": 2,
                "Running/RelayDaemon/Requirements/RequirementControl+Versions.swift": 1,
                "Running/RelayDaemon/Requirements/RequirementControl+Reach.swift": 1,
            ])
    }
}
