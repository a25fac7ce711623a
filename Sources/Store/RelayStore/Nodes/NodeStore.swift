// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
import WireFormat

/// The place of one relay among those that work on a store.
package struct NodeLease: Hashable, Sendable {
    package var node: Int64
    /// Rises by one each time that the relay takes its place.
    package var incarnation: Int64

    package init(node: Int64, incarnation: Int64) {
        (self.node, self.incarnation) = (node, incarnation)
    }
}

/// A relay's description of itself.
package struct NodeDescription: Hashable, Sendable {
    /// Unique among all relays: a second one of the same name can join only after the first has gone.
    package var name: String
    /// As `--version` prints it.
    package var release: String
    /// Where it listens, as its own machine calls it.
    package var address: String
    /// A hash, in hex, of the part of its configuration that apps see. An operator is warned where two relays differ.
    package var configuration: String
    /// The machine that it runs on, for people.
    package var host = ""
    /// The process, unique among those of all machines; empty: unknown, and any relay of the same name may take its place.
    package var process = ""

    package init(name: String, release: String, address: String = "", configuration: String = "") {
        (self.name, self.release, self.address, self.configuration) = (name, release, address, configuration)
    }
}

/// A relay as the other relays know it.
package struct NodeRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case alive
        /// Its last heartbeat is older than its lease: it will be fenced soon.
        case lapsed
        /// It was given up: other relays have its work now.
        case fenced
        /// It was shut down cleanly.
        case stopped
    }

    /// An operator is warned of a clock that is further off than this.
    package static let clockTolerance = Duration.seconds(2)

    package var lease: NodeLease
    package var description: NodeDescription
    package var state: State
    /// When it took its place.
    package var joinedAt: Timestamp
    /// When its last heartbeat runs out, by the store's clock.
    package var aliveUntil: Timestamp
    /// Whether it has the duties that one relay carries out for the whole fleet.
    package var leads: Bool
    /// The public ids of the campaigns that it sends, oldest first.
    package var campaigns: [String]
    /// How far the store's clock was ahead of its own.
    package var clockAhead: Duration

    package init(
        lease: NodeLease, description: NodeDescription, state: State, joinedAt: Timestamp, aliveUntil: Timestamp,
        leads: Bool, campaigns: [String], clockAhead: Duration
    ) {
        (self.lease, self.description, self.state) = (lease, description, state)
        (self.joinedAt, self.aliveUntil, self.leads) = (joinedAt, aliveUntil, leads)
        (self.campaigns, self.clockAhead) = (campaigns, clockAhead)
    }
}

extension NodeRecord {
    /// The relays that fell silent and were not replaced by a relay that joined later. A relay that was shut down cleanly is
    /// not missing.
    package static func lost(among nodes: [NodeRecord]) -> [NodeRecord] {
        let alive = nodes.filter { $0.state == .alive }
        return nodes.filter { node in
            (node.state == .lapsed || node.state == .fenced) && !alive.contains { $0.joinedAt > node.aliveUntil }
        }
    }

    /// Those relays in words; nil: none is missing.
    package static func loss(among nodes: [NodeRecord]) -> String? {
        let (lost, left) = (Self.lost(among: nodes), nodes.count { $0.state == .alive })
        guard !lost.isEmpty else { return nil }
        let names = lost.map { "\($0.description.name) (since \($0.aliveUntil.internetTime))" }
        return "not heard of any more: \(names.joined(separator: ", ")). The other relays do its work; \(left) "
            + (left == 1 ? "relay is left" : "relays are left")
    }
}

/// A campaign that runs and that no relay sends.
package struct UnclaimedCampaign: Hashable, Sendable {
    /// Its public id.
    package var id: String
    package var app: AppKey

    package init(id: String, app: AppKey) { (self.id, self.app) = (id, app) }
}

/// The results of a look at the other relays.
package struct FleetLook: Hashable, Sendable {
    /// The relays whose lease has run out, with their names.
    package var lapsed: [NodeLease: String] = [:]
    /// The relay that has the duties that one relay carries out for the whole fleet; nil: none has.
    package var leader: Int64?
    /// The number of different configurations among the relays that have their place.
    package var configurations = 1
    /// Whether a newer release has changed the store since it was opened: this relay must not work on it any more.
    package var isOutdated = false

    package init() {}
}

/// The relays that work on a store at the same time, and the work of each. Leases are measured by the store's clock.
package protocol NodeStore: Sendable {
    /// This relay's rights; always the same object.
    var membership: Membership { get }

    /// Takes the place of that name. From then on, an older incarnation of that relay can write nothing, and its work
    /// is free.
    ///
    /// - Parameters:
    ///   - lease: how long it holds without a heartbeat.
    ///   - ended: a process that is known to have ended, so that its lease is over.
    /// - Returns: the place, and the time by the store's clock.
    /// - Throws: `StoreError`, `.nameInUse`, where another process has the place and its lease is not over.
    func join(_ description: NodeDescription, for lease: Duration, ended: String?) throws -> (NodeLease, at: Timestamp)

    /// - Parameters:
    ///   - configuration: as in `NodeDescription`; it may have been reloaded.
    ///   - clockAhead: how far the store's clock was ahead of this machine's.
    ///   - figures: the figures of the campaigns that it sends, for the other relays.
    /// - Returns: the time by the store's clock; nil where it was fenced.
    func beat(
        _ node: NodeLease, for lease: Duration, configuration: String, clockAhead: Duration, figures: String
    ) throws -> Timestamp?

    /// The figures that the campaign's owner published with its last heartbeat; nil: no relay of a fleet sends it.
    func publishedFigures(of campaign: CampaignKey) throws -> String?

    func lookAtFleet() throws -> FleetLook

    /// Gives up a relay whose lease has run out: from then on it writes nothing, and its work is free. A transaction
    /// that it has open gets a second to end; then its sessions are closed.
    ///
    /// - Returns: false where its lease was prolonged, or another relay gave it up first.
    func fence(_ node: NodeLease) throws -> Bool

    /// Takes over the duties that one relay carries out for the whole fleet; false where another relay has them.
    func lead(_ node: NodeLease) throws -> Bool

    /// Gives back all of the relay's work.
    func leave(_ node: NodeLease) throws

    /// Oldest first.
    func nodes() throws -> [NodeRecord]

    /// The open campaigns that another relay sends.
    func campaignsOfOthers() throws -> Set<CampaignKey>

    /// The campaigns that run and that no relay has taken over, oldest first.
    func unclaimedCampaigns() throws -> [UnclaimedCampaign]

    /// The quota pauses of a project by service, as its sending relay knows them, for the relay that sends next.
    func quotaPauses(of project: String) throws -> [String: ProjectQuota.KnownPause]

    /// Replaces the stored pauses. Does nothing where another relay sends for the project.
    func keepQuotaPauses(of project: String, _ pauses: [String: ProjectQuota.KnownPause]) throws

    /// Blocks until there is news of a change, until `deadline` at most. Returns at once where news may have been missed.
    func awaitNews(until deadline: MonotonicTime) throws -> FleetHints

    /// Notifies every relay, this one too. A relay that is alone gets nothing.
    func send(_ wish: FleetRequest) throws

    /// Forgets relays that have been gone since before `time`.
    func forgetNodes(goneBefore time: Timestamp) throws
}

extension NodeStore {
    /// Joins without knowledge of a process that has ended.
    package func join(_ description: NodeDescription, for lease: Duration) throws -> (NodeLease, at: Timestamp) {
        try join(description, for: lease, ended: nil)
    }
}
