// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import RelayAPI

@Suite("Streams")
struct StreamTests {
    @Test("an event each second while it moves, and at every state change")
    func pacing() {
        var pacing = EventPacing()
        let a: [UInt8] = [1]
        let b: [UInt8] = [2]
        #expect(pacing.step(state: .running, inFlight: 3, body: a, at: 5000) == .send(isLast: false))
        #expect(pacing.step(state: .running, inFlight: 3, body: b, at: 5200) == .wait)
        #expect(pacing.step(state: .running, inFlight: 3, body: b, at: 6000) == .send(isLast: false))
        #expect(pacing.step(state: .running, inFlight: 3, body: b, at: 7000) == .send(isLast: false))
        #expect(pacing.step(state: .paused, inFlight: 3, body: b, at: 7001) == .send(isLast: false))
        // It stands still: only a keep-alive is sent.
        #expect(pacing.step(state: .paused, inFlight: 3, body: b, at: 9000) == .wait)
        #expect(pacing.step(state: .paused, inFlight: 3, body: b, at: 22_001) == .keepAlive)
        #expect(pacing.step(state: .paused, inFlight: 3, body: b, at: 22_200) == .wait)
        // A push in flight is still answered.
        #expect(pacing.step(state: .paused, inFlight: 3, body: a, at: 23_001) == .send(isLast: false))
        // Over, but for the pushes in flight.
        #expect(pacing.step(state: .superseded, inFlight: 3, body: a, at: 23_002) == .send(isLast: false))
        #expect(pacing.step(state: .superseded, inFlight: 3, body: a, at: 23_200) == .wait)
        #expect(pacing.step(state: .superseded, inFlight: 0, body: b, at: 23_400) == .send(isLast: true))
    }

    @Test("slots are given back")
    func slots() {
        let slots = Slots(limit: 1)
        var slot = slots.take()
        #expect(slot != nil)
        #expect(slots.take() == nil)
        slot = nil
        #expect(slots.take() != nil)
    }

    @Test("nobody takes the slots of all")
    func slotsOfEach() {
        let slots = Slots(limit: 3, each: 2)
        let mine = [slots.take(for: "a"), slots.take(for: "a"), slots.take(for: "a")]
        #expect(mine.map { $0 != nil } == [true, true, false])
        let other = slots.take(for: "b")
        #expect(other != nil && slots.take(for: "b") == nil, "three in all")
        withExtendedLifetime(mine) {}
    }

    @Test("however few take all that they can get, who comes later gets some, too")
    func slotsForOthers() {
        let slots = Slots(limit: 2048, each: 1024, leavesRoom: true)
        var held: [Slots.Slot] = []
        func takeAll(_ keys: String...) -> Int {
            let before = held.count
            while let slot = slots.take(for: keys) { held.append(slot) }
            return held.count - before
        }
        #expect(takeAll("by a", "of app") == 1024)
        #expect(takeAll("by b", "of app") == 0, "a team gets no more by a second token")
        #expect(takeAll("by c", "of other") == 512)
        #expect(takeAll("by d") == 256)
        #expect(takeAll("by e") == 128)
        held.removeFirst(1024)
        #expect(takeAll("by b", "of app") > 500, "what is given back is there again")
    }

    @Test("a stream ends within a second of its token")
    func tokenBound() throws {
        final class Endless: ByteSource {
            func next() -> BodyPiece { .bytes([1]) }
        }
        final class Counting: BodyConsumer {
            var bytes = 0
            func consume(_ bytes: [UInt8]) { self.bytes += bytes.count }
            func finish() -> Response { .noContent }
        }
        nonisolated(unsafe) var now: Int64 = 0
        nonisolated(unsafe) var isGood = true
        func watch() -> TokenWatch { TokenWatch(clock: { now }, isGood: { isGood }) }
        let source = TokenBoundSource(Endless(), watch())
        let counting = Counting()
        nonisolated(unsafe) var noted: [Int] = []
        let consumer = TokenBoundConsumer(
            counting, watch(), explain: { ProblemDetails.of($0).response }, note: { noted.append($0.status) })
        #expect(try source.next() == .bytes([1]))
        consumer.consume([1, 2])
        (now, isGood) = (1000, false)
        #expect(throws: ProblemDetails.self) { try source.next() }
        consumer.consume([3])
        now = 5000
        consumer.consume([4])
        #expect(counting.bytes == 2)
        #expect(consumer.finish().status == 401)
        #expect(noted == [401])
    }

    // MARK: Device lines

    static let ios = AppKey(app: "com.example.app", platform: .ios)
    static let android = AppKey(app: "com.example.app", platform: .android)

    @Test("a whole line, and the least of a line")
    func goodLines() throws {
        func read(_ text: String, _ app: AppKey) throws -> DeviceChange {
            try DeviceFields.readLine(Array(text.utf8), in: 0..<text.utf8.count, app: app)
        }
        #expect(
            try read(
                #"{"app":"com.example.app","platform":"ios","token":"AB","telephone":"1","version":"1.9","#
                    + #""environment":"sandbox"}"#, Self.ios)
                == DeviceChange(
                    token: "ab", telephone: .set("1"), version: .set(try Version("1.9")), environment: .set(.sandbox)))
        #expect(
            try read(#"{"token":"a:B_c","telephone":null}"#, Self.android)
                == DeviceChange(token: "a:B_c", telephone: .set(nil)))
    }

    @Test(
        "what is wrong with a line",
        arguments: [
            (#"{"token":"xy"}"#, "token: only hex digits are allowed; position 1 holds another"),
            (#"{"token":"a"}"#, "token: 2 to 400 hex digits are needed; it had 1 characters"),
            (#"{}"#, "token: is missing; a string is needed, such as \"80012ab4…\""),
            (
                #"{"token":"ab","telephone":13800138000}"#,
                "telephone: a string is needed, such as \"13800138000\"; got the number 13800138000"
            ),
            (#"{"token":"ab","telephone":""}"#, "telephone: must not be empty"),
            (
                #"{"token":"ab","environment":"test"}"#,
                "environment: \"production\" or \"sandbox\" is needed; got \"test\""
            ),
            (
                #"{"token":"ab","platform":"android"}"#,
                "platform: must be \"ios\", as in the path; got \"android\""
            ),
            (#"{"token":"ab""#, "not JSON, at byte 14: a comma or a closing brace is needed"),
        ])
    func badLines(text: String, reason: String) {
        do throws(BodyError) {
            _ = try DeviceFields.readLine(Array(text.utf8), in: 0..<text.utf8.count, app: Self.ios)
            Issue.record("taken")
        } catch {
            #expect(error.description == reason)
        }
    }
}
