// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Testing

@testable import FanOut

@Suite struct PushTallyTests {
    @Test func everyOutcomeIsCountedOnce() {
        var tally = PushTally()
        tally.add(
            [
                LedgerRow(device: 1, state: .accepted, attempts: 1),
                LedgerRow(device: 2, state: .accepted, attempts: 2),
                LedgerRow(device: 3, state: .unregistered, attempts: 1, reason: "Unregistered"),
                LedgerRow(device: 4, state: .rejected, attempts: 1, reason: "BadDeviceToken"),
                LedgerRow(device: 5, state: .retrying, attempts: 1, reason: "ConnectionLost"),
                LedgerRow(device: 6, state: .filtered, attempts: 0, reason: "noTelephone"),
                LedgerRow(device: 7, state: .expired, attempts: 3, reason: "ServiceUnavailable"),
            ], reasons: APNsProvider.reasons)
        tally.add(expired: 5)
        #expect(tally.accepted == 2 && tally.unregistered == 1 && tally.expired == 6)
        #expect(tally.rejectedBy == ["BadDeviceToken": 1])
        #expect(tally.retriedBy == ["ConnectionLost": 1])
        #expect(tally.filteredBy == [.noTelephone: 1])
    }

    /// A server may answer anything; the label's values stay few.
    @Test func reasonsThatNobodyKnowsAreOne() {
        var tally = PushTally()
        for number in 0..<100 {
            tally.add(
                [LedgerRow(device: 1, state: .rejected, attempts: 1, reason: "Reason\(number)")],
                reasons: APNsProvider.reasons)
            tally.add(
                [LedgerRow(device: 1, state: .retrying, attempts: 1, reason: "HTTP 5\(number)")],
                reasons: APNsProvider.reasons)
        }
        tally.add([LedgerRow(device: 1, state: .rejected, attempts: 1)], reasons: APNsProvider.reasons)
        #expect(tally.rejectedBy == ["other": 101])
        #expect(tally.retriedBy == ["other": 100])
    }

    @Test(arguments: [
        ("InvalidProviderToken: check `apns.teamId`", true), ("BadDeviceToken: nearly every token", true),
        ("PayloadTooLarge: 5000 bytes", false), (nil, false),
    ])
    func credentialsAreToldFromOtherReasons(reason: String?, isCredential: Bool) {
        #expect(SuspensionReason.isOfCredential(reason) == isCredential)
    }
}
