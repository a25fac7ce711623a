// SPDX-License-Identifier: Apache-2.0
import RelayStore

/// Campaigns for which a relay must no longer record anything.
extension FleetWorld {
    /// Runs a turn of a relay's fan-out. Another relay's campaigns must not change in that time, since no other relay has a turn.
    func fenced(_ number: Int, _ turn: () -> Void) {
        turns += 1
        let (before, mine) = (othersRuns(than: number), turns)
        turn()
        guard !before.isEmpty, turns == mine else { return }
        for (campaign, run) in othersRuns(than: number) {
            guard let old = before[campaign], old.epoch == run.epoch, old.commits != run.commits else { continue }
            broke(
                "fleet.fenced",
                "campaign \(campaign) is another relay's, and relay-\(number) has recorded outcomes: \(old.commits) commits, then \(run.commits)"
            )
        }
    }

    /// The campaigns that another relay owns.
    private func othersRuns(than number: Int) -> [String: (epoch: String, commits: String)] {
        let rows = ask(
            """
            SELECT campaign_id, epoch, commits FROM campaign_run
            WHERE owner IS NOT NULL AND owner NOT IN (SELECT id FROM node WHERE name = 'relay-\(number)')
            """)
        return Dictionary(rows.map { ($0[0], ($0[1], $0[2])) }) { $1 }
    }
}
