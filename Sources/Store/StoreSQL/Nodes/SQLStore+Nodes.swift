// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import WireFormat

extension SQLStore {
    package func join(
        _ description: NodeDescription, for lease: Duration, ended: String?
    ) throws -> (NodeLease, at: Timestamp) {
        try StoreText.check(keys: description.name)
        return try endingSessions {
            try read("looking for the former relay") { try NodeTable.id(of: description.name, $0) }
        } act: {
            try joinAtOnce(description, for: lease, ended: ended)
        }
    }

    /// Runs `act` on a relay whose lease is over. If that relay stopped in the middle of a transaction, for which `act`
    /// waits in vain, ends the relay's sessions and runs `act` again.
    private func endingSessions<Result>(
        of node: () throws -> Int64?, act: () throws -> Result
    ) throws -> Result {
        do {
            return try act()
        } catch let error as StoreError where error.code == .busy {
            if let node = try node() { try endSessions(of: node) }
            return try act()
        }
    }

    private func joinAtOnce(
        _ description: NodeDescription, for lease: Duration, ended: String?
    ) throws -> (NodeLease, at: Timestamp) {
        try keepLease("joining the relays of the store") { connection in
            try NodeTable.refuse(description, unlessEnded: ended, storeClock, connection)
            // Waits up to a second for a transaction that the former relay of this name has open.
            if let former = try NodeTable.id(of: description.name, connection) {
                try NodeTable.exclude(former, connection)
            }
            let (joined, now) = try NodeTable.join(description, for: lease, storeClock, connection)
            try NodeTable.free(joined.node, connection)
            return (joined, now)
        }
    }

    package func beat(
        _ node: NodeLease, for lease: Duration, configuration: String, clockAhead: Duration, figures: String
    ) throws -> Timestamp? {
        try keepLease("saying that this relay is there", isOneStatement: true) { connection in
            try connection.all(
                """
                UPDATE node SET alive_until = \(connection.dialect.now) + ?4, ahead = ?5, configuration = ?6,
                    figures = ?7
                WHERE id = ?2 AND incarnation = ?3 AND gone_at IS NULL RETURNING alive_until - ?4
                """, storeClock, node.node, node.incarnation, lease.milliseconds, clockAhead.milliseconds,
                configuration, figures
            ) { $0.time() }.first
        }
    }

    package func lookAtFleet() throws -> FleetLook {
        try keepLease("looking at the other relays", isOneStatement: true) { connection in
            var look = FleetLook()
            try connection.each(
                """
                SELECT node, 0, '' FROM leader UNION ALL
                SELECT count(DISTINCT configuration), -1, '' FROM node WHERE gone_at IS NULL UNION ALL
                SELECT \(connection.dialect.oldestStep), -2, '' UNION ALL
                SELECT id, incarnation, name FROM node WHERE gone_at IS NULL AND alive_until < \(connection.dialect.now)
                """, storeClock
            ) { row in
                let (number, kind, name) = (row.integer(), row.integer(), row.text())
                switch kind {
                case 0: look.leader = number
                case -1: look.configurations = Int(number)
                case -2: look.isOutdated = number > newestStep
                case let incarnation: look.lapsed[NodeLease(node: number, incarnation: incarnation)] = name
                }
            }
            return look
        }
    }

    package func fence(_ node: NodeLease) throws -> Bool {
        try endingSessions {
            node.node
        } act: {
            try fenceAtOnce(node)
        }
    }

    private func fenceAtOnce(_ node: NodeLease) throws -> Bool {
        try keepLease("giving up another relay") { connection in
            try NodeTable.exclude(node.node, connection)
            let isFenced = try connection.run(
                """
                UPDATE node SET gone_at = \(connection.dialect.now), gone = 'fenced'
                WHERE id = ?2 AND incarnation = ?3 AND gone_at IS NULL AND alive_until < \(connection.dialect.now)
                """, storeClock, node.node, node.incarnation)
            guard isFenced == 1 else { return false }
            try NodeTable.free(node.node, connection)
            return true
        }
    }

    package func lead(_ node: NodeLease) throws -> Bool {
        try keepLease("taking over what one relay does for all") { connection in
            try connection.run(
                """
                INSERT INTO leader (id, node) SELECT 1, id FROM node
                    WHERE id = ?1 AND incarnation = ?2 AND gone_at IS NULL
                ON CONFLICT (id) DO NOTHING
                """, node.node, node.incarnation)
            return try connection.integer("SELECT node FROM leader") == node.node
        }
    }

    package func leave(_ node: NodeLease) throws {
        try keepLease("leaving the relays of the store") { connection in
            let isThere = try connection.run(
                """
                UPDATE node SET gone_at = \(connection.dialect.now), gone = 'stopped'
                WHERE id = ?2 AND incarnation = ?3 AND gone_at IS NULL
                """, storeClock, node.node, node.incarnation)
            if isThere == 1 { try NodeTable.free(node.node, connection) }
        }
    }

    package func nodes() throws -> [NodeRecord] {
        try read("listing the relays") { connection in
            let leader = try connection.integer("SELECT node FROM leader")
            var campaigns: [Int64: [String]] = [:]
            try connection.each(
                """
                SELECT n.owner, c.public_id FROM campaign_run AS n JOIN campaign AS c ON c.id = n.campaign_id
                WHERE n.owner IS NOT NULL ORDER BY c.id
                """
            ) { campaigns[$0.integer(), default: []].append($0.text()) }
            return try connection.all(
                """
                SELECT id, incarnation, name, release, address, configuration, host, process, gone,
                    CASE WHEN alive_until < \(connection.dialect.now) THEN 1 ELSE 0 END, joined_at, alive_until, ahead
                FROM node ORDER BY id
                """, storeClock
            ) { row in
                let lease = NodeLease(node: row.integer(), incarnation: row.integer())
                var description = NodeDescription(
                    name: row.text(), release: row.text(), address: row.text(), configuration: row.text())
                (description.host, description.process) = (row.text(), row.text())
                let (end, hasLapsed) = (row.optionalText().flatMap(NodeRecord.State.init), row.bool())
                return NodeRecord(
                    lease: lease, description: description, state: end ?? (hasLapsed ? .lapsed : .alive),
                    joinedAt: row.time(), aliveUntil: row.time(), leads: leader == lease.node,
                    campaigns: campaigns[lease.node] ?? [], clockAhead: .milliseconds(row.integer()))
            }
        }
    }

    package func publishedFigures(of campaign: CampaignKey) throws -> String? {
        try readOnce("asking for what another relay sends") { connection in
            try connection.first(
                "SELECT o.figures FROM campaign_run AS n JOIN node AS o ON o.id = n.owner WHERE n.campaign_id = ?",
                campaign.row
            ) { $0.text() }
        }
    }

    package func quotaPauses(of project: String) throws -> [String: ProjectQuota.KnownPause] {
        let text = try readOnce("reading a project's pauses") { connection in
            try connection.first("SELECT pauses FROM project WHERE name = ?", project) { $0.optionalText() }
        }
        guard let text = text ?? nil, case .object(let members)? = try? JSONReader.read(Array(text.utf8)) else {
            return [:]
        }
        var pauses: [String: ProjectQuota.KnownPause] = [:]
        for member in members {
            guard let until = member.value["until"]?.integer, let setbacks = member.value["setbacks"]?.integer else {
                continue
            }
            pauses[member.name] = ProjectQuota.KnownPause(
                until: Timestamp(milliseconds: until), setbacks: Int(setbacks))
        }
        return pauses
    }

    package func keepQuotaPauses(of project: String, _ pauses: [String: ProjectQuota.KnownPause]) throws {
        let value = JSONValue.object(
            pauses.sorted { $0.key < $1.key }.map { service, pause in
                let known: JSONValue = [
                    "until": .integer(pause.until.milliseconds), "setbacks": .integer(pause.setbacks),
                ]
                return JSONMember(name: service, value: known)
            })
        let node = membership.node
        try write("keeping a project's pauses", lock: .rows) { connection in
            _ = try connection.run(
                "UPDATE project SET pauses = ? WHERE name = ? AND owner = ?",
                String(decoding: value.bytes(), as: UTF8.self), project, node)
        }
    }

    package func campaignsOfOthers() throws -> Set<CampaignKey> {
        try readOnce("looking for campaigns that other relays send") { connection in
            Set(
                try connection.all(
                    "SELECT campaign_id FROM campaign_run WHERE owner IS NOT NULL AND owner <> ?", membership.node
                ) { CampaignKey(row: $0.integer()) })
        }
    }

    package func forgetNodes(goneBefore time: Timestamp) throws {
        try write("forgetting relays that are gone", lock: .rows) { connection in
            _ = try connection.run("DELETE FROM node WHERE gone_at < ?", time)
        }
    }
}

/// The tables `node`, `leader` and `project`.
package enum NodeTable {
    /// - Throws: `StoreError`, `.fenced`, where other relays have taken over from this one.
    package static func hold(_ node: NodeLease, _ connection: some SQLConnection) throws {
        let isThere = try connection.exists(
            "SELECT 1 FROM node WHERE id = ? AND incarnation = ? AND gone_at IS NULL", node.node, node.incarnation)
        guard !isThere else { return }
        throw StoreError(
            .fenced, context: "another relay has what this one had", hint: "This one joins the others again by itself")
    }

    static func id(of name: String, _ connection: some SQLConnection) throws -> Int64? {
        try connection.integer("SELECT id FROM node WHERE name = ?", name)
    }

    /// - Throws: `StoreError`, `.nameInUse`, where another process has the name and is not known to be gone.
    static func refuse(
        _ description: NodeDescription, unlessEnded ended: String?, _ clock: Timestamp?,
        _ connection: some SQLConnection
    ) throws {
        let other = try connection.first(
            """
            SELECT host, process, joined_at FROM node
            WHERE name = ?2 AND gone_at IS NULL AND alive_until >= \(connection.dialect.now) AND process <> ''
            """, clock, description.name
        ) { (host: $0.text(), process: $0.text(), since: $0.time()) }
        guard let other, other.process != description.process, other.process != ended else { return }
        throw StoreError(
            .nameInUse,
            context:
                "another relay is called \"\(description.name)\": it runs on \(other.host) and has worked on this store since "
                + other.since.internetSeconds,
            hint: "Give each relay a name of its own (store.postgres.node), or stop the other one")
    }

    static func join(
        _ description: NodeDescription, for lease: Duration, _ clock: Timestamp?, _ connection: some SQLConnection
    ) throws -> (NodeLease, at: Timestamp) {
        let joined = try connection.all(
            """
            INSERT INTO node (name, incarnation, release, address, configuration, joined_at, alive_until, host, process)
            VALUES (?2, 1, ?3, ?4, ?5, \(connection.dialect.now), \(connection.dialect.now) + ?6, ?7, ?8)
            ON CONFLICT (name) DO UPDATE SET incarnation = node.incarnation + 1, release = excluded.release,
                address = excluded.address, configuration = excluded.configuration, joined_at = excluded.joined_at,
                alive_until = excluded.alive_until, gone_at = NULL, gone = NULL, host = excluded.host,
                process = excluded.process
            RETURNING id, incarnation, joined_at
            """, clock, description.name, description.release, description.address, description.configuration,
            lease.milliseconds, description.host, description.process
        ) { (NodeLease(node: $0.integer(), incarnation: $0.integer()), at: $0.time()) }
        guard let joined = joined.first else { preconditionFailure("an upsert without a row") }
        return joined
    }

    /// Keeps the relay from writing until the end of the transaction; waits up to a second for writes that it has begun.
    static func exclude(_ node: Int64, _ connection: some SQLConnection) throws {
        guard connection.dialect == .postgres else { return }
        try connection.run("SELECT exclude_node(?)", node)
    }

    /// Releases everything that the relay had.
    static func free(_ node: Int64, _ connection: some SQLConnection) throws {
        try connection.run("DELETE FROM leader WHERE node = ?", node)
        try connection.run("UPDATE project SET owner = NULL WHERE owner = ?", node)
        try connection.run("UPDATE campaign_run SET owner = NULL, epoch = epoch + 1 WHERE owner = ?", node)
    }

    /// Takes over sending for a project; false where another relay does.
    static func claim(_ project: String, for node: Int64, _ connection: some SQLConnection) throws -> Bool {
        let owner = try connection.all(
            """
            INSERT INTO project (name, owner) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET owner = ?2 WHERE project.owner IS NULL OR project.owner = ?2
            RETURNING owner
            """, project, node
        ) { $0.integer() }
        return !owner.isEmpty
    }

    /// Releases the projects of a relay that no longer runs a campaign for them.
    static func releaseProjects(of node: Int64, _ connection: some SQLConnection) throws {
        try connection.run(
            """
            UPDATE project SET owner = NULL WHERE owner = ?1 AND NOT EXISTS (
                SELECT 1 FROM campaign_run AS n WHERE n.owner = ?1 AND n.project = project.name)
            """, node)
    }
}
