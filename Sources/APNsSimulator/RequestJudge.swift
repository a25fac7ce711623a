// SPDX-License-Identifier: Apache-2.0

/// An answer on its way to a client.
struct PushAnswer {
    var status: UInt16 = 200
    var reason: RejectionReason?
    /// Milliseconds since 1970; only for 410.
    var timestamp: Int64?
    /// Seconds.
    var retryAfter: Int?
    /// One of the script's shares, where it did not decide the answer itself.
    var fault: RequestFault?
}

/// Takes the requests of all connections, in the order they end: judges them, counts them, keeps the record. Belongs to
/// the loop's thread.
final class RequestJudge {
    /// Milliseconds since 1970, set by the loop each time it wakes.
    var now: Int64 = 0
    var figures = SimulatorFigures()
    let maximumStreams: Int
    private(set) var goAwayReason: String
    private(set) var faults: FaultInjector
    private var hasFaults = false
    private var clockAhead: Int64 = 0
    private let keepsAccepted: Bool
    private var check: RequestCheck
    private var record: PushRecord?
    private var rejected: [RejectionReason: Int] = [:]
    private var accepted: [(token: UInt64, id: UInt64)] = []
    private var failure: String?
    private let ledger: SimulatorLedger
    private var isDirty = false
    /// Nil without shares: it costs a little for each push.
    private let journal: FaultJournal?

    init(_ configuration: SimulatorConfiguration, ledger: SimulatorLedger, journal: FaultJournal) throws {
        maximumStreams = configuration.maximumStreams
        goAwayReason = configuration.faults.goAwayReason
        faults = FaultInjector(configuration.faults)
        keepsAccepted = configuration.keepsAccepted
        check = RequestCheck(
            topics: configuration.topics, teamID: configuration.teamID, keys: configuration.keys,
            world: configuration.world)
        if let path = configuration.recordPath { record = try PushRecord(path: path) }
        self.ledger = ledger
        self.journal = configuration.faults.shares.isEmpty ? nil : journal
        play(configuration.faults)
    }

    /// From the next request on, counted from 0 again.
    func play(_ script: FaultScript) {
        faults = FaultInjector(script)
        goAwayReason = script.goAwayReason
        hasFaults = script != FaultScript()
        clockAhead = script.clockAhead
    }

    /// Bare mode: requests that nobody looks at.
    func countAccepted(_ count: Int, mostStreams: Int) {
        isDirty = true
        figures.requests += count
        figures.accepted += count
        figures.peakStreams = max(figures.peakStreams, mostStreams)
    }

    /// Nil: refuse the stream.
    func answer(to slot: StreamSlot, credential: inout ConnectionCredential, connection: UInt64) -> PushAnswer? {
        isDirty = true
        // Before anything looks at it, so that all that is noted of the push has the id that its answer gives.
        slot.ensureID()
        var fault: RequestFault?
        if hasFaults {
            switch faults.requestArrived() {
            case .judge: break
            case .fault(.refusedStream):
                figures.refused += 1
                note(.refusedStream, slots: [slot])
                return nil
            case .fault(.rejection(let reason)):
                figures.requests += 1
                note(.rejection(reason), slots: [slot])
                return reject(reason, retryAfter: faults.retryAfter(reason))
            case .fault(let other):
                fault = other
            case .refuse:
                figures.refused += 1
                return nil
            case .reject(let reason, let retryAfter):
                figures.requests += 1
                return reject(reason, retryAfter: retryAfter)
            }
        }
        figures.requests += 1
        var answer = PushAnswer()
        answer.fault = fault
        let verdict = check.judge(
            slot.headers, payload: slot.payload, payloadSize: slot.payloadSize, credential: &credential,
            now: now / 1000 + clockAhead)
        figures.providerTokens = check.providerTokens
        if case .rejected(let reason) = verdict { return reject(reason, fault: fault) }
        if hasFaults, let keyID = credential.current?.keyID, faults.isRevoked(keyID: keyID) {
            return reject(.invalidProviderToken, fault: fault)
        }
        let token = hasFaults || keepsAccepted ? ShortHash.ofToken(slot.headers.deviceToken ?? []) : 0
        if hasFaults, let reason = faults.tokenFault(hash: token) { return reject(reason, fault: fault) }
        figures.accepted += 1
        if keepsAccepted { accepted.append((token, slot.idHash)) }
        journal?.accepted(slot.idHash, at: now)
        record?.add(
            slot.headers, id: String(decoding: slot.id, as: UTF8.self), payload: slot.payload, connection: connection,
            now: now)
        return answer
    }

    var keepsJournal: Bool { journal != nil }

    /// Notes one of the script's shares, with the pushes that it hits, those of `slots`, and those that it may have hit.
    func note(_ fault: RequestFault, slots: [StreamSlot], doubts: [UInt64] = []) {
        journal?.happened(
            fault, to: slots.map { ($0.idHash, $0.isJudged && $0.answer.reason == nil) }, doubts: doubts, at: now)
    }

    func aftermath(of answer: PushAnswer, numberOnConnection number: Int) -> FaultInjector.Aftermath {
        guard hasFaults else { return .nothing }
        let scripted = faults.requestJudged(numberOnConnection: number)
        guard scripted == .nothing, let fault = answer.fault else { return scripted }
        return faults.aftermath(of: fault, usualStreams: maximumStreams)
    }

    private func reject(
        _ reason: RejectionReason, retryAfter: Int? = nil, fault: RequestFault? = nil
    ) -> PushAnswer {
        rejected[reason, default: 0] += 1
        let timestamp = reason.status == 410 ? faults.deadSince(now: now) : nil
        return PushAnswer(
            status: reason.status, reason: reason, timestamp: timestamp, retryAfter: retryAfter, fault: fault)
    }

    func connectionOpened() {
        isDirty = true
        figures.connectionsOpened += 1
        figures.connectionsOpen += 1
    }

    func connectionClosed() {
        isDirty = true
        figures.connectionsOpen -= 1
    }

    /// Puts the record on disk and the figures where others can read them. Has to come before answers are written.
    func publish() {
        guard isDirty else { return }
        isDirty = false
        if let text = record?.flush() { failure = text }
        ledger.publish(figures, rejected: rejected, accepted: accepted, failure: failure)
        accepted.removeAll(keepingCapacity: true)
    }
}
