// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Terminal
import WireFormat

extension CommandEntry {
    static let nodes = request(
        "nodes",
        request: { _ in APIRequest("GET", ["v1", "nodes"]) },
        text: { nodesTable($1) })

    private static func nodesTable(_ answer: JSONValue) -> String {
        let columns: [TextTable.Column] = [
            .whole("NAME"), .state, "LEADER", "CAMPAIGNS", "REMARKS", .spare("RELEASE", 3), .spare("ADDRESS", 1),
            .time("JOINED").spare(1), .time("LEASE ENDED").spare(2),
        ]
        return answer.table(columns, none: "no relays") { node in
            let campaigns = node.list(.campaigns).compactMap(\.string)
            let remarks = remarks(node)
            return [
                node.shown(.name), node.shown(.state), node[.isLeader]?.bool == true ? "yes" : "-",
                campaigns.isEmpty ? "-" : campaigns.joined(separator: " "),
                remarks.isEmpty ? "-" : remarks.joined(separator: ", "), node.shown(.release),
                node.shown(.address, or: "-"), node.shown(.joinedAt, or: "-"),
                node[.state]?.string == "alive" ? "-" : node.shown(.aliveUntil, or: "-"),
            ]
        }
    }

    private static func remarks(_ node: JSONValue) -> [String] {
        var remarks: [String] = []
        if node[.differs]?.bool == true { remarks.append("configuration differs") }
        let ahead = node.count(.clockAheadMs)
        if ahead.magnitude > NodeRecord.clockTolerance.milliseconds.magnitude {
            // If the database's clock is ahead, the clock of the relay's machine is behind.
            let tenths = ahead.magnitude / 100
            remarks.append("clock \(tenths / 10).\(tenths % 10) s \(ahead > 0 ? "behind" : "ahead")")
        }
        if node[.isThis]?.bool == true { remarks.append("answers this") }
        return remarks
    }
}
