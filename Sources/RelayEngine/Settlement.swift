// SPDX-License-Identifier: Apache-2.0

/// What the answers of one batch come to: for each push, and beyond their own pushes for the campaign and the service. Pure:
/// outcomes in, results out; who sends and records them does as they say.
package struct Settlement: Sendable {
    /// A push whose answer is there.
    package struct Push: Sendable {
        package var device: Int64
        /// When the token that was pushed to had been registered.
        package var registeredAt: Timestamp
        /// Attempts in all, with this one.
        package var attempts: UInt16
        /// It failed before: what was put in line again untried is at its first try, and says nothing of a service's recovery.
        package var isRepeated: Bool

        package init(device: Int64, registeredAt: Timestamp, attempts: UInt16, isRepeated: Bool) {
            self.device = device
            self.registeredAt = registeredAt
            self.attempts = attempts
            self.isRepeated = isRepeated
        }
    }

    /// What is recorded of a push.
    package struct Result: Sendable, Equatable {
        package var state: DeliveryState
        /// The service's word; nil where it took the push.
        package var reason: String?
        /// Only for `.retrying`.
        package var nextAttemptAt: Timestamp?
    }

    /// What the other environment says to the tokens that this one calls bad.
    package struct SecondTries: Sendable {
        /// The pause that it wants.
        package fileprivate(set) var pause: (until: Timestamp, reason: String)?
        /// What it has against the credential; it stops nothing.
        package fileprivate(set) var fault: String?
        /// Those that say whether tokens live, and whom it calls dead: judged with what it says to its own.
        fileprivate var answers = 0
        fileprivate var unregistered = 0
        fileprivate var retirements: [TokenRetirement] = []
    }

    /// Retries are due at whole tenths of a second: those of a busy service go and are recorded together, not in a batch and a
    /// transaction each.
    private static let retryGrain = Duration.milliseconds(100)

    private let schedule = RetrySchedule()
    let expiresAt: Timestamp
    let now: Timestamp
    private let random: RandomSource
    private let connectionReasons: Set<String>

    /// The service has taken the campaign's payload for some device.
    package private(set) var isPayloadTaken: Bool

    package private(set) var retirements: [TokenRetirement] = []
    /// Pushes that the service did not take, as far as that may be the credential's fault or that of all tokens.
    package private(set) var refusals = Refusals()
    /// What each reason of a fault means.
    package private(set) var faults: [String: SendingFault] = [:]
    /// The reasons that another environment may not have.
    package private(set) var badTokenReasons: Set<String> = []
    /// Pushes that the other environment took: their devices are moved there, after `judgeMoves`.
    package private(set) var takenByOther: [Push] = []
    package private(set) var needsNewCredential = false
    package private(set) var pause: (until: Timestamp, reason: String)?
    package private(set) var secondTries = SecondTries()
    /// What the service's machine judges.
    package private(set) var report: BatchReport
    /// The first 5xx, such as "503 ServiceUnavailable".
    package private(set) var failureText = ""
    /// Pushes that failed before and met a quota now: they say nothing of the project's.
    private var throttledAgain = 0
    /// Pushes that the service itself answered, and not only a connection, but for those: what a quota is judged by.
    package var answered: Int { report.health.good + report.health.failed - throttledAgain }

    /// - Parameters:
    ///   - expiresAt: nothing is tried later: the end of the campaign's time to live.
    ///   - isPayloadTaken: as the batches before had it.
    ///   - connectionReasons: those of a 5xx that speak of the server behind one connection and not of the service.
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

    /// So many pushes were simply taken. Said first: what the service says of other tokens depends on it.
    package mutating func taken(_ count: Int) {
        guard count > 0 else { return }
        isPayloadTaken = true
        report.answers.accepted += count
        report.health.good += count
    }

    /// The service did not simply take a push.
    ///
    /// - Parameter status: of HTTP; 0 without an answer.
    package mutating func settle(_ outcome: PushOutcome, of push: Push, status: UInt16) -> Result {
        if case .retry(let cause, let reason) = outcome {
            noteRetry(cause, reason, status, isRepeated: push.isRepeated)
        } else {
            report.health.good += 1
        }
        return result(of: outcome, push)
    }

    /// What the other environment says to a token that this one called bad with `first`.
    ///
    /// It can only better that: what the other environment has against our credential, or against the token, or that it
    /// cannot be reached, leaves the token as bad as it was. One that waited for its turn there in vain is tried again.
    ///
    /// - Returns: what is recorded instead; nil: what was.
    package mutating func settleSecondTry(_ outcome: PushOutcome, of push: Push, first: String?) -> Result? {
        switch outcome {
        case .badToken, .invalidToken, .rejected, .retry(.unreachable, _):
            return nil
        case .fault(let reason, _), .reconnect(let reason):
            secondTries.fault = reason
            return nil
        case .accepted:
            takenByOther.append(push)
            secondTries.answers += 1
        case .unregistered:
            secondTries.answers += 1
            secondTries.unregistered += 1
        case .retry, .renewCredential, .pauseCredential:
            break
        }
        if let first {
            refusals.remove(first, .refused)
            report.answers.refused -= 1
        }
        return result(of: outcome, push, isSecondTry: true)
    }

    /// Keeps back what the batch would retire until the service's next answers have been seen, and retires instead what was kept
    /// back before.
    ///
    /// - Parameter takenNow: which of these devices the batch's pushes were taken for.
    package mutating func judgeTokens(
        by window: inout UnregisteredWindow<TokenRetirement>, limit: Double?, takenNow: (Set<Int64>) -> Set<Int64>
    ) {
        window.drop(\.device, of: takenNow)
        let answers = report.answers
        // A refusal says nothing of whether a 410 is to be believed: a service that calls all tokens bad and then all dead is as mad as one
        // that calls them dead from the first.
        let verdict = window.take(
            answers: answers.proven - secondTries.answers,
            unregistered: answers.unregistered - secondTries.unregistered,
            retirements: retirements, limit: limit)
        switch verdict {
        case .released(let released): retirements = released
        case .tripped(let trip): (retirements, report.unregistered) = ([], trip)
        }
    }

    /// The same for the tokens that the other environment calls dead, by what it has said of late. It stops nothing: where it is mad, its own
    /// batches will.
    package mutating func judgeOtherTokens(
        by window: inout UnregisteredWindow<TokenRetirement>, limit: Double?, takenNow: (Set<Int64>) -> Set<Int64>
    ) {
        window.drop(\.device, of: takenNow)
        let verdict = window.take(
            answers: secondTries.answers, unregistered: secondTries.unregistered, retirements: secondTries.retirements,
            limit: limit)
        if case .released(let released) = verdict { retirements += released }
    }

    /// The same for the devices that the other environment took: where nearly all are of that one, it is no single device's mistake,
    /// and they stay as they are registered.
    ///
    /// - Parameter takenNow: which of these devices the batch's pushes were taken for, by whichever environment.
    /// - Returns: what speaks against it.
    package mutating func judgeMoves(
        by window: inout UnregisteredWindow<Push>, takenNow: (Set<Int64>) -> Set<Int64>
    ) -> CredentialBreaker.Trip? {
        let takenThere = takenByOther.map(\.device)
        window.drop(\.device) { takenNow($0).subtracting(takenThere) }
        let answers = report.answers
        let verdict = window.take(
            answers: answers.proven + answers.refused, unregistered: takenByOther.count, retirements: takenByOther,
            limit: Self.shareThatMoves)
        switch verdict {
        case .released(let released): takenByOther = released
        case .tripped(let trip):
            takenByOther = []
            return trip
        }
        return nil
    }

    /// Of an app's tokens at most: builds of its developers are few.
    private static let shareThatMoves = 0.5

    /// The tokens stay: that they are called unregistered is in doubt.
    package mutating func keepTokens() { retirements.removeAll() }

    private mutating func noteRetry(
        _ cause: RetrySchedule.Cause, _ reason: String, _ status: UInt16, isRepeated: Bool
    ) {
        switch cause {
        case .tooManyRequests:
            // The service is at work: it counts the pushes to each device.
            report.health.good += 1
        case .quota(let retryAfter):
            // Of the project or of one device: the project's quota judges (`ProjectQuota`).
            report.health.good += 1
            // Those that were busy before come back together, and a probe may be nothing else: what first tries meet
            // tells whether it is the project's.
            guard !isRepeated else {
                throttledAgain += 1
                return
            }
            report.throttled += 1
            if let retryAfter { report.throttledFor = max(report.throttledFor ?? retryAfter, retryAfter) }
        case .service(let retryAfter) where !connectionReasons.contains(reason),
            .unavailable(let retryAfter) where !connectionReasons.contains(reason):
            report.health.failed += 1
            if isRepeated { report.health.repeated += 1 }
            if let retryAfter { report.health.retryAfter = min(report.health.retryAfter ?? retryAfter, retryAfter) }
            if report.health.failed == 1 {
                failureText = reason == "HTTP \(status)" ? "\(status)" : "\(status) \(reason)"
            }
        case .service, .unavailable, .transport, .unreachable, .notSent:
            // Nothing that the service itself said.
            break
        }
    }

    private mutating func result(of outcome: PushOutcome, _ push: Push, isSecondTry: Bool = false) -> Result {
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
        // What nothing is wrong with goes at once.
        return requeue(reason, at: delay > .zero ? (now + delay).roundedUp(to: Self.retryGrain) : now)
    }

    private func requeue(_ reason: String, at time: Timestamp) -> Result {
        time >= expiresAt
            ? Result(state: .expired, reason: reason)
            : Result(state: .retrying, reason: reason, nextAttemptAt: time)
    }
}
