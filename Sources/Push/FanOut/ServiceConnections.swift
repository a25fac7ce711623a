// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import Threading

/// The lanes, and a receiver for the batches that each hands back.
package struct LaneSet {
    package let lanes: [any BatchLane]
    package let receivers: [LaneReceiver]
    /// The indices of the lanes of each transport.
    private let places: [Transport: Range<Int>]

    /// - Parameters:
    ///   - lanes: the lanes by nghttp2.
    ///   - curl: the lane by libcurl. Default none: no provider needs it.
    package init(_ lanes: [any BatchLane], curl: (any BatchLane)? = nil, mailbox: Mailbox<FanOut.Event>) {
        let all = lanes + (curl.map { [$0] } ?? [])
        self.lanes = all
        places = [.nghttp2: lanes.indices, .libcurl: lanes.count..<all.count]
        receivers = all.indices.map { LaneReceiver(mailbox: mailbox, lane: $0) }
    }

    /// The lane that a batch with this pin goes to.
    func lane(for transport: Transport, pin: Int) -> Int {
        guard let places = places[transport], !places.isEmpty else {
            preconditionFailure("a fan-out has a lane for each transport of its providers")
        }
        return places.lowerBound + pin % places.count
    }
}

/// A pool as the lanes name it.
struct PoolAddress: Hashable {
    var pool: PoolID
    var lane: Int
}

/// One push service's connection pools, one in each lane: made when first needed, kept for hours (Apple: "keep connections
/// open", PROTOCOLS 1.7).
final class ServiceConnections {
    private let lanes: LaneSet
    private let configuration: PoolConfiguration
    private let judge: any AnswerJudge
    private let transport: Transport
    private var pools: [Int: PoolID] = [:]
    private var streamsOfLane: [Int: Int] = [:]

    init(_ lanes: LaneSet, _ configuration: PoolConfiguration, _ judge: any AnswerJudge, by transport: Transport) {
        self.lanes = lanes
        self.configuration = configuration
        self.judge = judge
        self.transport = transport
    }

    /// Hands a batch to the lane that its shard is pinned to.
    ///
    /// - Returns: the pool, where it is a new one.
    func submit(_ batch: RequestBatch, pin: Int) -> PoolAddress? {
        let lane = lanes.lane(for: transport, pin: pin)
        if let known = pools[lane] {
            lanes.lanes[lane].submit(batch, to: known)
            return nil
        }
        let pool = lanes.lanes[lane].addPool(configuration, judge: judge, receiver: lanes.receivers[lane])
        pools[lane] = pool
        lanes.lanes[lane].submit(batch, to: pool)
        return PoolAddress(pool: pool, lane: lane)
    }

    private var poolsInOrder: [(lane: any BatchLane, pool: PoolID)] {
        lanes.lanes.indices.compactMap { lane in pools[lane].map { (lanes.lanes[lane], $0) } }
    }

    /// Calls back batches that have not been sent yet.
    func withdraw() {
        for (lane, pool) in poolsInOrder { lane.withdraw(pool) }
    }

    /// Closes every connection; pushes that are still out on one come back as lost.
    func close() {
        for (lane, pool) in poolsInOrder { lane.removePool(pool) }
        pools.removeAll()
        streamsOfLane.removeAll()
    }

    /// Notes the number of requests that the lane's pool carries at once.
    func note(lane: Int, carries streams: Int) {
        streamsOfLane[lane] = streams
    }

    /// The number of requests that the pools carry at once, together.
    var streams: Int { streamsOfLane.values.reduce(0, +) }
}

/// The part of a lane that the fan-out uses. Tests bring one that answers without a network.
package protocol BatchLane: AnyObject, Sendable {
    func addPool(_ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver) -> PoolID
    func submit(_ batch: RequestBatch, to pool: PoolID)
    func withdraw(_ pool: PoolID)
    func removePool(_ pool: PoolID)
    func stop(deadline: Duration)
}

extension Lane: BatchLane {}
extension CurlLane: BatchLane {}

/// Brings a lane's batches and reports to the dispatcher's mailbox.
package final class LaneReceiver: BatchReceiver {
    private let mailbox: Mailbox<FanOut.Event>
    private let lane: Int

    package init(mailbox: Mailbox<FanOut.Event>, lane: Int) {
        self.mailbox = mailbox
        self.lane = lane
    }

    package func finished(_ batch: RequestBatch) {
        mailbox.post(.returned(batch))
    }

    package func pool(_ pool: PoolID, is condition: PoolCondition) {
        mailbox.post(.pool(pool, lane: lane, condition))
    }

    package func pool(_ pool: PoolID, carries streams: Int) {
        mailbox.post(.width(pool, lane: lane, streams: streams))
    }
}
