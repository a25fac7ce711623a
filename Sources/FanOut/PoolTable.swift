// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// The connection pools of every app, in every lane: made when first needed, kept for hours (Apple: "keep connections
/// open", PROTOCOLS 1.7).
struct PoolTable {
    private struct Key: Hashable {
        var app: AppKey
        var environment: PushEnvironment
        var lane: Int
    }

    private struct Address: Hashable {
        var pool: PoolID
        var lane: Int
    }

    private let lanes: [Lane]
    private let receivers: [LaneReceiver]
    private var pools: [Key: PoolID] = [:]
    private var owners: [Address: (app: AppKey, environment: PushEnvironment)] = [:]

    init(lanes: [Lane], mailbox: Mailbox<FanOut.Event>) {
        self.lanes = lanes
        receivers = lanes.indices.map { LaneReceiver(mailbox: mailbox, lane: $0) }
    }

    /// Hands a batch to the lane that its shard is pinned to.
    mutating func submit(_ batch: RequestBatch, of route: AppRoute, to environment: PushEnvironment, pin: Int) {
        let lane = pin % lanes.count
        let key = Key(app: route.app, environment: environment, lane: lane)
        let pool: PoolID
        if let known = pools[key] {
            pool = known
        } else {
            pool = lanes[lane].addPool(route.pool(for: environment), judge: APNsJudge(), receiver: receivers[lane])
            pools[key] = pool
            owners[Address(pool: pool, lane: lane)] = (route.app, environment)
        }
        lanes[lane].submit(batch, to: pool)
    }

    /// Hands back what the app's pools have not sent yet.
    func withdraw(_ app: AppKey) {
        for (key, pool) in pools where key.app == app { lanes[key.lane].withdraw(pool) }
    }

    /// Closes every connection; what is still out on one comes back as lost.
    mutating func removeAll() {
        for (key, pool) in pools { lanes[key.lane].removePool(pool) }
        pools.removeAll()
        owners.removeAll()
    }

    func owner(of pool: PoolID, lane: Int) -> (app: AppKey, environment: PushEnvironment)? {
        owners[Address(pool: pool, lane: lane)]
    }
}
