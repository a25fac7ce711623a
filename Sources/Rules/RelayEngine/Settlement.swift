// SPDX-License-Identifier: Apache-2.0

/// The results of one batch's answers: for each push, and beyond that for the campaign and the service. Pure: outcomes in,
/// results out; the caller sends, records and acts on them.
package struct Settlement: Sendable {
    /// A push that has its answer.
    package struct Push: Sendable {
        package var device: Int64
        /// When the token was registered, as read for the push.
        package var registeredAt: Timestamp
        /// Attempts in all, this one included.
        package var attempts: UInt16
        /// Whether it failed before. A push that was put in line again, and not tried since, is at its first try.
        package var isRepeated: Bool

        package init(device: Int64, registeredAt: Timestamp, attempts: UInt16, isRepeated: Bool) {
            self.device = device
            self.registeredAt = registeredAt
            self.attempts = attempts
            self.isRepeated = isRepeated
        }
    }

    /// The record of a push.
    package struct Result: Sendable, Equatable {
        package var state: DeliveryState
        /// The service's reason; nil where it took the push.
        package var reason: String?
        /// Only for `.retrying`.
        package var nextAttemptAt: Timestamp?
    }

    /// Retries are due at whole tenths of a second, so that those of a busy service go and are recorded together, not in a
    /// batch and a transaction each.
    private static let retryGrain = Duration.milliseconds(100)

    private let schedule = RetrySchedule()
    let expiresAt: Timestamp
    let now: Timestamp
    private let random: RandomSource
    private let connectionReasons: Set<String>

    /// Whether the service has accepted the campaign's payload for some device.
    package private(set) var isPayloadTaken: Bool

    package internal(set) var retirements: [TokenRetirement] = []
    /// Refused pushes for which the credential, or all tokens, may be at fault.
    package internal(set) var refusals = Refusals()
    /// The fault behind each reason.
    package private(set) var faults: [String: SendingFault] = [:]
    /// The reasons for which this environment refused pushes that the other may accept.
    package private(set) var badTokenReasons: Set<String> = []
    package private(set) var needsNewCredential = false
    package private(set) var pause: (until: Timestamp, reason: String)?
    package internal(set) var secondTries = SecondTries()
    /// The part that the service's machine judges.
    package internal(set) var report: BatchReport
    /// The first 5xx, such as "503 ServiceUnavailable".
    package private(set) var failureText = ""
    /// Pushes that failed before and met a quota now: they show nothing about the project's quota.
    private var throttledAgain = 0
    /// Answers of the service itself, not only of a connection, without `throttledAgain`: a quota is judged by them.
    package var answered: Int { report.health.good + report.health.failed - throttledAgain }

    /// - Parameters:
    ///   - expiresAt: the end of the campaign's time to live: nothing is tried later.
    ///   - isPayloadTaken: the value after the earlier batches.
    ///   - connectionReasons: the reasons of a 5xx that blame the server behind one connection, not the service.
    package init(
        tag: Int, expiresAt: Timestamp, isPayloadTaken: Bool = false, connectionReasons: Set<String> = [],
        now: Timestamp, random: RandomSource = .system
    ) {
        self.isPayloadTaken = isPayloadTaken
        self.connectionReasons = connectionReasons
        self.expiresAt = expiresAt
        self.now = now
        self.random = random
        report = BatchReport(tag: tag)
    }

    /// Notes `count` pushes that were simply accepted. Must be called first: the results of other tokens depend on it.
    ///
    /// - Parameter requests: how many requests carried them. Each answer counts once for the service's health.
    package mutating func taken(_ count: Int, by requests: Int) {
        guard count > 0 else { return }
        isPayloadTaken = true
        report.answers.accepted += count
        report.health.good += requests
    }

    /// Settles a push that the service did not simply take.
    ///
    /// - Parameters:
    ///   - status: the HTTP status; 0 without an answer.
    ///   - isOfKnownAnswer: whether its request's answer was counted for the service's health before, with another push.
    package mutating func settle(
        _ outcome: PushOutcome, of push: Push, status: UInt16, isOfKnownAnswer: Bool = false
    ) -> Result {
        if isOfKnownAnswer { return result(of: outcome, push) }
        if case .retry(let cause, let reason) = outcome {
            noteRetry(cause, reason, status, isRepeated: push.isRepeated)
        } else {
            report.health.good += 1
        }
        return result(of: outcome, push)
    }

    /// Keeps the batch's retirements back until the service's next answers have been seen, and retires those that were kept
    /// back before.
    ///
    /// - Parameter takenNow: returns which of these devices the batch's pushes were taken for.
    package mutating func judgeTokens(
        by window: inout UnregisteredWindow<TokenRetirement>, limit: Double?, takenNow: (Set<Int64>) -> Set<Int64>
    ) {
        window.drop(\.device, of: takenNow)
        let answers = report.answers
        // A refusal is no evidence about a 410: a service that calls all tokens bad and then all dead is as wrong as one that
        // calls them dead from the first.
        let verdict = window.take(
            answers: answers.proven - secondTries.answers,
            unregistered: answers.unregistered - secondTries.unregistered,
            retirements: retirements, limit: limit)
        switch verdict {
        case .released(let released): retirements = released
        case .tripped(let trip): (retirements, report.unregistered) = ([], trip)
        }
    }

    /// The tokens stay: it is doubtful that they are unregistered.
    package mutating func keepTokens() { retirements.removeAll() }

    private mutating func noteRetry(
        _ cause: RetrySchedule.Cause, _ reason: String, _ status: UInt16, isRepeated: Bool
    ) {
        switch cause {
        case .tooManyRequests:
            // The service is at work: it counts the pushes to each device.
            report.health.good += 1
        case .quota(_, let retryAfter):
            // About the project or about one device: the project's quota judges (`ProjectQuota`).
            report.health.good += 1
            // Devices that were busy before come back together, and may make up a whole probe: only first tries show whether
            // it is the project's quota.
            guard !isRepeated else {
                throttledAgain += 1
                return
            }
            report.throttled += 1
            if let retryAfter { report.throttledFor = max(report.throttledFor ?? retryAfter, retryAfter) }
        case .service(let retryAfter) where !connectionReasons.contains(reason),
            .unavailable(_, let retryAfter) where !connectionReasons.contains(reason):
            report.health.failed += 1
            if isRepeated { report.health.repeated += 1 }
            if let retryAfter { report.health.retryAfter = min(report.health.retryAfter ?? retryAfter, retryAfter) }
            if report.health.failed == 1 {
                failureText = reason == "HTTP \(status)" ? "\(status)" : "\(status) \(reason)"
            }
        case .service, .unavailable, .transport, .unreachable, .notSent:
            // Not an answer of the service itself.
            break
        }
    }

    mutating func result(of outcome: PushOutcome, _ push: Push, isSecondTry: Bool = false) -> Result {
        switch outcome {
        case .accepted:
            report.answers.accepted += 1
            return Result(state: .accepted)
        case .rejected(let reason), .badToken(let reason):
            report.answers.refused += 1
            refusals.add(reason, .refused)
            if case .badToken = outcome { badTokenReasons.insert(reason) }
            return Result(state: .rejected, reason: reason)
        case .invalidToken(let reason, let since):
            return result(
                of: isPayloadTaken ? .unregistered(reason: reason, since: since) : .badToken(reason: reason), push)
        case .unregistered(let reason, let since):
            report.answers.unregistered += 1
            refusals.add(reason, .unregistered)
            if let since {
                let retirement = TokenRetirement(
                    device: push.device, deadSince: since, registeredAt: push.registeredAt)
                if isSecondTry { secondTries.retirements.append(retirement) } else { retirements.append(retirement) }
            }
            return Result(state: .unregistered, reason: reason)
        case .retry(let cause, let reason):
            return retry(push, cause, reason)
        case .renewCredential(let reason):
            needsNewCredential = true
            return requeue(reason, at: now)
        case .pauseCredential(let length, let reason):
            let length = min(length, ProviderTokenMachine.longestPause)
            let end = now + schedule.delay(after: .service(retryAfter: length), attempt: 1, random: random.unit())
            let known = isSecondTry ? secondTries.pause : pause
            if known.map({ $0.until < end }) ?? true {
                if isSecondTry { secondTries.pause = (end, reason) } else { pause = (end, reason) }
            }
            return requeue(reason, at: end)
        case .reconnect(let reason):
            report.reconnects += 1
            return retry(push, .transport, reason)
        case .fault(let reason, let fault):
            report.answers.faults += 1
            refusals.add(reason, .fault)
            faults[reason] = fault
            if fault.mayBeOfConnection, push.attempts < 2 { return retry(push, .transport, reason) }
            return Result(state: .rejected, reason: reason)
        }
    }

    private func retry(_ push: Push, _ cause: RetrySchedule.Cause, _ reason: String) -> Result {
        let delay = schedule.delay(after: cause, attempt: Int(max(1, push.attempts)), random: random.unit())
        // A push that nothing is wrong with goes at once.
        return requeue(reason, at: delay > .zero ? (now + delay).roundedUp(to: Self.retryGrain) : now)
    }

    private func requeue(_ reason: String, at time: Timestamp) -> Result {
        time >= expiresAt
            ? Result(state: .expired, reason: reason)
            : Result(state: .retrying, reason: reason, nextAttemptAt: time)
    }
}
