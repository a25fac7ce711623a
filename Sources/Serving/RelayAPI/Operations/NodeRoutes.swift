// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayEngine
package import RelayStore
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
    /// It is the one that answers.
    package var isThis: Bool
    /// Its configuration differs from the leader's, and it is at work.
    package var differs: Bool
}

extension API {
    func nodes(_ caller: Caller) throws -> Response {
        let nodes = try nodeStatuses(for: caller)
        let isAlone = store.membership.isAlone
        return .json { $0.page(nodes, next: nil) { $0.node($1, isAlone: isAlone) } }
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
            // By the name: a relay that was just given up has no lease.
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

extension JSONWriter {
    fileprivate mutating func node(_ node: NodeStatus, isAlone: Bool) {
        let record = node.record
        object([
            .name: record.description.name, .state: record.state.rawValue, .isLeader: record.leads,
            .isThis: node.isThis, .release: record.description.release, .address: record.description.address,
            .host: record.description.host,
            .joinedAt: record.joinedAt,
            // A relay that is alone has no lease that could end.
            .aliveUntil: isAlone ? nil : record.aliveUntil, .clockAheadMs: record.clockAhead.milliseconds,
            .configuration: record.description.configuration, .differs: node.differs, .campaigns: record.campaigns,
        ])
    }
}
