// SPDX-License-Identifier: Apache-2.0

/// The ledger's row of each device, against the answers and the states of the device.
extension Model {
    /// The time in which a device is read, its batch waits for its turn, and is recorded after the last answer.
    static let batchGrace: Int64 = 150_000

    /// Notes an answer whose batch is being recorded.
    ///
    /// - Parameters:
    ///   - isOneOfTwo: whether the app's tokens are also tried in the other environment.
    ///   - isSure: whether the answer is surely recorded.
    mutating func learn(_ answer: LedgerAnswer, of campaign: String, isOneOfTwo: Bool, isSure: Bool = true) {
        if isSure {
            ledgers[campaign, default: [:]][answer.device, default: LedgerEntry()]
                .take(answer, isOneOfTwo: isOneOfTwo)
        } else {
            ledgers[campaign, default: [:]][answer.device, default: LedgerEntry()]
                .mayTake(answer, isOneOfTwo: isOneOfTwo)
        }
    }

    /// Another program has deleted a device's row: its answers no longer belong to any device.
    mutating func forget(device: Int64) {
        for campaign in ledgers.keys { ledgers[campaign]?[device] = nil }
    }

    /// Judges the listed deliveries of a campaign.
    mutating func tells(_ ledger: ToldLedger) {
        let id = ledger.campaign.id
        var entries = ledgers[id] ?? [:]
        var listed: Set<Int64> = []
        for row in ledger.rows {
            listed.insert(row.device)
            let entry = entries[row.device] ?? LedgerEntry()
            // For a campaign that another relay owned it is unknown which answers were recorded.
            if ledger.wasFenced {
                if row.state == "filtered", let text = faultOfReason(row, ledger) { broke("ledger.leftOut", text) }
                continue
            }
            var fault = fault(in: row, entry, ledger)
            if !entry.perhaps.isEmpty {
                let fitting = entry.either.filter { self.fault(in: row, $0, ledger) == nil }
                if !fitting.isEmpty { fault = nil }
                // A push that never left changes no row of a campaign that is over. So it stays unknown whether it was recorded,
                // and whether the device has its own row; a removed device is listed only if it has one.
                let mayHaveNone = fitting.count > 1 && fitting.contains { $0.last.isEmpty }
                // A row of a campaign that is over shows no reason: the one with as many attempts is it.
                let known = fitting.first { $0.attempts == row.attempts } ?? fitting.first ?? entry.either[0]
                if !mayHaveNone { entries[row.device] = known }
            }
            if row.state == "pending" { entries[row.device] = nil }
            if let fault {
                broke(
                    fault.rule,
                    "device \(row.device) (\(row.token)) of campaign \(id) is \(row.state)"
                        + (row.reason.map { " (\($0))" } ?? "") + " after \(row.attempts) attempts: \(fault.text)")
            }
        }
        // A user whom a canary no longer names, for example after an erasure, is queued anew when all other users are.
        if announcement(of: id)?.mayHaveCanary == true { entries = entries.filter { listed.contains($0.key) } }
        if ledger.isWhole, !ledger.wasFenced,
            let missing = entries.first(where: { !$1.last.isEmpty && !listed.contains($0) })?.key
        {
            broke("ledger.answer", "device \(missing) of campaign \(id) has had an answer and is not listed")
        }
        ledgers[id] = entries
        if ledger.isWhole { judgeSums(ledger) }
    }

    // MARK: One device

    private typealias Fault = (rule: String, text: String)

    private func fault(in row: ToldDelivery, _ entry: LedgerEntry, _ ledger: ToldLedger) -> Fault? {
        let said = entry.last.last.map { "\($0.reason ?? "taken")" } ?? "nothing"
        func wrong(_ text: String) -> Fault { ("ledger.answer", "\(text); its service said \(said)") }
        let isSentAgain = ledger.campaign.reminders + ledger.campaign.retries > 0
        // A push that the other environment might accept is not refused for good: the campaign may end before that one is asked. Nor is
        // a token dead whose service was stopped because it called nearly all dead: the campaign may end before that one is well.
        let mayGoOn: [LedgerAnswer.Verdict] =
            (ledger.hasTwoServices ? [.refused] : []) + (ledger.wasStoppedInPart ? [.dead] : [])
        let isAnswered = entry.last.last.map { $0.isFinal && !mayGoOn.contains($0.verdict) } ?? false
        // A push whose token is called dead as nearly all are is put back in line, and ends with its campaign if that ended before.
        let mayEndUnanswered = ledger.calledManyDead && entry.last.last?.verdict == .dead
        switch row.state {
        case "pending":
            if ledger.campaign.isOver { return ("ledger.ended", "its campaign is \(ledger.campaign.state)") }
            // A user whom a canary no longer names waits for the turn of all other users, whatever the earlier answers.
            let isOfCanary = announcement(of: ledger.campaign.id)?.mayHaveCanary == true
            // A push that never left has had no turn, whatever came of the batch that it was read for.
            let hadNoTurn = entry.last.allSatisfy { $0.attempts == 0 }
            return hadNoTurn || isOfCanary && !entry.wasTaken ? nil : wrong("it waits for its first turn")
        case "accepted":
            let isNotified = entry.last.contains { $0.verdict == .taken } || ledger.campaign.reminders > 0
            guard entry.wasTaken, isNotified, row.reason == nil else { return wrong("nobody took it") }
        case "unregistered":
            guard entry.last.contains(where: { $0.verdict == .dead && $0.reason == row.reason }) else {
                return wrong("nobody called it dead")
            }
        case "rejected":
            guard entry.last.contains(where: { $0.isRefusal && $0.reason == row.reason }) else {
                return wrong("nobody refused it so")
            }
        case "retrying":
            if ledger.campaign.isOver { return ("ledger.ended", "its campaign is \(ledger.campaign.state)") }
            if let fault = faultOfRetry(row, entry, ledger) { return fault }
        case "filtered":
            if isAnswered, !isSentAgain, !ledger.isStirred { return wrong("it had its answer") }
            if let text = faultOfReason(row, ledger) { return ("ledger.leftOut", text) }
        case "expired":
            // The time to live begins anew with each wave, and where the campaign is sent again.
            let countsOnce = !isSentAgain && !ledger.isStirred && ledger.campaign.waves == 0
            if let end = ledger.expiresAt, end - now > 5 * 3_600_000, countsOnce,
                announcement(of: ledger.campaign.id)?.mayHaveCanary != true
            {
                return ("ledger.ended", "its time is not over for \((end - now) / 1000) s")
            }
            if isAnswered, !mayEndUnanswered, !isSentAgain, !ledger.isStirred { return wrong("it had its answer") }
        case "cancelled":
            guard ["cancelled", "superseded"].contains(ledger.campaign.state) || isSentAgain || ledger.isStirred else {
                return ("ledger.ended", "its campaign is \(ledger.campaign.state)")
            }
            if isAnswered, !mayEndUnanswered, !isSentAgain, !ledger.isStirred { return wrong("it had its answer") }
        default: return ("ledger.answer", "no guide knows that state")
        }
        // A reminder that is dropped takes its attempts with it. A device that the canary no longer names loses its row, and gets a
        // new one when all others get theirs.
        let mayCountLess = ledger.campaign.reminders > 0 || announcement(of: ledger.campaign.id)?.mayHaveCanary == true
        if row.attempts > entry.attempts || row.attempts < entry.attempts && !mayCountLess {
            return ("ledger.attempts", "\(entry.attempts) were made")
        }
        return faultOfUser(row, entry)
    }

    private func faultOfRetry(_ row: ToldDelivery, _ entry: LedgerEntry, _ ledger: ToldLedger) -> Fault? {
        guard let reason = row.reason else {
            // A canary's devices are queued before anything is sent.
            let isOfCanary = row.attempts == 0 && announcement(of: ledger.campaign.id)?.mayHaveCanary == true
            return ledger.campaign.reminders + ledger.campaign.retries > 0 || isOfCanary
                ? nil : ("ledger.answer", "nobody has it sent again, and nothing says why")
        }
        guard let answer = entry.last.last(where: { $0.reason == reason }) else {
            // Its environment, or its user, has changed.
            if reason == "NotSent", ledger.hasTwoServices || ledger.campaign.waves > 0 { return nil }
            let said = entry.last.last.map { "\($0.reason ?? "taken")" } ?? "nothing"
            return ("ledger.answer", "its service said \(said)")
        }
        switch answer.verdict {
        case .taken, .postponed: return nil
        case .dead where ledger.calledManyDead && ledger.expiresAt.map { $0 <= now } ?? true:
            // Its campaign's time to live is over: nothing stops it any more, and the push expires at the next look.
            return nil
        case .dead, .refused:
            return ledger.isStirred || ledger.hasTwoServices
                ? nil : ("ledger.answer", "its service has refused it, and nothing has stopped its campaign")
        case .fault(let isTriedAgain):
            return isTriedAgain && row.attempts < 2 || ledger.isStirred || ledger.hasTwoServices
                ? nil : ("ledger.answer", "its service has refused it, and nothing has stopped its campaign")
        case .failed(let first, let most):
            guard !ledger.isStirred, !ledger.wasDiskFailing, let next = row.nextAt, let updated = row.updatedAt else {
                return nil
            }
            var wait = first * 1000
            for _ in 1..<max(row.attempts, 1) where wait < most * 1000 { wait *= 2 }
            wait = min(wait, most * 1000)
            if next < answer.time + wait {
                return ("ledger.retry", "it is tried again \(next - answer.time) ms after its answer, before \(wait)")
            }
            if next > updated + wait + wait / 4 + 1_000 {
                return ("ledger.retry", "it is tried again \(next - updated) ms later, and not after \(wait)")
            }
            return nil
        }
    }

    /// A push's user stays in the ledger until the user is erased.
    private func faultOfUser(_ row: ToldDelivery, _ entry: LedgerEntry) -> Fault? {
        if let user = row.user, let since = erased[user], now - since > Self.batchGrace {
            return ("ledger.user", "it names user \(user), who was erased \(ago(since))")
        }
        // A push that did not leave names the user that it was read for, whichever user had the earlier ones.
        let isUnsent = ["filtered", "retrying"].contains(row.state) || row.reason == "NotSent"
        // A reminder that fails, or whose service wants a pause, changes nothing: the row names the user whose push was taken.
        let isOfBefore = row.state == "accepted" && entry.last.last?.verdict != .taken
        guard let last = isOfBefore ? entry.taken : entry.last.last, row.attempts > 0, !isUnsent else { return nil }
        if let user = row.user, user != last.user {
            return ("ledger.user", "it names user \(user), and the push was for \(last.user ?? -1)")
        }
        if row.user == nil, let user = last.user, !everErased.contains(user) {
            return ("ledger.user", "it names nobody, and the push was for user \(user), who was never erased")
        }
        return nil
    }

    // MARK: Reasons for leaving a device out

    /// - Returns: the fault in the reason for which a device was left out; nil: none.
    private func faultOfReason(_ row: ToldDelivery, _ ledger: ToldLedger) -> String? {
        let app = ledger.campaign.app
        let name = "\(app)/\(row.token)"
        let reason = row.reason ?? "no reason"
        if reason == "knownDead" {
            return everDead.contains(name) ? nil : "neither a service nor a list has ever called its token dead"
        }
        guard let states = devices[name] else { return nil }
        let begin = announcement(of: ledger.campaign.id)?.askedAt ?? 0
        let (from, to) =
            ledger.wasDiskFailing
            ? (begin, now) : row.updatedAt.map { ($0 - Self.batchGrace, $0 + 1000) } ?? (begin, now)
        for (index, state) in states.enumerated() {
            let until = index + 1 < states.count ? states[index + 1].since : now
            guard until >= from, state.since <= to else { continue }
            if leavesOut(state, name, ledger).contains(reason) { return nil }
        }
        let last = states.last { $0.since <= to } ?? states[0]
        let what = [
            last.isRegistered ? "registered" : "removed", last.user.map { "of user \($0)" } ?? "of nobody",
            last.version.map { "with \(World.text(version: $0))" } ?? "of an unknown version",
            last.isTooOld ? "with an old system" : "",
        ]
        return "it was \(what.filter { !$0.isEmpty }.joined(separator: ", "))"
    }

    /// The reasons for which a device in this state may be left out; the relay names one of them. Empty: it gets a push.
    private func leavesOut(_ state: DeviceState, _ name: String, _ ledger: ToldLedger) -> [String] {
        guard state.isRegistered, state.user != nil else { return ["noTelephone"] }
        var reasons: [String] = []
        let announcement = announcement(of: ledger.campaign.id)
        // The second from which a canary is for other users, or for all, is unknown.
        if !ledger.isBlock, announcement?.mayHaveCanary == true { reasons.append("notInAudience") }
        let isMeant =
            ledger.isBlock
            ? state.version == ledger.campaign.version
            : state.version.map { $0 < ledger.campaign.version } ?? true
        if !isMeant || disputed.contains(name) { reasons.append("alreadyCurrent") }
        if state.isTooOld, isMeant || disputed.contains(name) { reasons.append("osTooOld") }
        return reasons
    }

    // MARK: Sums

    /// A campaign's counts, and those by reason, match its list.
    private mutating func judgeSums(_ ledger: ToldLedger) {
        var counts: [String: Int64] = [:]
        var reasons: [String: [String: Int64]] = ["filtered": [:], "rejected": [:]]
        for row in ledger.rows {
            counts[row.state, default: 0] += 1
            reasons[row.state]?[row.reason ?? "unknown", default: 0] += 1
        }
        let isLeftOut = ["cancelled", "superseded"].contains(ledger.campaign.state)
        // A device that the campaign never reached is listed if it is registered now, and counted if it was registered then.
        // Pending, expired and cancelled include both kinds.
        let states = ["accepted", "rejected", "unregistered", "filtered"] + (isLeftOut ? [] : ["retrying"])
        let what = "campaign \(ledger.campaign.id)"
        for state in states where counts[state] ?? 0 != ledger.campaign.counts[state] ?? 0 {
            broke(
                "ledger.sums",
                "\(what) counts \(ledger.campaign.counts[state] ?? 0) as \(state), and lists \(counts[state] ?? 0)")
        }
        for (state, told) in [("filtered", ledger.filteredBy), ("rejected", ledger.rejectedBy)] {
            let told = told.filter { $0.value != 0 }
            guard told != reasons[state] else { continue }
            func shown(_ counts: [String: Int64]) -> String {
                counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            }
            broke("ledger.sums", "\(what) sums up \(state): \(shown(told)); its list: \(shown(reasons[state] ?? [:]))")
        }
    }
}

extension LedgerAnswer {
    var isRefusal: Bool {
        switch verdict {
        case .refused, .fault: true
        default: false
        }
    }

    /// Whether it is not retried automatically.
    var isFinal: Bool { [.taken, .dead, .refused].contains(verdict) }
}
