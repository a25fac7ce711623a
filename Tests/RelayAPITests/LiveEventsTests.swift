// SPDX-License-Identifier: Apache-2.0
import Dispatch
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Testing
import Threading
import UpgradeRules

@testable import HTTPServer
@testable import RelayAPI

@Suite("Events of all that there is", .ownThread)
struct LiveEventsTests {
    /// The text of a stream until it has no more.
    private func told(_ events: LiveEvents) throws -> String {
        var text = ""
        while case .bytes(let bytes) = try events.next() { text += String(decoding: bytes, as: UTF8.self) }
        return text
    }

    private func events(
        _ bench: Bench, _ caller: Caller = Caller(actor: Principal("a", .token, via: "api")), after: String? = nil
    )
        throws -> LiveEvents
    {
        let api = bench.server.api
        return LiveEvents(api: api, caller: caller, last: after, slot: try #require(api.watchers.take()))
    }

    private func lastID(_ text: String) -> String? {
        text.split(separator: "\n").last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    @Test("all is told at first, and then what has changed; who comes back is told what was missed")
    func resumes() throws {
        let bench = try Bench()
        let campaign = try bench.campaign(required: "2.0.0")
        let stream = try events(bench)
        let first = try told(stream)
        #expect(first.contains("event: campaign\ndata: {\"id\":\"\(campaign)\""))
        #expect(first.contains("event: version\n") && first.contains("event: readiness\n"))
        #expect(try told(stream).isEmpty)
        let id = try #require(lastID(first))
        #expect(try told(try events(bench, after: id)).contains("event:") == false)

        _ = try bench.ask("POST", "/v1/campaigns/\(campaign)/pause")
        try bench.until { try bench.server.api.overview().campaigns.first?.record.state == .paused }
        let news = try told(stream)
        #expect(news.contains("\"state\":\"paused\"") && !news.contains("event: readiness"))
        #expect(try told(try events(bench, after: id)).contains("\"state\":\"paused\""))
        #expect(try told(try events(bench, after: "other.9")).contains("event: readiness"), "another process's id")
    }

    @Test("only the last event of a look has the id, so that a cut in its middle costs none of its events")
    func cut() throws {
        let bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        _ = try bench.campaign(required: "2.0.0")
        let text = try told(try events(bench))
        let blocks = text.split(separator: "\n\n").filter { $0.contains("event: ") }
        #expect(blocks.count >= 4, "\(blocks.count)")
        #expect(blocks.dropLast().allSatisfy { !$0.contains("\nid: ") })
        #expect(try #require(blocks.last).contains("\nid: "))
        // Cut after any of them but the last: the reader has no id of this look, and gets all of it again.
        let again = try told(try events(bench, after: nil))
        #expect(Set(again.split(separator: "\n\n")) == Set(text.split(separator: "\n\n")))
    }

    @Test(
        "an id of what has not been is answered by everything",
        arguments: ["9999", "-1", "0", "x", "", "1.1", "99999999999999999999"])
    func future(revision: String) throws {
        let bench = try Bench()
        _ = try bench.campaign(required: "2.0.0")
        let all = try told(try events(bench))
        let epoch = try #require(lastID(all)?.split(separator: ".").first)
        for id in ["\(epoch).\(revision)", revision, "other.\(revision)"] {
            let text = try told(try events(bench, after: id))
            #expect(text.contains("event: campaign\n") && text.contains("event: readiness\n"), "\(id)")
        }
        let stream = try events(bench, after: "\(epoch).9999")
        _ = try told(stream)
        _ = try bench.campaign(required: "3.0.0")
        try bench.until {
            try bench.server.api.overview().campaigns.contains { $0.record.requirement.target.version.text == "3.0.0" }
        }
        #expect(try told(stream).contains("3.0.0"), "it goes on")
    }

    @Test("who is bound to apps is told of these alone")
    func apps() throws {
        let bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        _ = try bench.campaign(required: "2.0.0")
        var caller = Caller(actor: Principal("a", .token, via: "api"))
        caller.apps = [Bench.other.app]
        let text = try told(try events(bench, caller))
        #expect(text.contains(Bench.other.app) && !text.contains("\"\(Bench.app.app)\""))
    }

    @Test("a request for a second person is an event when it comes and when it goes, for those who may see its app")
    func approvals() throws {
        let bench = try Bench(hasPage: true)
        bench.control.hasOther.withLock { $0 = true }
        let stream = try events(bench)
        #expect(try !told(stream).contains("event: approvals"), "nothing waits")
        let request = try #require(try bench.ask(forSecondPerson: "2.0"))
        try bench.until { try !bench.server.api.overview().approvals.isEmpty }
        let came = try told(stream)
        #expect(came.contains("event: approvals\n") && came.contains(#""deed":"require 2.0""#), "\(came)")
        var stranger = Caller(actor: Principal("b", .token, via: "api"))
        stranger.apps = [Bench.other.app]
        #expect(try !told(try events(bench, stranger)).contains("event: approvals"), "another team's")
        _ = try bench.store.refuse(
            approval: request.id, by: Signature(by: .operator("bob"), at: Bench.now), reason: "not now")
        try bench.until { try bench.server.api.overview().approvals.isEmpty }
        let went = try told(stream)
        #expect(went.contains("event: approvals\n") && went.contains(#""approvals":[]"#), "\(went)")
        #expect(try told(stream).isEmpty, "once")
    }

    /// FAULTS 3.13: two app-bound tokens had all the places, and the operator had none.
    @Test("two tokens that watch with all their might leave room for others and for the control socket")
    func greedy() throws {
        let bench = try Bench()
        bench.control.hasOther.withLock { $0 = true }
        var held: [Slots.Slot] = []
        for (name, app) in [("a", Bench.app), ("b", Bench.other)] {
            var caller = Caller(actor: Principal(name, .token, via: "api"))
            caller.apps = [app.app]
            while let slot = bench.server.api.watchers.take(for: caller.places) { held.append(slot) }
        }
        #expect(held.count < 2048)
        let token = try bench.newToken(.status)
        let other = try RawClient(port: bench.server.port ?? 0)
        try other.send("GET /v1/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(try other.receiveHead().hasPrefix("HTTP/1.1 200"))
        while let slot = bench.server.api.watchers.take(for: ["by x\(held.count)"]) { held.append(slot) }
        let local = try RawClient(unixSocket: bench.socketPath)
        try local.send("GET /v1/events HTTP/1.1\r\nHost: relay\r\n\r\n")
        #expect(try local.receiveHead().hasPrefix("HTTP/1.1 200"), "the operator watches whoever else does")
    }

    @Test("a thousand watchers cost one look a second")
    func oneLook() throws {
        let looks = Atomic<Int>(0)
        let live = LiveLook()
        let start = ContinuousClock.now
        for _ in 0..<1000 {
            _ = try live.overview { last in
                looks.add(1, ordering: .relaxed)
                return Overview(at: Bench.now, revision: (last?.revision ?? 0) + 1)
            }
        }
        let most = 1 + Int((ContinuousClock.now - start).components.seconds)
        #expect(looks.load(ordering: .relaxed) <= most)
    }

    private final class Number: Sendable {
        let value = Atomic<Int64>(0)
    }

    @Test(
        "a look of long ago is not shown while the next one is taken, and one of a moment ago is",
        arguments: [1500, 3500])
    func stale(age: Int64) throws {
        let (clock, found) = (Number(), Number())
        let live = LiveLook { clock.value.load(ordering: .relaxed) }
        @Sendable func look(_ wait: () -> Void = {}) throws -> Int64 {
            try live.overview { last in
                wait()
                return Overview(at: Bench.now, revision: (last?.revision ?? 0) + 1)
            }.revision
        }
        #expect(try look() == 1)
        clock.value.add(age, ordering: .relaxed)
        let answered = DispatchSemaphore(value: 0)
        var thread: NativeThread?
        let next = try look {
            // Another watcher asks while this look is being taken.
            thread = try? NativeThread(name: "watcher") {
                found.value.store((try? look()) ?? 0, ordering: .relaxed)
                answered.signal()
            }
            let isShownAtOnce = answered.wait(timeout: .now() + .milliseconds(300)) == .success
            #expect(isShownAtOnce == (age < LiveLook.stale))
        }
        thread?.join()
        #expect(next == 2)
        #expect(found.value.load(ordering: .relaxed) == (age < LiveLook.stale ? 1 : 2))
    }

    @Test("over HTTP, with a session's cookie too, and ends with its token")
    func live() throws {
        let bench = try Bench()
        #expect(try bench.askNetwork("GET", "/v1/events").status == 401)
        let token = try bench.newToken(.versions)
        #expect(
            try bench.askNetwork("GET", "/v1/events", headers: [("Authorization", "Bearer \(token)")]).status == 403)
        #expect(bench.server.api.watchers.limit == 2048)
    }
}
