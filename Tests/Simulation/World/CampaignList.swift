// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

/// The newest campaigns of the store, as of one of its changes.
struct CampaignList {
    var change = 0
    /// How many were asked for.
    let limit: Int
    /// The newest first.
    private(set) var campaigns: [CampaignRecord]

    init(limit: Int, campaigns: [CampaignRecord] = []) {
        (self.limit, self.campaigns) = (limit, campaigns)
    }

    /// Takes a change of a listed campaign or of a newer one.
    ///
    /// - Parameter record: the campaign's new record; nil: it is gone.
    /// - Returns: false where the list must be read anew.
    mutating func take(_ record: CampaignRecord?, _ key: CampaignKey) -> Bool {
        let place = campaigns.firstIndex { $0.key <= key } ?? campaigns.count
        let isListed = place < campaigns.count && campaigns[place].key == key
        guard let record else { return !isListed }
        if isListed {
            campaigns[place] = record
        } else if place < limit {
            campaigns.insert(record, at: place)
            if campaigns.count > limit { campaigns.removeLast() }
        }
        return true
    }
}
