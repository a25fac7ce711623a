// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// Turns the answers of one batch into ledger rows, and gathers what they mean beyond their own pushes.
struct Settlement {
    /// Retries are due at whole tenths of a second: those of a busy service go and are recorded together, not in a batch and a
    /// transaction each.
    private static let retryGrain = Duration.milliseconds(100)

    private let provider: any PushProvider
    private let schedule = RetrySchedule()
    private let expiresAt: Timestamp
    private let now: Timestamp
    private let random: RandomSource

    /// The service has taken the campaign's payload for some device.
    private(set) var isPayloadTaken: Bool

    private(set) var retirements: [TokenRetirement] = []
    /// Pushes that the service did not take, as far as that may be the credential's fault or that of all tokens.
    private(set) var refusals = Refusals()
    /// What each reason of a fault means.
    private(set) var faults: [String: SendingFault] = [:]
    /// The reasons that another environment may not have.
    private(set) var badTokenReasons: Set<String> = []
    private(set) var corrections: [EnvironmentCorrection] = []
    private(set) var needsNewCredential = false
    private(set) var pause: (until: Timestamp, reason: String)?
    /// What the machine judges.
    private(set) var report: BatchReport
    /// The first 5xx, such as "503 ServiceUnavailable".
    private(set) var failureText = ""
    /// What the other environment has against the credential; it stops nothing.
    private(set) var otherEnvironmentFault: String?

    init(
        provider: any PushProvider, tag: Int, expiresAt: Timestamp, isPayloadTaken: Bool = false, now: Timestamp,
        random: RandomSource = .system
    ) {
        self.isPayloadTaken = isPayloadTaken
        self.provider = provider
        self.expiresAt = expiresAt
        self.now = now
        self.random = random
        report = BatchReport(tag: tag)
    }

    mutating func settle(_ requests: Batch.Requests, of rows: inout [LedgerRow], devices: DeviceRows) {
        let answers = requests.batch.answers
        let exceptions = provider.exceptions(in: requests.batch, at: now)
        if exceptions.count < answers.count { isPayloadTaken = true }
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
                // What was put in line again is at its first try: that an earlier time failed says nothing of the push.
                let device = devices.rows[row]
                noteFailure(
                    cause, reason, answers[request].status,
                    isRepeated: device.attempts > 0 && !device.again.contains(.untried))
            }
            apply(outcome, to: &rows[row], device: devices.rows[row])
        }
        let taken = answers.count - exceptions.count
        report.answers.accepted += taken
        answered = answers.count - silent
        report.health.good = answered - report.health.failed
        report.answers.refused = refusals.count(.refused)
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
            case .badToken, .invalidToken, .rejected, .retry(.held, _), .retry(.unreachable, _):
                continue
            case .fault(let reason, _), .reconnect(let reason):
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
            if let reason = rows[row].reason { refusals.remove(reason, .refused) }
            rows[row].reason = nil
            apply(outcome, to: &rows[row], device: device)
        }
        report.answers.refused = refusals.count(.refused)
    }

    /// Pushes without an answer, or with one about a connection only.
    private var silent = 0
    /// The others.
    private(set) var answered = 0

    /// Keeps back what the batch would retire until the service's next answers have been seen, and retires instead what was kept
    /// back before.
    mutating func judgeTokens(by window: inout UnregisteredWindow<TokenRetirement>, limit: Double?) {
        let answers = report.answers
        let verdict = window.take(
            answers: answers.proven + answers.refused, unregistered: answers.unregistered, held: retirements,
            limit: limit)
        switch verdict {
        case .released(let released): retirements = released
        case .tripped(let trip): (retirements, report.unregistered) = ([], trip)
        }
    }

    /// The tokens stay: that they are called unregistered is in doubt.
    mutating func keepTokens() { retirements.removeAll() }

    private mutating func noteFailure(
        _ cause: RetrySchedule.Cause, _ reason: String, _ status: UInt16, isRepeated: Bool
    ) {
        switch cause {
        case .tooManyRequests:
            // The service is at work: it counts the pushes to each device.
            break
        case .quota(let retryAfter):
            // Of the project or of one device: the project's quota judges (`ProjectQuota`).
            report.throttled += 1
            if let retryAfter { report.throttledFor = max(report.throttledFor ?? retryAfter, retryAfter) }
        case .service(let retryAfter) where !provider.speaksOfConnection(reason),
            .unavailable(let retryAfter) where !provider.speaksOfConnection(reason):
            report.health.failed += 1
            if isRepeated { report.health.repeated += 1 }
            if let retryAfter { report.health.retryAfter = min(report.health.retryAfter ?? retryAfter, retryAfter) }
            if report.health.failed == 1 {
                failureText = reason == "HTTP \(status)" ? "\(status)" : "\(status) \(reason)"
            }
        case .service, .unavailable, .transport, .unreachable, .held:
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

    private mutating func apply(_ outcome: PushOutcome, to row: inout LedgerRow, device: DeviceRow) {
        switch outcome {
        case .accepted:
            row.state = .accepted
            report.answers.accepted += 1
        case .rejected(let reason), .badToken(let reason):
            row.state = .rejected
            row.reason = reason
            refusals.add(reason, .refused)
            if case .badToken = outcome { badTokenReasons.insert(reason) }
        case .invalidToken(let reason, let since):
            apply(
                isPayloadTaken ? .unregistered(reason: reason, since: since) : .badToken(reason: reason), to: &row,
                device: device)
        case .unregistered(let reason, let since):
            row.state = .unregistered
            row.reason = reason
            report.answers.unregistered += 1
            refusals.add(reason, .unregistered)
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
                    after: .service(retryAfter: length), attempt: 1, random: random.unit())
            if pause.map({ $0.until < end }) ?? true { pause = (end, reason) }
            requeue(&row, reason, at: end)
        case .reconnect(let reason):
            report.reconnects += 1
            retry(&row, .transport, reason)
        case .fault(let reason, let fault):
            report.answers.faults += 1
            refusals.add(reason, .fault)
            faults[reason] = fault
            if fault.mayBeOfConnection, row.attempts < 2 {
                retry(&row, .transport, reason)
            } else {
                row.state = .rejected
                row.reason = reason
            }
        }
    }

    private mutating func retry(_ row: inout LedgerRow, _ cause: RetrySchedule.Cause, _ reason: String) {
        let delay = schedule.delay(
            after: cause, attempt: Int(max(1, row.attempts)), random: random.unit())
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

/// Why pushes were not taken, as far as that may be the credential's fault or that of all tokens.
struct Refusals {
    /// How often each reason was given.
    private var reasons: [CredentialBreaker.Cause: [String: Int]] = [:]

    func count(_ cause: CredentialBreaker.Cause) -> Int { reasons[cause]?.values.reduce(0, +) ?? 0 }

    /// The reason that was given most.
    func main(_ cause: CredentialBreaker.Cause) -> String? {
        reasons[cause]?.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    /// What is tried again where the breaker trips: a 410 is the service's last word on a token, unless all are 410.
    func reasons(recalledBy cause: CredentialBreaker.Cause) -> [String] {
        reasons.flatMap { $0.key == .unregistered && cause != .unregistered ? [] : Array($0.value.keys) }
    }

    mutating func add(_ reason: String, _ cause: CredentialBreaker.Cause) {
        reasons[cause, default: [:]][reason, default: 0] += 1
    }

    mutating func add(_ other: Refusals) {
        for (cause, counts) in other.reasons { reasons[cause, default: [:]].merge(counts, uniquingKeysWith: +) }
    }

    mutating func remove(_ reason: String, _ cause: CredentialBreaker.Cause) {
        reasons[cause]?[reason, default: 1] -= 1
    }
}
