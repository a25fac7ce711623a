// SPDX-License-Identifier: Apache-2.0

/// Plays a fault script: given each request, it decides what goes wrong. Pure; one for the whole simulator.
struct FaultInjector {
    /// What a request meets before it is judged.
    enum Reception: Equatable {
        case judge
        /// RST_STREAM REFUSED_STREAM.
        case refuse
        /// An answer that has nothing to do with what the request holds.
        case reject(RejectionReason, retryAfter: Int?)
        /// One of the script's shares.
        case fault(RequestFault)
    }

    /// What happens to the connection once the request has been judged.
    enum Aftermath: Equatable {
        case nothing
        case goAway
        case cut
        case silence
        case setStreams(Int)
    }

    private let script: FaultScript
    private let lists: [UInt64: FaultScript.Fate]
    private let refusal: RejectionReason?
    private var requests = 0
    private var judged = 0
    private var goAwaysLeft: Int
    private var cutsLeft: Int
    private var silencesLeft: Int
    private var busyTries: [UInt64: Int] = [:]
    private var mix: FaultMix
    private var areStreamsLowered = false

    init(_ script: FaultScript) {
        self.script = script
        self.lists = script.hashedLists()
        self.refusal = script.refusals.flatMap { RejectionReason(rawValue: $0.reason) }
        self.goAwaysLeft = script.goAwayTimes ?? .max
        self.cutsLeft = script.cutTimes ?? .max
        self.silencesLeft = script.silentTimes ?? .max
        self.mix = FaultMix(script.shares, seed: script.sharesSeed)
    }

    mutating func requestArrived() -> Reception {
        requests += 1
        if let every = script.refuseEvery, requests % every == 0 { return .refuse }
        judged += 1
        if let burst = script.serviceErrors, judged > burst.afterN, judged - burst.afterN <= burst.count {
            return .reject(
                burst.status == 500 ? .internalServerError : .serviceUnavailable, retryAfter: burst.retryAfter)
        }
        if let run = script.refusals, let refusal, judged > run.afterN, judged - run.afterN <= run.count {
            return .reject(refusal, retryAfter: run.retryAfter)
        }
        if let fault = mix.next() { return .fault(fault) }
        return .judge
    }

    /// Seconds, for a refusal that is one of the shares.
    func retryAfter(_ reason: RejectionReason) -> Int? {
        reason.status >= 500 || reason == .tooManyProviderTokenUpdates ? script.sharedRetryAfter : nil
    }

    /// What one of the shares does to the connection.
    mutating func aftermath(of fault: RequestFault, usualStreams: Int) -> Aftermath {
        switch fault {
        case .cut: return .cut
        case .goAway: return .goAway
        case .silence: return .silence
        case .settings:
            areStreamsLowered.toggle()
            return .setStreams(areStreamsLowered ? script.sharedStreams : usualStreams)
        case .rejection, .refusedStream, .reset, .delay, .noAnswer: return .nothing
        }
    }

    /// Whether the key has been revoked by now.
    func isRevoked(keyID: String) -> Bool {
        script.revokedKey.map { $0.keyID == keyID && judged > $0.afterN } ?? false
    }

    /// For a request that is right in itself.
    mutating func tokenFault(hash: UInt64) -> RejectionReason? {
        switch script.fate(hash: hash, lists: lists) {
        case .healthy: return nil
        case .dead: return .unregistered
        case .bad: return .badDeviceToken
        case .otherTopic: return .deviceTokenNotForTopic
        case .busy:
            let tries = busyTries[hash, default: 0]
            guard tries < script.busyTries else { return nil }
            busyTries[hash] = tries + 1
            return .tooManyRequests
        }
    }

    /// `number` counts the connection's requests from 1.
    mutating func requestJudged(numberOnConnection number: Int) -> Aftermath {
        if number == script.cutAfter, cutsLeft > 0 {
            cutsLeft -= 1
            return .cut
        }
        if number == script.silentAfter, silencesLeft > 0 {
            silencesLeft -= 1
            return .silence
        }
        if number == script.goAwayAfter, goAwaysLeft > 0 {
            goAwaysLeft -= 1
            return .goAway
        }
        if let change = script.shrinkSettings, number == change.afterN { return .setStreams(change.to) }
        return .nothing
    }

    /// The 410's timestamp at `now`, both in milliseconds since 1970; nil where it has none.
    func deadSince(now: Int64) -> Int64? { script.deadWithoutTimestamp ? nil : script.deadSince ?? now }
}
