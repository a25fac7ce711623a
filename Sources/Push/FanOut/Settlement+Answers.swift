// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// A batch's answers, as the provider reads them, into the ledger's rows.
extension Settlement {
    mutating func settle(
        _ requests: Batch.Requests, of rows: inout [LedgerRow], devices: DeviceRows, by provider: any PushProvider,
        at now: Timestamp
    ) {
        let answers = requests.batch.answers
        let exceptions = provider.exceptions(in: requests.batch, at: now)
        taken(answers.count - exceptions.count)
        var next = exceptions.startIndex
        for request in answers.indices {
            let row = Int(requests.rows[request])
            let device = devices.rows[row]
            rows[row].attempts = device.attempts &+ Self.sends(of: answers[request])
            guard next < exceptions.endIndex, exceptions[next].request == request else {
                rows[row].state = .accepted
                continue
            }
            let push = Push(device, attempts: rows[row].attempts)
            rows[row].take(settle(exceptions[next].outcome, of: push, status: answers[request].status))
            next += 1
        }
    }

    /// Settles the other environment's answers to tokens that this one called bad, after `settle` with the first answers.
    mutating func settleSecondTries(
        _ requests: Batch.Requests, of rows: inout [LedgerRow], devices: DeviceRows, by provider: any PushProvider,
        at now: Timestamp
    ) {
        let exceptions = provider.exceptions(in: requests.batch, at: now)
        var next = exceptions.startIndex
        for (request, answer) in requests.batch.answers.enumerated() {
            let row = Int(requests.rows[request])
            rows[row].attempts &+= Self.sends(of: answer)
            var outcome = PushOutcome.accepted
            if next < exceptions.endIndex, exceptions[next].request == request {
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
