// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Threading

/// The connection pools of every app, in every lane: made when first needed, kept for hours (Apple: "keep connections
/// open", PROTOCOLS 1.7).
struct PoolTable {
    /// Whose connections a pool holds.
    struct Owner: Hashable {
        var app: AppKey
        var environment: PushEnvironment
        /// Tokens that the other environment called bad go over connections of their own: where these cannot be made,
        /// the pushes that belong here must not come back with them.
        var isForSecondTries: Bool
    }

    private struct Key: Hashable {
        var owner: Owner
        var lane: Int
    }

    private struct Address: Hashable {
        var pool: PoolID
        var lane: Int
    }

    private let lanes: [Lane]
    private let receivers: [LaneReceiver]
    private var pools: [Key: PoolID] = [:]
    private var owners: [Address: Owner] = [:]
    private var streams: [Address: Int] = [:]

    init(lanes: [Lane], mailbox: Mailbox<FanOut.Event>) {
        self.lanes = lanes
        receivers = lanes.indices.map { LaneReceiver(mailbox: mailbox, lane: $0) }
    }

    /// Hands a batch to the lane that its shard is pinned to.
    mutating func submit(
        _ batch: RequestBatch, of route: AppRoute, to environment: PushEnvironment, pin: Int, isSecondTry: Bool = false
    ) {
        let lane = pin % lanes.count
        let owner = Owner(app: route.app, environment: environment, isForSecondTries: isSecondTry)
        let key = Key(owner: owner, lane: lane)
        let pool: PoolID
        if let known = pools[key] {
            pool = known
        } else {
            pool = lanes[lane].addPool(route.pool(for: environment), judge: APNsJudge(), receiver: receivers[lane])
            pools[key] = pool
            owners[Address(pool: pool, lane: lane)] = owner
        }
        lanes[lane].submit(batch, to: pool)
    }

    /// Hands back what the app's pools have not sent yet.
    func withdraw(_ app: AppKey) {
        for (key, pool) in pools where key.owner.app == app { lanes[key.lane].withdraw(pool) }
    }

    /// Hands back what one kind of the app's pools has not sent yet.
    func withdraw(_ owner: Owner) {
        for (key, pool) in pools where key.owner == owner { lanes[key.lane].withdraw(pool) }
    }

    /// Closes every connection; what is still out on one comes back as lost.
    mutating func removeAll() {
        for (key, pool) in pools { lanes[key.lane].removePool(pool) }
        pools.removeAll()
        owners.removeAll()
        streams.removeAll()
    }

    /// A pool carries so many requests at once now.
    mutating func note(_ pool: PoolID, lane: Int, carries streams: Int) {
        let address = Address(pool: pool, lane: lane)
        guard let owner = owners[address], !owner.isForSecondTries else { return }
        self.streams[address] = streams
    }

    /// What the app's pools carry together, second tries left out.
    func streams(of app: AppKey) -> Int {
        streams.reduce(0) { owners[$1.key]?.app == app ? $0 + $1.value : $0 }
    }

    func owner(of pool: PoolID, lane: Int) -> Owner? {
        owners[Address(pool: pool, lane: lane)]
    }
}
