// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Testing

@Suite("A relay that is missing")
struct NodeLossTests {
    private static let start = Timestamp(seconds: 1_800_000_000)

    private static func node(
        _ name: String, _ state: NodeRecord.State, joined: Int64 = 0, aliveUntil: Int64 = 100
    ) -> NodeRecord {
        NodeRecord(
            lease: NodeLease(node: 1, incarnation: 1), description: NodeDescription(name: name, release: "1.0.0"),
            state: state, joinedAt: start + .seconds(joined), aliveUntil: start + .seconds(aliveUntil), leads: false,
            campaigns: [], clockAhead: .zero)
    }

    /// Regression: one of two was killed, and the page showed that nothing is wrong.
    @Test(
        "One that fell silent is missed, until another one has its place",
        arguments: [.lapsed, .fenced] as [NodeRecord.State])
    func lost(_ state: NodeRecord.State) {
        let lost = Self.node("b", state, aliveUntil: 50)
        let words = NodeRecord.loss(among: [Self.node("a", .alive), lost])
        #expect(
            words
                == "not heard of any more: b (since 2027-01-15T08:00:50.000Z). The other relays do its work; 1 relay is left"
        )
        #expect(NodeRecord.loss(among: [Self.node("a", .alive), lost, Self.node("c", .alive, joined: 60)]) == nil)
    }

    @Test("One that was stopped in order is not missed")
    func stopped() {
        #expect(NodeRecord.loss(among: [Self.node("a", .alive), Self.node("b", .stopped, aliveUntil: 50)]) == nil)
        #expect(NodeRecord.loss(among: [Self.node("a", .alive)]) == nil)
    }
}
