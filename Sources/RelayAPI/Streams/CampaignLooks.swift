// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Synchronization
import Threading

/// A campaign as all see it who watch it at a time.
struct CampaignLook: Sendable {
    var state: CampaignState
    /// Pushes on their way.
    var inFlight: Int64
    /// The campaign as it is sent.
    var body: [UInt8]
}

/// The last look at each campaign that is watched: however many watch it, the store is asked ten times a second. Any thread may ask.
final class CampaignLooks: Sendable {
    /// Milliseconds for which a look holds.
    static let interval: Int64 = 100
    /// Looks that are kept; beyond, those that are over are forgotten.
    private static let most = 256

    private let last = Mutex<[CampaignKey: (look: CampaignLook, at: Int64)]>([:])
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: milliseconds of a clock that only goes forward.
    init(clock: @escaping @Sendable () -> Int64 = MonotonicClock.milliseconds) { self.clock = clock }

    /// - Parameter read: asks the store; nil: there is no such campaign.
    func look(at campaign: CampaignKey, _ read: () throws -> CampaignLook?) throws -> CampaignLook? {
        let now = clock()
        if let last = last.withLock({ $0[campaign] }), now - last.at < Self.interval { return last.look }
        let look = try read()
        last.withLock { last in
            if last.count >= Self.most { last = last.filter { now - $0.value.at < Self.interval } }
            last[campaign] = look.map { ($0, now) }
        }
        return look
    }
}
