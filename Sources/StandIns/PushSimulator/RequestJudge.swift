// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
import Threading
import WireFormat

/// An answer on its way to a client.
struct PushAnswer {
    var status: UInt16 = 200
    var reason: RejectionReason?
    /// Milliseconds since 1970; only for 410.
    var timestamp: Int64?
    /// Seconds.
    var retryAfter: Int?
    /// The fault of the script's shares that hit the request; nil where none did, or where the fault is the answer itself.
    var fault: RequestFault?
    /// Whether it answers a push; other answers do not count in the figures of pushes.
    var isPush = true
    /// Whether its body is a page for people.
    var isPage = false
}

/// Takes the requests of all connections, in the order in which they end: judges them, counts them, keeps the record. Belongs
/// to the loop's thread.
package final class RequestJudge {
    /// Milliseconds since 1970, set by the loop each time it wakes.
    var now: Int64 = 0
    var figures = SimulatorFigures()
    package let maximumStreams: Int
    /// The rules of the service.
    let rules: any ServiceRules
    /// The header fields that the rules read.
    let headers: KnownHeaders
    private(set) var goAwayReason: String
    private var datesRetryAfter = false
    private(set) var faults: FaultInjector
    private var hasFaults = false
    private var clockAhead: Int64 = 0
    private let service: ServiceKind
    private let keepsAccepted: Bool
    private var record: PushRecord?
    private var rejected: [RejectionReason: Int] = [:]
    private var accepted: [(token: UInt64, id: UInt64)] = []
    private var failure: String?
    private let ledger: SimulatorLedger
    private var isDirty = false
    /// Nil without shares: it costs a little for each push.
    private let witness: (any FaultWitness)?

    init(_ configuration: SimulatorConfiguration, place: SimulatorPlace, ledger: SimulatorLedger) throws {
        maximumStreams = configuration.maximumStreams
        goAwayReason = configuration.faults.goAwayReason
        service = configuration.service.kind
        headers = KnownHeaders(of: service)
        faults = FaultInjector(configuration.faults, service: service)
        keepsAccepted = configuration.keepsAccepted
        rules = configuration.service.rules(place)
        if let path = configuration.recordPath { record = try PushRecord(path: path) }
        self.ledger = ledger
        witness = configuration.faults.shares.isEmpty ? nil : configuration.witness
        play(configuration.faults)
    }

    /// Plays the script from the next request on, counted from 0 again.
    func play(_ script: FaultScript) {
        faults = FaultInjector(script, service: service)
        goAwayReason = script.goAwayReason
        hasFaults = script != FaultScript()
        clockAhead = script.clockAhead
        datesRetryAfter = script.retryAfterDate
        rules.scriptChanged()
    }

    /// Counts requests that are accepted without being looked at.
    package func countAccepted(_ count: Int, mostStreams: Int) {
        isDirty = true
        figures.requests += count
        figures.accepted += count
        figures.peakStreams = max(figures.peakStreams, mostStreams)
    }

    /// Nil: the stream must be refused.
    func answer(to slot: StreamSlot, credential: inout ConnectionCredential, connection: UInt64) -> PushAnswer? {
        isDirty = true
        rules.begin(slot)
        if let answer = rules.answerToOther(slot, now: now / 1000 + clockAhead, under: self) {
            figures.tokenRequests += 1
            if answer.status != 200 || answer.reason != nil { figures.tokenRefusals += 1 }
            figures.providerTokens = rules.credentials
            return answer
        }
        let answer = judged(slot, credential: &credential, connection: connection)
        if let answer { rules.writeBody(of: answer, into: slot) }
        return answer
    }

    private func judged(
        _ slot: StreamSlot, credential: inout ConnectionCredential, connection: UInt64
    ) -> PushAnswer? {
        var fault: RequestFault?
        if hasFaults {
            switch faults.requestArrived(now: now) {
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
        let verdict = rules.verdict(
            on: slot, credential: &credential, now: now / 1000 + clockAhead, under: self)
        figures.providerTokens = rules.credentials
        switch verdict {
        case .rejected(let reason): return reject(reason, fault: fault)
        case .each(let count):
            judgeEach(count, of: slot, connection: connection)
            return answer
        case .accepted, .validated: break
        }
        let token = hasFaults || keepsAccepted ? rules.target(0, of: slot) : 0
        if hasFaults, let (reason, retryAfter) = faults.tokenFault(hash: token) {
            return reject(reason, retryAfter: retryAfter, fault: fault)
        }
        if case .validated = verdict {
            figures.validated += 1
            return answer
        }
        accept(token, id: slot.idHash)
        keep(slot, connection: connection)
        return answer
    }

    /// Judges each target of a push that is valid. The push has one id; with a target it counts as another.
    private func judgeEach(_ count: Int, of slot: StreamSlot, connection: UInt64) {
        for place in 0..<count {
            let token = rules.target(place, of: slot)
            if hasFaults, let (reason, _) = faults.tokenFault(hash: token) {
                rejected[reason, default: 0] += 1
                slot.refusals.append((place, reason))
            } else {
                accept(token, id: slot.idHash ^ token)
            }
        }
        if slot.refusals.count < count { keep(slot, connection: connection) }
    }

    private func accept(_ token: UInt64, id: UInt64) {
        figures.accepted += 1
        if keepsAccepted { accepted.append((token, id)) }
    }

    /// Shows an accepted push to the witness, and puts it on record.
    private func keep(_ slot: StreamSlot, connection: UInt64) {
        witness?.accepted(slot.idHash, at: now)
        record?.add(payload: slot.payload, connection: connection, now: now) { rules.record(slot, into: &$0) }
    }

    /// The value of the header field, in the script's form (RFC 9110, 10.2.3).
    func retryAfterText(_ seconds: Int) -> [UInt8] {
        guard datesRetryAfter else { return Array(String(seconds).utf8) }
        // Rounded up: a client must not come back before the time.
        var (moment, parts) = (time_t((now + 999) / 1000) + min(seconds, 1 << 32), unsafe tm())
        _ = unsafe gmtime_r(&moment, &parts)
        var text = [CChar](repeating: 0, count: 64)
        // The names are English: nothing here calls setlocale(3).
        let count = unsafe strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return text.prefix(count).map { UInt8(bitPattern: $0) }
    }

    var hasWitness: Bool { witness != nil }

    /// Notes a fault of the script's shares: it hits the pushes of `slots`, and may have hit those of `doubts`.
    func note(_ fault: RequestFault, slots: [StreamSlot], doubts: [UInt64] = []) {
        witness?.happened(
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

    /// Puts the record on disk and the figures where other threads can read them. Must come before answers are written.
    func publish() {
        guard isDirty else { return }
        isDirty = false
        if let text = record?.flush() { failure = text }
        ledger.publish(figures, rejected: rejected, accepted: accepted, failure: failure)
        accepted.removeAll(keepingCapacity: true)
    }
}

/// The record of accepted pushes: one JSON object a line. Lines gather in memory and are written before the answers to their
/// pushes are, so that every push whose answer a client has seen is on record even if the client dies.
struct PushRecord: ~Copyable {
    private let file: Descriptor
    private var lines = JSONWriter()

    /// Appends to `path`; device tokens are in it, so only the owner may read it.
    init(path: String) throws {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC
        file = try unsafe Descriptor(open(path, flags, 0o600), or: "the record \(path) cannot be written")
    }

    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - own: writes the service's own members.
    mutating func add(payload: [UInt8], connection: UInt64, now: Int64, _ own: (inout JSONWriter) -> Void) {
        lines.object { line in
            line.member("at", Timestamp(milliseconds: now))
            line.name("connection")
            line.integer(Int64(connection))
            own(&line)
            line.name("payload")
            // Line breaks in valid JSON stand only between tokens, where a space does as well.
            line.raw(payload.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 })
        }
        lines.newLine()
    }

    /// Writes the lines that have gathered. Returns nil, or the reason why they could not be written; they are dropped then.
    mutating func flush() -> String? {
        guard !lines.bytes.isEmpty else { return nil }
        let worked = WholeFile.append(lines.bytes, to: file.number)
        let text = worked ? nil : SystemError("the record cannot be written", errno: errno).description
        lines.reset()
        return text
    }
}
