// SPDX-License-Identifier: Apache-2.0

/// The ledger's line of each device, against the answers and the states of the device.
extension Model {
    /// A device is read, its batch waits for its turn, and is recorded when the last answer is there.
    static let batchGrace: Int64 = 150_000

    /// The answers of a batch are recorded.
    ///
    /// - Parameters:
    ///   - isOneOfTwo: the app's tokens are tried in the other environment, too.
    ///   - isSure: whether they surely are.
    mutating func learn(_ answer: LedgerAnswer, of campaign: String, isOneOfTwo: Bool, isSure: Bool = true) {
        if isSure {
            ledgers[campaign, default: [:]][answer.device, default: LedgerEntry()]
                .take(answer, isOneOfTwo: isOneOfTwo)
        } else {
            ledgers[campaign, default: [:]][answer.device, default: LedgerEntry()].perhaps.append(answer)
        }
    }

    /// Another program has deleted a device's row: its answers belong to no device any more.
    mutating func forget(device: Int64) {
        for campaign in ledgers.keys { ledgers[campaign]?[device] = nil }
    }

    /// The relay lists the deliveries of a campaign.
    mutating func tells(_ ledger: ToldLedger) {
        let id = ledger.campaign.id
        var entries = ledgers[id] ?? [:]
        var listed: Set<Int64> = []
        for row in ledger.rows {
            listed.insert(row.device)
            let entry = entries[row.device] ?? LedgerEntry()
            // The answers that were recorded of a campaign that was another relay's are unknown.
            if ledger.wasFenced {
                if row.state == "filtered", let text = faultOfReason(row, ledger) { broke("ledger.leftOut", text) }
                continue
            }
            var fault = fault(in: row, entry, ledger)
            if !entry.perhaps.isEmpty {
                let fitting = entry.either.filter { self.fault(in: row, $0, ledger) == nil }
                if !fitting.isEmpty { fault = nil }
                // What never left changes no row of a campaign that is over: whether it was recorded stays unknown, and with that whether the
                // device has a row of its own, which alone is listed once it is removed.
                let mayHaveNone = fitting.count > 1 && fitting.contains { $0.last.isEmpty }
                if !mayHaveNone { entries[row.device] = fitting.first ?? entry.either[0] }
            }
            if row.state == "pending" { entries[row.device] = nil }
            if let fault {
                broke(
                    fault.rule,
                    "device \(row.device) (\(row.token)) of campaign \(id) is \(row.state)"
                        + (row.reason.map { " (\($0))" } ?? "") + " after \(row.attempts) attempts: \(fault.text)")
            }
        }
        // A user whom a canary does not name any more, for an erasure, say, is put in line anew when all others are.
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
        // A push that the other environment might take is not refused for good: the campaign may be over before that is asked.
        let isAnswered =
            entry.last.last.map { $0.isFinal && ($0.verdict != .refused || !ledger.hasTwoServices) } ?? false
        switch row.state {
        case "pending":
            if ledger.campaign.isOver { return ("ledger.ended", "its campaign is \(ledger.campaign.state)") }
            // A user whom a canary names no more waits for all others' turn, whatever the answers before.
            let isOfCanary = announcement(of: ledger.campaign.id)?.mayHaveCanary == true
            // One that never left has had no turn, whatever came of the batch that it was read for.
            let hadNoTurn = entry.last.allSatisfy { $0.attempts == 0 }
            return hadNoTurn || isOfCanary && !entry.wasTaken ? nil : wrong("it waits for its first turn")
        case "accepted":
            let isTold = entry.last.contains { $0.verdict == .taken } || ledger.campaign.reminders > 0
            guard entry.wasTaken, isTold, row.reason == nil else { return wrong("nobody took it") }
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
            // It counts anew with each wave, and where the campaign is sent again.
            let countsOnce = !isSentAgain && !ledger.isStirred && ledger.campaign.waves == 0
            if let end = ledger.expiresAt, end - now > 5 * 3_600_000, countsOnce,
                announcement(of: ledger.campaign.id)?.mayHaveCanary != true
            {
                return ("ledger.ended", "its time is not over for \((end - now) / 1000) s")
            }
            if isAnswered, !isSentAgain, !ledger.isStirred { return wrong("it had its answer") }
        case "cancelled":
            guard ["cancelled", "superseded"].contains(ledger.campaign.state) || isSentAgain || ledger.isStirred else {
                return ("ledger.ended", "its campaign is \(ledger.campaign.state)")
            }
            if isAnswered, !isSentAgain, !ledger.isStirred { return wrong("it had its answer") }
        default: return ("ledger.answer", "no guide knows that state")
        }
        // A reminder that does not come about takes its attempts with it. A device that the canary does not name any more loses its row,
        // and has a new one when all others have theirs.
        let mayCountLess = ledger.campaign.reminders > 0 || announcement(of: ledger.campaign.id)?.mayHaveCanary == true
        if row.attempts > entry.attempts || row.attempts < entry.attempts && !mayCountLess {
            return ("ledger.attempts", "\(entry.attempts) were made")
        }
        return faultOfUser(row, entry)
    }

    private func faultOfRetry(_ row: ToldDelivery, _ entry: LedgerEntry, _ ledger: ToldLedger) -> Fault? {
        guard let reason = row.reason else {
            // A canary's devices are put in line before anything is sent.
            let isOfCanary = row.attempts == 0 && announcement(of: ledger.campaign.id)?.mayHaveCanary == true
            return ledger.campaign.reminders + ledger.campaign.retries > 0 || isOfCanary
                ? nil : ("ledger.answer", "nobody has it sent again, and nothing says why")
        }
        guard let answer = entry.last.last(where: { $0.reason == reason }) else {
            // Its environment, or its user, is another by now.
            if reason == "NotSent", ledger.hasTwoServices || ledger.campaign.waves > 0 { return nil }
            let said = entry.last.last.map { "\($0.reason ?? "taken")" } ?? "nothing"
            return ("ledger.answer", "its service said \(said)")
        }
        switch answer.verdict {
        case .taken, .postponed: return nil
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

    /// The user of a push stays in the ledger until an erasure.
    private func faultOfUser(_ row: ToldDelivery, _ entry: LedgerEntry) -> Fault? {
        if let user = row.user, let since = erased[user], now - since > Self.batchGrace {
            return ("ledger.user", "it names user \(user), who was erased \(ago(since))")
        }
        // A push that did not leave any more names the user that it was read for, whoever had the earlier ones.
        let isUnsent = ["filtered", "retrying"].contains(row.state) || row.reason == "NotSent"
        // A reminder whose service wanted a pause has not been tried: the row still names the user whose push was taken.
        let isAsBefore = row.state == "accepted" && entry.last.last?.verdict == .postponed
        guard let last = isAsBefore ? entry.counted : entry.last.last, row.attempts > 0, !isUnsent else { return nil }
        if let user = row.user, user != last.user {
            return ("ledger.user", "it names user \(user), and the push was for \(last.user ?? -1)")
        }
        if row.user == nil, let user = last.user, !everErased.contains(user) {
            return ("ledger.user", "it names nobody, and the push was for user \(user), who was never erased")
        }
        return nil
    }

    // MARK: Who was left out

    /// - Returns: the fault of the reason that a device was left out for; nil: none.
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

    /// The reasons that a device in this state may be left out for, of which the relay names one; empty: it gets a push.
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

    /// The counts of a campaign, and those by reason, are those of its list.
    private mutating func judgeSums(_ ledger: ToldLedger) {
        var counts: [String: Int64] = [:]
        var reasons: [String: [String: Int64]] = ["filtered": [:], "rejected": [:]]
        for row in ledger.rows {
            counts[row.state, default: 0] += 1
            reasons[row.state]?[row.reason ?? "unknown", default: 0] += 1
        }
        let isLeftOut = ["cancelled", "superseded"].contains(ledger.campaign.state)
        // A device that the campaign never came to is listed if it is registered now, and counted if it was then: pending, expired and
        // cancelled are of both kinds.
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

    /// Whether it is not tried again by itself.
    var isFinal: Bool { [.taken, .dead, .refused].contains(verdict) }
}
