// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import TestStores

/// Another relay takes a campaign over, and gives it back before the next check: the one before records nothing more of it.
extension World {
    func takeOver(_ number: Int) throws -> String? {
        guard ledger.taken == nil, let relay, !isDiskFailing, !isDoomed, !isBack else { return nil }
        let running = campaigns().filter { $0.state == .running }
        let busy = running.filter { !relay.lane.inFlight(of: $0.id).isEmpty }
        let choice = busy.isEmpty ? running : busy
        guard !choice.isEmpty else { return nil }
        let campaign = choice[number % choice.count]
        try otherProgram?.own(campaign.key.row, true)
        ledger.taken = (campaign.id, campaign.key.row, try commits(of: campaign.key.row))
        ledger.fenced.insert(campaign.id)
        ledger.stirred.insert(campaign.id)
        return "another relay takes campaign \(campaign.id) over"
    }

    private func commits(of campaign: Int64) throws -> String {
        try relay?.store.inspect("SELECT commits FROM campaign_run WHERE campaign_id = \(campaign)").first?.first ?? ""
    }

    /// Gives the campaign back: the other relay is gone, and has sent nothing.
    func giveBackCampaign() {
        guard let taken = ledger.taken else { return }
        ledger.taken = nil
        do {
            let commits = try commits(of: taken.row)
            if commits != taken.commits {
                model.broke(
                    "lease.fenced",
                    "campaign \(taken.campaign) is another relay's, and outcomes were recorded by the one before: \(taken.commits) commits, then \(commits)"
                )
            }
            try otherProgram?.own(taken.row, false)
        } catch {
            model.broke("store.check", "a campaign cannot be given back: \(plain(error))")
        }
        quietSince = tick
        relay?.poke()
    }
}
