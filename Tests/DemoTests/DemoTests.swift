// SPDX-License-Identifier: Apache-2.0
import Testing
import WireFormat

@testable import ClientCommands
@testable import Demo
@testable import PushSimulator

@Suite struct DemoTests {
    @Test func `The population has some of each kind, and no token twice`() {
        let population = DemoPopulation(count: 10_000)
        let expectation = DemoLedger.Expectation(population)
        #expect(expectation.audience == 10_000)
        #expect(expectation.pushed + expectation.noTelephone + expectation.alreadyCurrent == 10_000)
        for count in [
            expectation.acceptedLater, expectation.unregistered, expectation.rejected, expectation.noTelephone,
            expectation.alreadyCurrent,
        ] {
            #expect(count > 0)
        }
        let tokens =
            (0..<population.count).map { population.device($0).token }
            + (0..<population.otherCount).map { population.otherDevice($0).token }
        #expect(Set(tokens).count == tokens.count)
        #expect(tokens.allSatisfy { $0.count == 64 })
    }

    @Test func `One figure that is off by one is found`() throws {
        let population = DemoPopulation(count: 1000)
        let expectation = DemoLedger.Expectation(population)
        func ledger(accepted: Int64, pending: Int64) throws -> DemoLedger {
            let text = """
                {"state":"completed","counts":{"audience":1000,"pending":\(pending),"accepted":\(accepted),\
                "rejected":\(expectation.rejected),"unregistered":\(expectation.unregistered),\
                "filtered":\(expectation.noTelephone + expectation.alreadyCurrent)},\
                "filteredBy":{"noTelephone":\(expectation.noTelephone),"alreadyCurrent":\(expectation.alreadyCurrent)},\
                "rejectedBy":{"BadDeviceToken":\(expectation.rejected)}}
                """
            var figures = SimulatorFigures()
            figures.distinctIDs = Int(expectation.accepted)
            figures.distinctTokens = Int(expectation.accepted)
            figures.rejectedBy = [
                "Unregistered": Int(expectation.unregistered), "BadDeviceToken": Int(expectation.rejected),
                "TooManyRequests": Int(expectation.acceptedLater),
            ]
            return DemoLedger(
                campaign: CampaignText(try JSONReader.read(Array(text.utf8))),
                wouldBePushed: expectation.pushed, campaigns: 1, expectation: expectation,
                figures: figures, reach: DemoLedger.Reach())
        }
        let right = try ledger(accepted: expectation.accepted, pending: 0)
        #expect(right.addsUp)
        let wrong = try ledger(accepted: expectation.accepted - 1, pending: 1)
        #expect(!wrong.addsUp)
        #expect(wrong.checks.filter { !$0.isRight }.map(\.name) == ["accepted, by apns-id"])
        #expect(wrong.table.contains("WRONG"))
    }
}
