// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import TestStores

/// The rules that must hold among several relays.
extension FleetWorld {
    /// Every promise, with its text.
    package static let promises: [(rule: String, says: String)] = [
        ("fleet.owner", "who sends a push is the campaign's owner at that moment"),
        ("fleet.fenced", "nothing is recorded of a campaign by a relay that does not own it"),
        ("fleet.settled", "a push whose outcome is recorded does not go out again"),
        ("fleet.leader", "at no moment two relays do what one does for all"),
        ("fleet.project", "campaigns on one quota are sent by one relay"),
        ("fleet.late", "a campaign whose owner is gone has another within 10 s, where a relay is well"),
        ("fleet.told", "in the end each of the audience was told, and the ledger says so"),
        ("fleet.ends", "when all trouble has ended, so does every campaign"),
        ("store.check", "the store is sound"),
    ]

    /// A push leaves a relay; the service takes it.
    func leaves(_ push: SeenPush, from number: Int) {
        taken[push.id, default: 0] += 1
        told[push.campaign, default: []].insert(push.token)
        guard let relay = relays[number] else { return }
        guard
            let row = ask(
                """
                SELECT c.id, n.owner, o.id, o.incarnation FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id
                LEFT JOIN node AS o ON o.name = 'relay-\(number)' WHERE c.public_id = '\(push.campaign)'
                """
            ).first
        else { return broke("fleet.owner", "push \(push.id) is of no campaign") }
        let incarnation = relay.store.membership.lease.map { String($0.incarnation) }
        if row[1] != row[2] || row[3] != incarnation {
            return broke(
                "fleet.owner",
                "relay-\(number) (incarnation \(incarnation ?? "none") of \(row[3])) sends \(push.campaign), which is "
                    + (row[1].isEmpty ? "nobody's" : "node \(row[1])'s"))
        }
        guard let device = push.device else { return }
        let cursor = ask(
            "SELECT cursor FROM shard WHERE campaign_id = \(row[0]) AND last >= \(device) ORDER BY last LIMIT 1")
        guard let recorded = cursor.first.flatMap({ Int64($0[0]) }), recorded >= device else { return }
        let isRetried = !ask(
            "SELECT 1 FROM delivery WHERE campaign_id = \(row[0]) AND device_id = \(device) AND state = 3"
        ).isEmpty
        if !isRetried { broke("fleet.settled", "push \(push.id) is recorded, and relay-\(number) sends it again") }
    }

    func judgeLeaders() {
        let leaders = relays.compactMap(\.self).filter { $0.suspendedUntil == nil && $0.store.membership.leads }
        guard leaders.count > 1 else { return }
        broke("fleet.leader", leaders.map { "relay-\($0.number)" }.joined(separator: " and "))
    }

    /// Runs after each step.
    func check() {
        let shared = ask(
            """
            SELECT project FROM campaign_run WHERE owner IS NOT NULL AND project IS NOT NULL
            GROUP BY project HAVING count(DISTINCT owner) > 1
            """)
        if let project = shared.first { broke("fleet.project", "two relays send for \(project[0])") }
        checkOwners()
    }

    private func checkOwners() {
        let living = relays.compactMap { relay in relay?.store.membership.lease.map { (relay?.number ?? 0, $0) } }
        func owner(_ row: ArraySlice<String>) -> Int? {
            living.first { [String($0.1.node), String($0.1.incarnation)] == Array(row) }?.0
        }
        func isWell(_ number: Int) -> Bool {
            guard let since = healthySince[number], let relay = relays[number], relay.isAwake else { return false }
            return tick - since > .seconds(12)
        }
        var open: Set<String> = []
        for row in ask(
            """
            SELECT c.public_id, n.epoch, n.owner, o.incarnation, p.owner, q.incarnation FROM campaign AS c
            JOIN campaign_run AS n ON n.campaign_id = c.id JOIN app AS a ON a.id = c.app_id
            LEFT JOIN node AS o ON o.id = n.owner
            LEFT JOIN project AS p ON a.platform = 'android' LEFT JOIN node AS q ON q.id = p.owner
            WHERE c.state = 'running' ORDER BY c.id
            """)
        {
            guard owner(row[2...3]) == nil else { continue }
            // One relay sends for all apps of the project, which are the Android ones, and no other relay may while it lives. While
            // it waits for the store, or stands still for less than its lease, the campaign waits like those that it owns.
            let sender = owner(row[4...5])
            if let sender, !isWell(sender) { continue }
            let name = "\(row[0]) \(row[1])"
            open.insert(name)
            let since = unownedSince[name] ?? tick
            unownedSince[name] = since
            if sender != nil || relays.indices.contains(where: isWell), tick - since > .seconds(10) {
                broke("fleet.late", "nobody has sent campaign \(row[0]) for \(tick - since)")
            }
        }
        unownedSince = unownedSince.filter { open.contains($0.key) }
    }

    func checkEnd() {
        guard let judge else { return }
        do {
            let open = try judge.openCampaigns().filter { $0.state == .running }
            if let first = open.first {
                return broke("fleet.ends", "campaign \(first.id) still runs: \(first.figures.counts)")
            }
            for campaign in try judge.campaigns(before: nil, limit: 1000) {
                let accepted = campaign.figures.counts.accepted
                let tokens = Int64(told[campaign.id]?.count ?? 0)
                if accepted > tokens {
                    broke("fleet.told", "\(campaign.id) says that \(accepted) were told; \(tokens) were")
                }
                guard campaign.state == .completed else { continue }
                if accepted != tokens || accepted != Int64(script["devices"]) {
                    broke(
                        "fleet.told",
                        "\(campaign.id) is complete: \(accepted) recorded, \(tokens) told, of \(script["devices"])")
                }
            }
            let faults = try judge.check { _ in true }
            if !faults.isEmpty { broke("store.check", "\(faults)") }
        } catch {
            broke("store.check", "\(error)")
        }
    }

    func ask(_ query: String) -> [[String]] {
        do {
            return try judge?.inspect(query) ?? []
        } catch {
            broke("store.check", "\(error)")
            return []
        }
    }
}
