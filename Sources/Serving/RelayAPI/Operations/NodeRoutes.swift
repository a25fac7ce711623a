// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayEngine
package import RelayStore
import Requirements
import WireFormat

/// The running process's description of itself: a relay that is alone with its store has no row there.
package struct OwnNode: Hashable, Sendable {
    package var description: NodeDescription
    package var startedAt: Timestamp

    package init(_ description: NodeDescription, startedAt: Timestamp) {
        (self.description, self.startedAt) = (description, startedAt)
    }
}

/// A relay of this store, as a caller of any of its relays may see it.
package struct NodeStatus: Sendable {
    package var record: NodeRecord
    /// Whether this relay answers the request.
    package var isThis: Bool
    /// Whether it is at work with another configuration than the leader's.
    package var differs: Bool
}

extension API {
    func nodes(_ caller: Caller) throws -> Response {
        let nodes = try nodeStatuses(for: caller)
        let isAlone = store.membership.isAlone
        return .json {
            $0.page(nodes.map { (node: $0, isAlone: isAlone) }, next: nil) { $0.object($1, NodeStatus.shape) }
        }
    }

    /// The relays of the store; a relay that is alone returns itself.
    package func nodeStatuses(for caller: Caller) throws -> [NodeStatus] {
        let own = control.node
        if store.membership.isAlone {
            let running = try store.openCampaigns().filter { $0.state == .running && caller.maySee($0.app) }
            let record = NodeRecord(
                lease: NodeLease(node: 0, incarnation: 0), description: own.description, state: .alive,
                joinedAt: own.startedAt, aliveUntil: now(), leads: true, campaigns: running.map(\.id),
                clockAhead: .zero)
            return [NodeStatus(record: record, isThis: true, differs: false)]
        }
        let records = try store.nodes()
        let leading = records.first(where: \.leads)?.description.configuration
        return try records.map { record in
            var record = record
            if caller.apps != nil {
                record.campaigns = try record.campaigns.filter { id in
                    try store.campaign(id: id).map { caller.maySee($0.app) } ?? false
                }
            }
            // Compared by name: a relay that was just given up has no lease.
            return NodeStatus(
                record: record, isThis: record.description.name == own.description.name,
                differs: record.isAtWork && leading != nil && record.description.configuration != leading)
        }
    }
}

extension NodeRecord {
    /// Neither stopped nor given up.
    package var isAtWork: Bool { state == .alive || state == .lapsed }
}

extension NodeStatus {
    static let shape = Shape<(node: NodeStatus, isAlone: Bool)>(
        "Node", nil,
        [
            .member(.name, .text, "store.node of its configuration, else its machine's name.") {
                $0.node.record.description.name
            },
            .member(
                .state, .words(NodeRecord.State.self),
                "lapsed: its lease is over, and the other relays give it up in a moment. fenced: they gave it up, and send its campaigns. stopped: it ended in order."
            ) { $0.node.record.state.rawValue },
            .member(
                .isLeader, .flag,
                "Whether it has the tasks of one relay for all: questions to app stores, gates, reminders, adoption, webhooks out, pruning."
            ) { $0.node.record.leads },
            .member(.isThis, .flag, "Whether it is the one that answers.") { $0.node.isThis },
            .member(.release, .text) { $0.node.record.description.release },
            .member(.address, .text, "Its listening address, from its configuration.") {
                $0.node.record.description.address
            },
            .member(.host, .text, "The machine that it runs on; empty: a release that does not report it.") {
                $0.node.record.description.host
            },
            .member(.joinedAt, .anyInstant, "The time when it took its place.") { $0.node.record.joinedAt },
            // A relay that is alone has no lease that could end.
            .nullable(
                .aliveUntil, .anyInstant,
                "The end of its lease by the store's clock, unless it is prolonged before; null: the relay is alone."
            ) { $0.isAlone ? nil : $0.node.record.aliveUntil },
            .member(
                .clockAheadMs, .integer,
                "Milliseconds that the store's clock is ahead of the relay's machine; below 0: behind."
            ) { $0.node.record.clockAhead.milliseconds },
            .member(
                .configuration, .text,
                "A digest of the settings that the relays of one store should have in common: apps, webhooks, enforce, notify."
            ) { $0.node.record.description.configuration },
            .member(.differs, .flag, "Whether it runs with another configuration than the leader.") { $0.node.differs },
            .member(.campaigns, .list(of: .text), "The ids of the campaigns that it sends, oldest first.") {
                $0.node.record.campaigns
            },
        ])
}
