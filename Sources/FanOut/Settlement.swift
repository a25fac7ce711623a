// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// Turns the answers of one flight into ledger rows, and gathers what they mean beyond their own pushes.
struct Settlement {
    /// Why nothing sent this way can succeed, and where that was said.
    struct Stop: Equatable {
        var reason: String
        var fault: SendingFault
        var environment: PushEnvironment
    }

    /// Where a push was answered.
    struct Leg {
        var batch: RequestBatch
        var environment: PushEnvironment
    }

    /// What a service did not do, of one flight's pushes.
    struct Failures {
        /// 5xx that speak for the whole service.
        var failed = 0
        /// Of those, pushes that had been tried before.
        var repeated = 0
        /// No answer, or one about a connection only.
        var silent = 0
        /// The shortest that a 5xx named.
        var retryAfter: Duration?
        /// The first 5xx, such as "503 ServiceUnavailable".
        var text = ""
    }

    /// Retries are due at whole tenths of a second: those of a busy service go and are recorded together, not in a batch and a
    /// transaction each.
    private static let retryGrain = Duration.milliseconds(100)

    private let provider: APNsProvider
    private let schedule = RetrySchedule()
    private let expiresAt: Timestamp
    private let now: Timestamp

    private(set) var retirements: [TokenRetirement] = []
    /// Answers that prove the credential good.
    private(set) var proven = 0
    /// Pushes that the service refused for good, by reason.
    private(set) var refusals: [String: Int] = [:]
    /// Of those, the reasons that another environment may not have.
    private(set) var badTokenReasons: Set<String> = []
    private(set) var corrections: [EnvironmentCorrection] = []
    private(set) var stop: Stop?
    private(set) var needsNewCredential = false
    private(set) var pause: (until: Timestamp, reason: String)?
    /// Pushes that want another connection.
    private(set) var reconnects = 0
    /// By service, of first tries; all else was answered by a service that is at work.
    private(set) var failures: [PushEnvironment: Failures] = [:]
    /// What the other environment has against the credential; it stops nothing.
    private(set) var otherEnvironmentFault: (reason: String, environment: PushEnvironment)?

    init(provider: APNsProvider, expiresAt: Timestamp, now: Timestamp) {
        self.provider = provider
        self.expiresAt = expiresAt
        self.now = now
    }

    /// All refusals.
    var refused: Int { refusals.values.reduce(0, +) }

    mutating func settle(_ row: inout LedgerRow, device: DeviceRow, answer: Answer, on leg: Leg) {
        row.attempts = device.attempts &+ Self.sends(of: answer)
        let outcome = provider.outcome(of: answer, in: leg.batch, at: now)
        if case .retry(let cause, let reason) = outcome {
            noteFailure(cause, reason, answer.status, leg.environment, isRepeated: device.attempts > 0)
        }
        apply(outcome, to: &row, device: device, leg)
    }

    /// The answer of the other environment to a token that its own called bad, after `settle` with the first answer.
    ///
    /// It can only better the first one: what the other environment has against our credential, or against the token, or
    /// that it cannot be reached, leaves the token as bad as it was.
    mutating func settleSecondTry(_ row: inout LedgerRow, device: DeviceRow, answer: Answer, on leg: Leg) {
        row.attempts &+= Self.sends(of: answer)
        let outcome = provider.outcome(of: answer, in: leg.batch, at: now)
        switch outcome {
        case .badToken, .rejected, .retry(.held, _), .retry(.unreachable, _):
            return
        case .suspend(let reason, _), .reconnect(let reason):
            otherEnvironmentFault = (reason, leg.environment)
            return
        case .accepted:
            corrections.append(
                EnvironmentCorrection(
                    device: row.device, environment: leg.environment, registeredAt: device.registration))
        case .unregistered, .retry, .renewCredential, .pauseCredential:
            break
        }
        if let reason = row.reason { refusals[reason, default: 1] -= 1 }
        row.reason = nil
        apply(outcome, to: &row, device: device, leg)
    }

    private mutating func noteFailure(
        _ cause: RetrySchedule.Cause, _ reason: String, _ status: UInt16, _ environment: PushEnvironment,
        isRepeated: Bool
    ) {
        switch cause {
        case .tooManyRequests:
            // The service is at work: it counts the pushes to each device.
            break
        case .service(let retryAfter) where !APNsProvider.speaksOfConnection(reason):
            failures[environment, default: Failures()].failed += 1
            if isRepeated { failures[environment]?.repeated += 1 }
            if let retryAfter {
                let known = failures[environment]?.retryAfter ?? retryAfter
                failures[environment]?.retryAfter = min(known, retryAfter)
            }
            if failures[environment]?.failed == 1 {
                failures[environment]?.text = reason == "HTTP \(status)" ? "\(status)" : "\(status) \(reason)"
            }
        case .service, .transport, .unreachable, .held:
            failures[environment, default: Failures()].silent += 1
        }
    }

    /// Each time that it was put on a connection counts, but for what the server promised not to have looked at: to be
    /// refused until the pool gave up is one attempt, for else its back-off would never grow.
    private static func sends(of answer: Answer) -> UInt16 {
        switch answer.kind {
        case .unsent where answer.sends >= PoolMachine.sendLimit: 1
        case .open, .unsent, .unreachable: 0
        case .answered, .lost: UInt16(max(1, answer.sends))
        }
    }

    private mutating func apply(
        _ outcome: PushOutcome, to row: inout LedgerRow, device: DeviceRow, _ leg: Leg
    ) {
        switch outcome {
        case .accepted:
            row.state = .accepted
            proven += 1
        case .rejected(let reason), .badToken(let reason):
            row.state = .rejected
            row.reason = reason
            refusals[reason, default: 0] += 1
            if case .badToken = outcome { badTokenReasons.insert(reason) }
        case .unregistered(let reason, let since):
            row.state = .unregistered
            row.reason = reason
            proven += 1
            if let since {
                retirements.append(
                    TokenRetirement(device: row.device, deadSince: since, registeredAt: device.registration))
            }
        case .retry(let cause, let reason):
            retry(&row, cause, reason)
        case .renewCredential(let reason):
            needsNewCredential = true
            hold(&row, reason, until: now)
        case .pauseCredential(let length, let reason):
            let end =
                now
                + schedule.delay(
                    after: .service(retryAfter: length), attempt: 1, random: Double.random(in: 0..<1))
            if pause.map({ $0.until < end }) ?? true { pause = (end, reason) }
            hold(&row, reason, until: end)
        case .reconnect(let reason):
            reconnects += 1
            retry(&row, .transport, reason)
        case .suspend(let reason, let fault):
            stop = Stop(reason: reason, fault: fault, environment: leg.environment)
            hold(&row, reason, until: now)
        }
    }

    private mutating func retry(_ row: inout LedgerRow, _ cause: RetrySchedule.Cause, _ reason: String) {
        let delay = schedule.delay(
            after: cause, attempt: Int(max(1, row.attempts)), random: Double.random(in: 0..<1))
        // What nothing is wrong with goes at once.
        hold(&row, reason, until: delay > .zero ? (now + delay).roundedUp(to: Self.retryGrain) : now)
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

extension DeviceRow {
    fileprivate var registration: Timestamp { Timestamp(milliseconds: registeredAt) }
}
