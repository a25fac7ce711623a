// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The campaigns of one app that a person looks for first. Pure.
package enum CampaignsThatCount {
    /// All that are open. If none of these has begun, the newest other one that is not superseded too, because its requirement
    /// is the one in force; where all are superseded, the newest.
    ///
    /// - Parameter campaigns: those of one app, the newest first.
    package static func of<Campaign>(
        _ campaigns: [Campaign], _ state: (Campaign) -> CampaignState
    ) -> [Campaign] {
        let open = campaigns.filter { !state($0).isFinal }
        if open.contains(where: { state($0) != .waiting }) { return open }
        let other = campaigns.first { state($0).isFinal && state($0) != .superseded }
        return open + (other.map { [$0] } ?? (open.isEmpty ? Array(campaigns.prefix(1)) : []))
    }
}
