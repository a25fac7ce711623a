// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// Finds running campaigns that no relay has taken over for longer than a take-over lasts. Pure.
struct UnclaimedWatch: Sendable {
    /// The take-over from a relay that is gone ends within 8 s.
    static let patience = Duration.seconds(10)

    private var since: [UnclaimedCampaign: MonotonicTime] = [:]
    /// The late campaigns, in the order of the store.
    private(set) var late: [UnclaimedCampaign] = []

    /// - Parameter unclaimed: the campaigns without a relay at this moment.
    /// - Returns: the campaigns that have just become late.
    mutating func look(_ unclaimed: [UnclaimedCampaign], at now: MonotonicTime) -> [UnclaimedCampaign] {
        since = Dictionary(unclaimed.map { ($0, since[$0] ?? now) }) { first, _ in first }
        let before = Set(late)
        late = unclaimed.filter { now - (since[$0] ?? now) >= Self.patience }
        return late.filter { !before.contains($0) }
    }

    /// Forgets all campaigns, because another relay watches them now.
    mutating func forget() { (since, late) = ([:], []) }
}
