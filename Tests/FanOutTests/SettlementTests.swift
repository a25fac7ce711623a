// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayStore
import Signing
import Testing
import UpgradeRules

@testable import FanOut
@testable import HTTP2
@testable import RelayEngine

/// The effect of an answer on a ledger row, and on the campaign.
@Suite struct SettlementTests {
    /// Not a whole tenth of a second, so that rounding shows.
    private let now = Timestamp(milliseconds: 1_800_000_000_037)
    private let provider: APNsProvider
    private let batch: RequestBatch

    init() throws {
        let key = try ES256PrivateKey.generate()
        provider = APNsProvider(
            settings: .init(topic: "com.example.app", priority: 10),
            tokens: APNsTokenSource(teamID: "TEAM123456", keyID: "KEY1234567", key: key))
        let template = try provider.template(
            for: UpgradePayload(type: "t", alert: "a", downloadURL: "u"), of: "000000000000", authority: "a",
            expiresAt: now, at: now)
        batch = RequestBatch(template: template.request, tag: 0, capacity: 1, bytesPerRequest: 1)
    }

    private func answer(_ status: UInt16, _ reason: String? = nil, timestamp: Int64? = nil, retryAfter: Int32 = -1)
        -> Answer
    {
        var answer = Answer()
        answer.kind = .answered
        answer.sends = 1
        answer.status = status
        answer.retryAfter = retryAfter
        if let reason {
            let time = timestamp.map { #","timestamp":\#($0)"# } ?? ""
            answer.body = Int32(batch.bodies.count)
            batch.bodies.append(Array(#"{"reason":"\#(reason)"\#(time)}"#.utf8))
        }
        return answer
    }

    private func settle(
        _ answer: Answer, attempts: UInt16 = 0, timeToLive: Duration = .seconds(86_400)
    ) -> (row: LedgerRow, settlement: Settlement) {
        var settlement = Settlement(tag: 0, expiresAt: now + timeToLive, now: now)
        var rows = [LedgerRow(device: 7, state: .inFlight, attempts: attempts)]
        var devices = DeviceRows()
        devices.append(
            DeviceRow(
                id: 7, token: .absent, telephone: .absent, version: .absent, channel: .production, isDead: false,
                registeredAt: 0, attempts: attempts))
        batch.answers = [answer]
        settlement.settle(
            Batch.Requests(batch: batch, targets: [], rows: [0]), of: &rows, devices: devices, by: provider, at: now)
        return (rows[0], settlement)
    }

    @Test func acceptedIsFinalAndCountsTheAttempt() {
        let (row, settlement) = settle(answer(200), attempts: 2)
        #expect(row.state == .accepted)
        #expect(row.attempts == 3)
        #expect(row.reason == nil)
        #expect(settlement.report.answers.proven == 1)
    }

    @Test func aTimestampIn410RetiresTheTokenAndItsAbsenceDoesNot() {
        let told = settle(answer(410, "Unregistered", timestamp: 1_700_000_000_123))
        #expect(told.row.state == .unregistered)
        #expect(
            told.settlement.retirements
                == [
                    TokenRetirement(
                        device: 7, deadSince: Timestamp(milliseconds: 1_700_000_000_123),
                        registeredAt: Timestamp(milliseconds: 0))
                ])
        let silent = settle(answer(410, "Unregistered"))
        #expect(silent.row.state == .unregistered)
        #expect(silent.settlement.retirements.isEmpty, "only a 410 with a timestamp speaks about the token")
    }

    @Test(
        arguments: [
            (status: 429, reason: "TooManyRequests", retryAfter: -1, attempts: 0, earliest: 2, latest: 2.5),
            (429, "TooManyRequests", -1, 3, 16, 20),
            (503, "ServiceUnavailable", -1, 0, 900, 1125),
            (503, "ServiceUnavailable", 7, 5, 7, 8.75),
            (500, "InternalServerError", -1, 9, 14_400, 18_000),
        ] as [(UInt16, String, Int32, UInt16, Double, Double)])
    func aRetryWaitsAsLongAsItsScheduleSays(
        status: UInt16, reason: String, retryAfter: Int32, attempts: UInt16, earliest: Double, latest: Double
    ) throws {
        let row = settle(answer(status, reason, retryAfter: retryAfter), attempts: attempts).row
        #expect(row.state == .retrying)
        #expect(row.reason == reason)
        let wait = try #require(row.nextAttemptAt) - now
        #expect(wait >= .seconds(earliest) && wait <= .seconds(latest) + .milliseconds(100))
        #expect(row.nextAttemptAt?.milliseconds.isMultiple(of: 100) == true, "due together with others")
    }

    @Test func nothingIsTriedAgainAfterTheTimeToLive() {
        let row = settle(answer(503, "ServiceUnavailable"), timeToLive: .seconds(59)).row
        #expect(row.state == .expired)
        #expect(row.nextAttemptAt == nil)
        #expect(row.reason == "ServiceUnavailable")
    }

    @Test func aLostPushCountsEverySendingAndAnUnsentOneNone() throws {
        var lost = Answer()
        lost.kind = .lost
        lost.sends = 2
        let gone = settle(lost).row
        #expect(gone.attempts == 2)
        #expect(gone.state == .retrying)
        #expect(try #require(gone.nextAttemptAt) >= now + .seconds(1))
        var unsent = Answer()
        unsent.kind = .unsent
        let held = settle(unsent).row
        #expect(held.attempts == 0)
        #expect(held.nextAttemptAt == now, "nothing is wrong with it")
    }

    @Test func whatNoConnectionCouldBeHadForWaitsForTheNextDial() throws {
        var unreachable = Answer()
        unreachable.kind = .unreachable
        unreachable.retryAfter = 8
        for attempts in [UInt16(0), 3] {
            let (row, settlement) = settle(unreachable, attempts: attempts)
            #expect(row.state == .retrying && row.reason == "NoConnection" && row.attempts == attempts)
            let wait = try #require(row.nextAttemptAt) - now
            #expect(wait >= .seconds(8) && wait <= .milliseconds(8_100))
            #expect(settlement.report.health.failed == 0, "5xx is something else")
        }
        #expect(settle(unreachable, timeToLive: .seconds(5)).row.state == .expired)
    }

    @Test func aPushThatWasRefusedUntilThePoolGaveUpWaitsLongerEachTime() throws {
        var refused = Answer()
        refused.kind = .unsent
        refused.sends = UInt8(PoolMachine.sendLimit)
        let first = settle(refused).row
        #expect(first.state == .retrying && first.attempts == 1 && first.reason == "StreamRefused")
        #expect(try #require(first.nextAttemptAt) >= now + .seconds(1))
        let fourth = settle(refused, attempts: 3).row
        #expect(try #require(fourth.nextAttemptAt) >= now + .seconds(8))
    }

    @Test func aPushThatACredentialIsRefusedForIsTriedOnAnotherConnectionAndThenRejected() throws {
        let (row, settlement) = settle(answer(403, "InvalidProviderToken"))
        #expect(row.state == .retrying)
        #expect(try #require(row.nextAttemptAt) >= now + .seconds(1))
        #expect(settlement.faults == ["InvalidProviderToken": .credential])
        #expect(settlement.report.answers == CredentialBreaker.Answers(faults: 1))
        #expect(settlement.retirements.isEmpty)
        #expect(settle(answer(403, "InvalidProviderToken"), attempts: 1).row.state == .rejected)
    }

    /// Apple: "do not retry" Forbidden; a malformed request stays malformed.
    @Test(arguments: [(403, "Forbidden"), (400, "BadCollapseId"), (400, "TopicDisallowed"), (404, "BadPath")])
    func whatIsNotToBeSentAgainIsRejected(status: UInt16, reason: String) {
        let (row, settlement) = settle(answer(status, reason))
        #expect(row.state == .rejected && row.reason == reason)
        #expect(settlement.report.answers.faults == 1)
    }

    @Test func aPushThatIsTooLargeSpeaksForItselfAlone() {
        let (row, settlement) = settle(answer(413, "PayloadTooLarge"))
        #expect(row.state == .rejected)
        #expect(settlement.report.answers == CredentialBreaker.Answers(refused: 1))
    }

    @Test func tooManyRequestsWaitAsLongAsTheServiceSays() throws {
        let wait = try #require(settle(answer(429, "TooManyRequests", retryAfter: 120)).row.nextAttemptAt) - now
        #expect(wait >= .seconds(120) && wait <= .milliseconds(150_100))
        let own = try #require(settle(answer(429, "TooManyRequests")).row.nextAttemptAt) - now
        #expect(own >= .seconds(2) && own <= .milliseconds(2_600))
    }

    @Test func anExpiredProviderTokenAsksForANewOneAndTooManyForAPause() throws {
        let expired = settle(answer(403, "ExpiredProviderToken")).settlement
        #expect(expired.needsNewCredential)
        #expect(expired.faults.isEmpty)
        let (row, settlement) = settle(answer(429, "TooManyProviderTokenUpdates"))
        #expect(!settlement.needsNewCredential, "another token would make it worse")
        let pause = try #require(settlement.pause).until - now
        #expect(pause >= .seconds(300) && pause <= .seconds(20 * 60))
        #expect(row.nextAttemptAt == settlement.pause?.until)
    }

    @Test func aBadTokenIsRejectedAndRememberedForTheBreaker() {
        let (row, settlement) = settle(answer(400, "BadDeviceToken"))
        #expect(row.state == .rejected)
        #expect(settlement.refusals.main(.refused) == "BadDeviceToken")
        #expect(settlement.report.answers == CredentialBreaker.Answers(refused: 1))
        #expect(settlement.retirements.isEmpty)
    }
}
