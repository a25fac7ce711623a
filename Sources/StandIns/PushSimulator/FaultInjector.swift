// SPDX-License-Identifier: Apache-2.0

/// Plays a fault script: decides what goes wrong with each request. Pure; one for the whole simulator.
struct FaultInjector {
    /// The treatment of a request before it is judged.
    enum Reception: Equatable {
        case judge
        /// RST_STREAM REFUSED_STREAM.
        case refuse
        /// An answer that does not depend on the request's content.
        case reject(RejectionReason, retryAfter: Int?)
        /// A fault of the script's shares.
        case fault(RequestFault)
    }

    /// The effect on the connection once the request has been judged.
    enum Aftermath: Equatable {
        case nothing
        case goAway
        case cut(FaultScript.Cut)
        case silence
        case setStreams(Int)
    }

    private let script: FaultScript
    private let words: ServiceWords
    private let lists: [UInt64: FaultScript.Fate]
    private let refusal: RejectionReason?
    private var requests = 0
    private(set) var judged = 0
    /// The quota's present window: when it began, in milliseconds since 1970, and the number of requests in it.
    private var quotaWindow: (start: Int64, requests: Int) = (.min, 0)
    private var goAwaysLeft: Int
    private var cutsLeft: Int
    private var silencesLeft: Int
    private var busyTries: [UInt64: Int] = [:]
    private var mix: FaultMix
    private var areStreamsLowered = false

    init(_ script: FaultScript, service: ServiceKind) {
        let script = script.inWords(of: service)
        self.script = script
        self.words = service.words
        self.lists = script.hashedLists()
        self.refusal = script.refusals.flatMap { service.reason($0.reason) }
        self.goAwaysLeft = script.goAwayTimes ?? .max
        self.cutsLeft = script.cutTimes ?? .max
        self.silencesLeft = script.silentTimes ?? .max
        self.mix = FaultMix(script.shares, seed: script.sharesSeed)
    }

    /// - Parameter now: milliseconds since 1970.
    mutating func requestArrived(now: Int64) -> Reception {
        requests += 1
        if let every = script.refuseEvery, requests % every == 0 { return .refuse }
        judged += 1
        if let burst = script.serviceErrors, judged > burst.afterN, judged - burst.afterN <= burst.count {
            return .reject(
                burst.status == 500 ? words.internalError : words.unavailable, retryAfter: burst.retryAfter)
        }
        if let run = script.refusals, let refusal, judged > run.afterN, judged - run.afterN <= run.count {
            return .reject(refusal, retryAfter: run.retryAfter)
        }
        if let quota = script.quota, exceeds(quota, now: now) {
            return .reject(words.tooMany, retryAfter: quota.retryAfter)
        }
        if let fault = mix.next() { return .fault(fault) }
        return .judge
    }

    /// Whether the request exceeds the quota. If so, the request does not count towards the quota: 429 is the only 4xx that
    /// does not count (PROTOCOLS 2.4).
    private mutating func exceeds(_ quota: FaultScript.Quota, now: Int64) -> Bool {
        if quotaWindow.start == .min || now - quotaWindow.start >= Int64(quota.seconds ?? 60) * 1000 {
            quotaWindow = (now, 0)
        }
        guard quotaWindow.requests < quota.requests else { return true }
        quotaWindow.requests += 1
        return false
    }

    /// The seconds of `retry-after` for a refusal by `shares` or `tokenReasons`; nil: none.
    func retryAfter(_ reason: RejectionReason) -> Int? {
        reason.takesRetryAfter ? script.sharedRetryAfter : nil
    }

    /// The effect of a fault of the shares on the connection.
    mutating func aftermath(of fault: RequestFault, usualStreams: Int) -> Aftermath {
        switch fault {
        case .cut: return .cut(script.cutBy)
        case .goAway: return .goAway
        case .silence: return .silence
        case .settings:
            areStreamsLowered.toggle()
            return .setStreams(areStreamsLowered ? script.sharedStreams : usualStreams)
        case .rejection, .refusedStream, .reset, .delay, .noAnswer: return .nothing
        }
    }

    /// Whether the key has been revoked already.
    func isRevoked(keyID: String) -> Bool {
        script.revokedKey.map { $0.keyID == keyID && judged > $0.afterN } ?? false
    }

    /// Whether access that was given after `judgedThen` judged requests has been revoked already.
    func isAccessRevoked(since judgedThen: Int) -> Bool {
        script.accessRevokedAfter.map { judgedThen <= $0 && judged > $0 } ?? false
    }

    /// The scripted answer to a request for an access token, whatever its content, after `earlier` such requests.
    func tokenEndpointFault(after earlier: Int) -> FaultScript.TokenEndpointFault? {
        guard let fault = script.tokenEndpoint else { return nil }
        let place = earlier - (fault.afterN ?? 0)
        return place >= 0 && place < fault.count ?? .max ? fault : nil
    }

    /// The fault for a request that is valid, with the seconds of its `retry-after`; nil: none.
    mutating func tokenFault(hash: UInt64) -> (RejectionReason, retryAfter: Int?)? {
        switch script.fate(hash: hash, lists: lists) {
        case .healthy: return nil
        case .dead: return (words.deadToken, nil)
        case .bad: return (words.badToken, nil)
        case .otherTopic: return (words.foreignToken, nil)
        case .refused(let reason): return (reason, retryAfter(reason))
        case .busy:
            let tries = busyTries[hash, default: 0]
            guard tries < script.busyTries else { return nil }
            busyTries[hash] = tries + 1
            return (words.tooMany, script.busyRetryAfter)
        }
    }

    /// Requests of the connection are counted from 1.
    mutating func requestJudged(numberOnConnection number: Int) -> Aftermath {
        if number == script.cutAfter, cutsLeft > 0 {
            cutsLeft -= 1
            return .cut(script.cutBy)
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
