// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// Turns the answers of one flight into ledger rows, and gathers what they mean beyond their own pushes.
struct Settlement {
    /// What the operator is told when nothing sent this way can succeed.
    struct Stop: Equatable {
        var reason: String
        var hint: String
    }

    private let provider: APNsProvider
    private let schedule = RetrySchedule()
    private let expiresAt: Timestamp
    private let now: Timestamp

    private(set) var retirements: [TokenRetirement] = []
    /// Answers that prove the credential good.
    private(set) var proven = 0
    private(set) var badTokens = 0
    private(set) var badTokenReasons: Set<String> = []
    private(set) var stop: Stop?
    private(set) var needsNewCredential = false
    private(set) var pauseUntil: Timestamp?

    init(provider: APNsProvider, expiresAt: Timestamp, now: Timestamp) {
        self.provider = provider
        self.expiresAt = expiresAt
        self.now = now
    }

    mutating func settle(_ row: inout LedgerRow, device: DeviceRow, answer: Answer, in batch: RequestBatch) {
        // Each time that it was put on a connection counts, but for what the server promised not to have looked at: to be
        // refused until the pool gave up is one attempt, for else its back-off would never grow.
        let sends: UInt16 =
            switch answer.kind {
            case .unsent where answer.sends >= PoolMachine.sendLimit: 1
            case .open, .unsent: 0
            case .answered, .lost: UInt16(max(1, answer.sends))
            }
        row.attempts = device.attempts &+ sends
        switch provider.outcome(of: answer, in: batch, at: now) {
        case .accepted:
            row.state = .accepted
            proven += 1
        case .rejected(let reason):
            row.state = .rejected
            row.reason = reason
        case .badToken(let reason):
            row.state = .rejected
            row.reason = reason
            badTokens += 1
            badTokenReasons.insert(reason)
        case .unregistered(let reason, let since):
            row.state = .unregistered
            row.reason = reason
            proven += 1
            if let since { retirements.append(TokenRetirement(device: row.device, deadSince: since)) }
        case .retry(let cause, let reason):
            retry(&row, cause, reason)
        case .renewCredential(let reason):
            needsNewCredential = true
            hold(&row, reason, until: now)
        case .pauseCredential(let pause, let reason):
            let end =
                now
                + schedule.delay(
                    after: .service(retryAfter: pause), attempt: 1, random: Double.random(in: 0..<1))
            pauseUntil = max(pauseUntil ?? end, end)
            hold(&row, reason, until: end)
        case .suspend(let reason, let hint):
            stop = Stop(reason: reason, hint: hint)
            hold(&row, reason, until: now)
        }
    }

    private mutating func retry(_ row: inout LedgerRow, _ cause: RetrySchedule.Cause, _ reason: String) {
        let delay = schedule.delay(
            after: cause, attempt: Int(max(1, row.attempts)), random: Double.random(in: 0..<1))
        hold(&row, reason, until: now + delay)
    }

    private func hold(_ row: inout LedgerRow, _ reason: String, until time: Timestamp) {
        row.reason = reason
        // Nothing is tried after the time to live.
        if time >= expiresAt {
            row.state = .expired
        } else {
            row.state = .retrying
            row.nextAttemptAt = time
        }
    }
}
