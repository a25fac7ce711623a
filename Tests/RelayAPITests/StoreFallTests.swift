// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayStore
import Testing
import WireFormat

@testable import RelayAPI

@Suite("A store that went back, before anything has noticed it", .ownThread)
struct StoreFallTests {
    @Test("the status says it by a look of its own, and the operator's word is taken")
    func accepted() throws {
        let bench = try Bench()
        let store = bench.store
        var ahead = try store.lookBack()
        let holds = ahead
        (ahead.decision, ahead.sign) = (ahead.decision + 3, "00000000000000ff")
        store.membership.memory.note(ahead)
        #expect(!store.membership.memory.hasFallen, "nothing has looked")
        let body = """
            {"seenMark": \(Self.text(ahead)), "foundMark": \(Self.text(holds))}
            """
        let accepted = try bench.ask("POST", "/v1/store/accept", body)
        #expect(accepted.status == 200, "\(accepted.body)")
        #expect(try bench.ask("GET", "/v1/store").text("wentBack") == nil)
        let now = try store.mark()
        (ahead.identity, ahead.decision) = (now.identity, now.decision + 2)
        store.membership.memory.note(ahead)
        #expect(try bench.ask("GET", "/v1/store").text("wentBack", "seenMark", "sign") == ahead.sign)
        #expect(store.membership.memory.hasFallen)
    }

    private static func text(_ mark: StoreMark) -> String {
        """
        {"identity": "\(mark.identity)", "decision": \(mark.decision), "sign": "\(mark.sign)", "recorded": \(mark.recorded)}
        """
    }
}
