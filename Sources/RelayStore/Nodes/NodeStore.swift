// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// The place of one relay among those that work on a store.
package struct NodeLease: Hashable, Sendable {
    package var node: Int64
    /// One more with each time that it took its place.
    package var incarnation: Int64

    package init(node: Int64, incarnation: Int64) {
        (self.node, self.incarnation) = (node, incarnation)
    }
}

/// What a relay says of itself.
package struct NodeDescription: Hashable, Sendable {
    /// Its own among all of them: two of one name are one after the other.
    package var name: String
    /// As `--version` prints it.
    package var release: String
    /// Where it listens, as its own machine calls it.
    package var address: String
    /// Of what its configuration says to apps, in hex: of two that differ an operator is told.
    package var configuration: String
    /// The machine that it runs on, for people.
    package var host = ""
    /// Which process it is, among all of all machines; empty: it does not say, and its place is anybody's who has its name.
    package var process = ""

    package init(name: String, release: String, address: String = "", configuration: String = "") {
        (self.name, self.release, self.address, self.configuration) = (name, release, address, configuration)
    }
}

/// A relay as the others know it.
package struct NodeRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case alive
        /// It has not been heard of for longer than its lease: it is fenced in a moment.
        case lapsed
        /// It was given up: what it had is others' by now.
        case fenced
        /// It was stopped in order.
        case stopped
    }

    /// A clock that is further off than this is worth a word to an operator.
    package static let clockTolerance = Duration.seconds(2)

    package var lease: NodeLease
    package var description: NodeDescription
    package var state: State
    /// When it took its place.
    package var joinedAt: Timestamp
    /// Until when its last heartbeat held, by the store's clock.
    package var aliveUntil: Timestamp
    /// Whether it has the duties that one relay does for all.
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
    /// The relays that fell silent and whose place no other one has taken since, in words; nil: none is missing. One that was stopped in
    /// order is not missed.
    package static func loss(among nodes: [NodeRecord]) -> String? {
        let alive = nodes.filter { $0.state == .alive }
        let lost = nodes.filter { node in
            (node.state == .lapsed || node.state == .fenced) && !alive.contains { $0.joinedAt > node.aliveUntil }
        }
        guard !lost.isEmpty else { return nil }
        let names = lost.map { "\($0.description.name) (since \($0.aliveUntil.internetTime))" }
        return "not heard of any more: \(names.joined(separator: ", ")). What it had, the others do; \(alive.count) "
            + (alive.count == 1 ? "relay is left" : "relays are left")
    }
}

/// A campaign that runs and that nobody sends.
package struct UnclaimedCampaign: Hashable, Sendable {
    /// As people know it.
    package var id: String
    package var app: AppKey

    package init(id: String, app: AppKey) { (self.id, self.app) = (id, app) }
}

/// What a look at the other relays finds.
package struct FleetLook: Hashable, Sendable {
    /// Whose lease has run out, and what they are called.
    package var lapsed: [NodeLease: String] = [:]
    /// Who has the duties.
    package var leader: Int64?
    /// How many different ones there are among those that have their place.
    package var configurations = 1
    /// A newer release has changed the store since it was opened, and this one must not work on it any more.
    package var isOutdated = false

    package init() {}
}

/// The relays that work on a store at a time, and what each of them has. Leases count by the store's clock.
package protocol NodeStore: Sendable {
    /// What this relay may do; it is the same one always.
    var membership: Membership { get }

    /// Takes the place of that name. What an older incarnation of it had is free from now on, and it writes nothing any more.
    ///
    /// - Parameters:
    ///   - lease: how long it holds without a heartbeat.
    ///   - ended: a process that is known to have ended: its lease is over.
    /// - Returns: the place, and the time by the store's clock.
    /// - Throws: `StoreError`, `.nameInUse`, where another process has the place and its lease is not over.
    func join(_ description: NodeDescription, for lease: Duration, ended: String?) throws -> (NodeLease, at: Timestamp)

    /// - Parameters:
    ///   - configuration: as in `NodeDescription`: it may have been read anew.
    ///   - clockAhead: how far the store's clock was ahead of this machine's.
    ///   - figures: what the others may know of the campaigns that it sends.
    /// - Returns: the time by the store's clock; nil where it was fenced.
    func beat(
        _ node: NodeLease, for lease: Duration, configuration: String, clockAhead: Duration, figures: String
    ) throws -> Timestamp?

    /// What the owner of a campaign has told of those that it sends, with its last heartbeat; nil: nobody sends it.
    func publishedFigures(of campaign: CampaignKey) throws -> String?

    func lookAtFleet() throws -> FleetLook

    /// Gives a relay up whose lease has run out: from then on it writes nothing, and what it had is free. What it has just begun to write
    /// is waited for, for a second; then its sessions are ended.
    ///
    /// - Returns: false where its lease was prolonged meanwhile, or somebody else was first.
    func fence(_ node: NodeLease) throws -> Bool

    /// Takes over the duties that one relay does for all; false where another one has them.
    func lead(_ node: NodeLease) throws -> Bool

    /// Gives back all that it has.
    func leave(_ node: NodeLease) throws

    /// Oldest first.
    func nodes() throws -> [NodeRecord]

    /// The open campaigns that another relay sends.
    func campaignsOfOthers() throws -> Set<CampaignKey>

    /// The campaigns that run and that nobody has taken over, oldest first.
    func unclaimedCampaigns() throws -> [UnclaimedCampaign]

    /// What the relay that sends for a project was told of its quota, by service, for who follows it.
    func quotaPauses(of project: String) throws -> [String: ProjectQuota.KnownPause]

    /// In the place of those before. Does nothing where another relay sends for the project.
    func keepQuotaPauses(of project: String, _ pauses: [String: ProjectQuota.KnownPause]) throws

    /// Blocks until somebody tells of a change, until `deadline` at most, or at once where it must be taken that somebody did.
    func awaitNews(until deadline: MonotonicTime) throws -> FleetNews

    /// Every relay hears it, this one too; one that is alone does not.
    func tell(_ wish: FleetWish) throws

    /// Forgets those that have been gone since before `time`.
    func forgetNodes(goneBefore time: Timestamp) throws
}

extension NodeStore {
    /// Of whose place nothing is known but what the store says.
    package func join(_ description: NodeDescription, for lease: Duration) throws -> (NodeLease, at: Timestamp) {
        try join(description, for: lease, ended: nil)
    }
}
