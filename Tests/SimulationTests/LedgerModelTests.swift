// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Simulation

/// The model of the ledger reports the faults that it should. A model that never complains proves nothing.
@Suite struct LedgerModelTests {
    private var model = Model()

    init() {
        model.now = 10_000_000
        model.announcements.append(Announcement(app: 0, version: 3, askedAt: 1, isGated: false))
        model.campaigns["c"] = CampaignFacts(announcement: 0)
        model.device(0, "t") { ($0.isRegistered, $0.user, $0.version) = (true, 7, 1) }
    }

    private func answer(
        _ verdict: LedgerAnswer.Verdict, _ reason: String?, attempts: Int = 1
    ) -> LedgerAnswer {
        LedgerAnswer(device: 1, user: 7, verdict: verdict, reason: reason, time: 10_000_000, attempts: attempts)
    }

    private func row(_ state: String, _ reason: String? = nil, attempts: Int = 1) -> ToldDelivery {
        ToldDelivery(
            device: 1, token: "t", user: 7, state: state, reason: reason, attempts: attempts, updatedAt: 10_000_000)
    }

    private mutating func tells(_ row: ToldDelivery?, state: String = "running") -> [String] {
        var counts: [String: Int64] = [:]
        if let row { counts[row.state] = 1 }
        let campaign = ToldCampaign(
            id: "c", app: 0, version: 3, state: state, reason: nil, wavesBegun: 0, emptyWaves: 0, waves: 0,
            reminders: 0, retries: 0, counts: counts)
        func sums(_ state: String) -> [String: Int64] {
            row.flatMap { $0.state == state ? [$0.reason ?? "unknown": 1] : nil } ?? [:]
        }
        model.tells(
            ToldLedger(
                campaign: campaign, isBlock: false, rows: row.map { [$0] } ?? [], filteredBy: sums("filtered"),
                rejectedBy: sums("rejected"), isStirred: false, wasFenced: false, hasTwoServices: false,
                wasDiskFailing: false, isWhole: true))
        return model.violations.map(\.rule)
    }

    @Test mutating func whatWasAnsweredIsRecorded() {
        model.learn(answer(.dead, "Unregistered"), of: "c", isOneOfTwo: false)
        #expect(tells(row("unregistered", "Unregistered")).isEmpty)
        #expect(tells(row("accepted")) == ["ledger.answer"])
    }

    @Test mutating func anAnswerIsListed() {
        model.learn(answer(.taken, nil), of: "c", isOneOfTwo: false)
        #expect(tells(nil) == ["ledger.answer"])
    }

    @Test mutating func attemptsAreCounted() {
        model.learn(answer(.taken, nil, attempts: 2), of: "c", isOneOfTwo: false)
        #expect(tells(row("accepted")) == ["ledger.attempts"])
    }

    @Test mutating func whoIsLeftOutIsLeftOutForWhatIsSo() {
        model.device(0, "t") { $0.isTooOld = true }
        #expect(tells(row("filtered", "osTooOld", attempts: 0)).isEmpty)
        #expect(tells(row("filtered", "alreadyCurrent", attempts: 0)) == ["ledger.leftOut"])
    }

    @Test(arguments: [
        (10_000_000 + 9_999, false), (10_000_000 + 10_000, true), (10_000_000 + 13_400, true),
        (10_000_000 + 13_600, false),
    ])
    mutating func aRetryKeepsItsSchedule(_ next: Int, _ holds: Bool) {
        model.learn(answer(.failed(first: 10, most: 3600), "UNAVAILABLE"), of: "c", isOneOfTwo: false)
        var row = row("retrying", "UNAVAILABLE")
        row.nextAt = Int64(next)
        #expect(tells(row) == (holds ? [] : ["ledger.retry"]))
    }

    @Test mutating func nobodyIsCancelledInACampaignThatGoesOn() {
        #expect(tells(row("cancelled", attempts: 0), state: "cancelled").isEmpty)
        #expect(tells(row("cancelled", attempts: 0)) == ["ledger.ended"])
    }

    @Test mutating func anErasedUserIsNamedNoMore() {
        model.learn(answer(.taken, nil), of: "c", isOneOfTwo: false)
        #expect(tells(row("accepted")).isEmpty)
        (model.erased[7], model.everErased) = (model.now, [7])
        model.now += Model.batchGrace + 1
        #expect(tells(row("accepted")) == ["ledger.user"])
    }

    /// If the process dies, it cannot be seen from outside whether the answer was recorded: the ledger shows it.
    @Test mutating func whatMayBeRecordedIsOneOfTwo() {
        model.learn(answer(.taken, nil), of: "c", isOneOfTwo: false, isSure: false)
        #expect(tells(row("accepted")).isEmpty)
        #expect(tells(row("pending", attempts: 0)) == ["ledger.answer"], "and from then on it is so")
    }
}
