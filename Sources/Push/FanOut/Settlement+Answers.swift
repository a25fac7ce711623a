// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// Turns a batch's answers, as the provider reads them, into the ledger's rows.
extension Settlement {
    mutating func settle(
        _ requests: Batch.Requests, of rows: inout [LedgerRow], devices: DeviceRows, by provider: any PushProvider,
        at now: Timestamp
    ) {
        let batch = requests.batch
        let exceptions = provider.exceptions(in: batch, to: requests.targets, of: devices.bytes, at: now)
        taken(requests.rows.count - exceptions.count, by: batch.requestsTaken(but: exceptions))
        var next = exceptions.startIndex
        // One push in each request is the rule; then the batch need not be asked for the pushes of a request.
        let isOneEach = batch.isOneEach
        for (request, answer) in batch.answers.enumerated() {
            let sends = Self.sends(of: answer)
            let pushes = isOneEach ? request..<request + 1 : batch.pushes(of: request)
            // An answer that took at least one push is counted above as a sign that the service is well.
            var isKnown =
                !isOneEach && exceptions[next...].prefix { $0.push < pushes.upperBound }.count < pushes.count
            for place in pushes {
                let row = Int(requests.rows[place])
                let device = devices.rows[row]
                rows[row].attempts = device.attempts &+ sends
                guard next < exceptions.endIndex, exceptions[next].push == place else {
                    rows[row].state = .accepted
                    continue
                }
                let push = Push(device, attempts: rows[row].attempts)
                rows[row].take(
                    settle(exceptions[next].outcome, of: push, status: answer.status, isOfKnownAnswer: isKnown))
                isKnown = true
                next += 1
            }
        }
    }

    /// Settles the other environment's answers to tokens that this one called bad, after `settle` with the first answers. Each
    /// request carries one push.
    mutating func settleSecondTries(
        _ requests: Batch.Requests, of rows: inout [LedgerRow], devices: DeviceRows, by provider: any PushProvider,
        at now: Timestamp
    ) {
        let exceptions = provider.exceptions(
            in: requests.batch, to: requests.targets, of: devices.bytes, at: now)
        var next = exceptions.startIndex
        for (request, answer) in requests.batch.answers.enumerated() {
            let row = Int(requests.rows[request])
            rows[row].attempts &+= Self.sends(of: answer)
            var outcome = PushOutcome.accepted
            if next < exceptions.endIndex, exceptions[next].push == request {
                outcome = exceptions[next].outcome
                next += 1
            }
            let push = Push(devices.rows[row], attempts: rows[row].attempts)
            if let result = settleSecondTry(outcome, of: push, first: rows[row].reason) { rows[row].take(result) }
        }
    }

    /// The attempts that an answer counts for: each time that the push was put on a connection, except where the server promised
    /// not to have looked at it. Being refused until the pool gave up is one attempt, or its back-off would never grow.
    private static func sends(of answer: Answer) -> UInt16 {
        switch answer.kind {
        case .unsent where answer.sends >= PoolMachine.sendLimit: 1
        case .open, .unsent, .unreachable: 0
        case .answered, .lost: UInt16(max(1, answer.sends))
        }
    }
}

extension RequestBatch {
    /// The number of requests with at least one push that is not among the exceptions, which are in ascending order.
    fileprivate func requestsTaken(but exceptions: [PushException]) -> Int {
        if isOneEach { return count - exceptions.count }
        var next = exceptions.startIndex
        return (0..<count).count { request in
            let pushes = pushes(of: request)
            let own = exceptions[next...].prefix { $0.push < pushes.upperBound }.count
            next += own
            return own < pushes.count
        }
    }
}

extension Settlement.Push {
    fileprivate init(_ device: DeviceRow, attempts: UInt16) {
        self.init(
            device: device.id, registeredAt: Timestamp(milliseconds: device.registeredAt), attempts: attempts,
            isRepeated: device.attempts > 0 && !device.again.contains(.untried))
    }
}

extension LedgerRow {
    fileprivate mutating func take(_ result: Settlement.Result) {
        (state, reason, nextAttemptAt) = (result.state, result.reason, result.nextAttemptAt)
    }
}
