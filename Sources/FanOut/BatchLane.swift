// SPDX-License-Identifier: Apache-2.0
package import HTTP2

/// What the fan-out needs of a lane. Tests bring one that answers without a network.
package protocol BatchLane: AnyObject, Sendable {
    func addPool(_ configuration: PoolConfiguration, judge: any AnswerJudge, receiver: any BatchReceiver) -> PoolID
    func submit(_ batch: RequestBatch, to pool: PoolID)
    func withdraw(_ pool: PoolID)
    func removePool(_ pool: PoolID)
    func stop(deadline: Duration)
}

extension Lane: BatchLane {}
