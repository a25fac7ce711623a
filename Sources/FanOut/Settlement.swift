// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// Turns the answers of one batch into ledger rows, and gathers what they mean beyond their own pushes.
struct Settlement {
    /// Why nothing sent this way can succeed, and where that was said.
    struct Stop: Equatable {
        var reason: String
        var fault: SendingFault
        var environment: PushEnvironment
    }

    /// Retries are due at whole tenths of a second: those of a busy service go and are recorded together, not in a batch and a
    /// transaction each.
    private static let retryGrain = Duration.milliseconds(100)

    private let provider: any PushProvider
    private let environment: PushEnvironment
    private let schedule = RetrySchedule()
    private let expiresAt: Timestamp
    private let now: Timestamp

    private(set) var retirements: [TokenRetirement] = []
    /// Pushes that the service refused for good, by reason.
    private(set) var refusals: [String: Int] = [:]
    /// Of those, the reasons that another environment may not have.
    private(set) var badTokenReasons: Set<String> = []
    private(set) var corrections: [EnvironmentCorrection] = []
    private(set) var stop: Stop?
    private(set) var needsNewCredential = false
    private(set) var pause: (until: Timestamp, reason: String)?
    /// What the machine judges.
    private(set) var report: BatchReport
    /// The first 5xx, such as "503 ServiceUnavailable".
    private(set) var failureText = ""
    /// What the other environment has against the credential; it stops nothing.
    private(set) var otherEnvironmentFault: String?

    /// - Parameter environment: of the service that the batch is for.
    init(
        provider: any PushProvider, environment: PushEnvironment, tag: Int, expiresAt: Timestamp, now: Timestamp
    ) {
        self.provider = provider
        self.environment = environment
        self.expiresAt = expiresAt
        self.now = now
        report = BatchReport(tag: tag)
    }

    mutating func settle(_ requests: Batch.Requests, of rows: inout [LedgerRow], devices: DeviceRows) {
        let answers = requests.batch.answers
        let exceptions = provider.exceptions(in: requests.batch, at: now)
        var next = exceptions.startIndex
        for request in answers.indices {
            let row = Int(requests.rows[request])
            rows[row].attempts = devices.rows[row].attempts &+ Self.sends(of: answers[request])
            guard next < exceptions.endIndex, exceptions[next].request == request else {
                rows[row].state = .accepted
                continue
            }
            let outcome = exceptions[next].outcome
            next += 1
            if case .retry(let cause, let reason) = outcome {
                noteFailure(cause, reason, answers[request].status, isRepeated: devices.rows[row].attempts > 0)
            }
            apply(outcome, to: &rows[row], device: devices.rows[row], in: environment)
        }
        let taken = answers.count - exceptions.count
        report.proven += taken
        report.health.good = answers.count - report.health.failed - silent
        report.refused = refused
    }

    /// The answers of the other environment to tokens that this one called bad, after `settle` with the first answers.
    ///
    /// They can only better the first ones: what the other environment has against our credential, or against the token, or
    /// that it cannot be reached, leaves the token as bad as it was.
    mutating func settleSecondTries(
        _ requests: Batch.Requests, of rows: inout [LedgerRow], devices: DeviceRows, in other: PushEnvironment
    ) {
        let exceptions = provider.exceptions(in: requests.batch, at: now)
        var next = exceptions.startIndex
        for (request, answer) in requests.batch.answers.enumerated() {
            let row = Int(requests.rows[request])
            let device = devices.rows[row]
            rows[row].attempts &+= Self.sends(of: answer)
            var outcome = PushOutcome.accepted
            if next < exceptions.endIndex, exceptions[next].request == request {
                outcome = exceptions[next].outcome
                next += 1
            }
            switch outcome {
            case .badToken, .rejected, .retry(.held, _), .retry(.unreachable, _):
                continue
            case .suspend(let reason, _), .reconnect(let reason):
                otherEnvironmentFault = reason
                continue
            case .accepted:
                corrections.append(
                    EnvironmentCorrection(
                        device: rows[row].device, environment: other,
                        registeredAt: Timestamp(milliseconds: device.registeredAt)))
            case .unregistered, .retry, .renewCredential, .pauseCredential:
                break
            }
            if let reason = rows[row].reason { refusals[reason, default: 1] -= 1 }
            rows[row].reason = nil
            apply(outcome, to: &rows[row], device: device, in: other)
        }
        report.refused = refused
    }

    /// All refusals.
    private var refused: Int { refusals.values.reduce(0, +) }

    /// Pushes without an answer, or with one about a connection only.
    private var silent = 0

    private mutating func noteFailure(
        _ cause: RetrySchedule.Cause, _ reason: String, _ status: UInt16, isRepeated: Bool
    ) {
        switch cause {
        case .tooManyRequests:
            // The service is at work: it counts the pushes to each device.
            break
        case .service(let retryAfter) where !provider.speaksOfConnection(reason):
            report.health.failed += 1
            if isRepeated { report.health.repeated += 1 }
            if let retryAfter { report.health.retryAfter = min(report.health.retryAfter ?? retryAfter, retryAfter) }
            if report.health.failed == 1 {
                failureText = reason == "HTTP \(status)" ? "\(status)" : "\(status) \(reason)"
            }
        case .service, .transport, .unreachable, .held:
            silent += 1
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
        _ outcome: PushOutcome, to row: inout LedgerRow, device: DeviceRow, in environment: PushEnvironment
    ) {
        switch outcome {
        case .accepted:
            row.state = .accepted
            report.proven += 1
        case .rejected(let reason), .badToken(let reason):
            row.state = .rejected
            row.reason = reason
            refusals[reason, default: 0] += 1
            if case .badToken = outcome { badTokenReasons.insert(reason) }
        case .unregistered(let reason, let since):
            row.state = .unregistered
            row.reason = reason
            report.proven += 1
            if let since {
                retirements.append(
                    TokenRetirement(
                        device: row.device, deadSince: since,
                        registeredAt: Timestamp(milliseconds: device.registeredAt)))
            }
        case .retry(let cause, let reason):
            retry(&row, cause, reason)
        case .renewCredential(let reason):
            needsNewCredential = true
            requeue(&row, reason, at: now)
        case .pauseCredential(let length, let reason):
            let end =
                now
                + schedule.delay(
                    after: .service(retryAfter: length), attempt: 1, random: Double.random(in: 0..<1))
            if pause.map({ $0.until < end }) ?? true { pause = (end, reason) }
            requeue(&row, reason, at: end)
        case .reconnect(let reason):
            report.reconnects += 1
            retry(&row, .transport, reason)
        case .suspend(let reason, let fault):
            stop = Stop(reason: reason, fault: fault, environment: environment)
            requeue(&row, reason, at: now)
        }
    }

    private mutating func retry(_ row: inout LedgerRow, _ cause: RetrySchedule.Cause, _ reason: String) {
        let delay = schedule.delay(
            after: cause, attempt: Int(max(1, row.attempts)), random: Double.random(in: 0..<1))
        // What nothing is wrong with goes at once.
        requeue(&row, reason, at: delay > .zero ? (now + delay).roundedUp(to: Self.retryGrain) : now)
    }

    private func requeue(_ row: inout LedgerRow, _ reason: String, at time: Timestamp) {
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
