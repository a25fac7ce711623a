// SPDX-License-Identifier: Apache-2.0
import Terminal
import Testing
import WireFormat

@testable import ClientCommands
@testable import Demo
@testable import PushSimulator

@Suite struct DemoTests {
    @Test(arguments: DemoPlatform.allCases) func `The population has some of each kind, and no token twice`(
        platform: DemoPlatform
    ) {
        let population = DemoPopulation(platform, count: 10_000)
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
        switch platform {
        case .ios: #expect(tokens.allSatisfy { $0.count == 64 })
        case .android:
            #expect(tokens.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9_-]{22}:APA91b[A-Za-z0-9_-]{128}/) != nil })
        }
    }

    @Test func `Without PostgreSQL the demo says how to get it`() throws {
        let ground = try DemoGround(environment: [:])
        defer { ground.remove() }
        let failure = try #require(throws: CommandFailure.self) {
            _ = try DemoStore.postgres.open(on: ground, binaries: nil)
        }
        #expect(failure.message.contains("not installed"))
        #expect(failure.hint == "apt-get install postgresql")
    }

    @Test(arguments: DemoPlatform.allCases) func `One figure that is off by one is found`(platform: DemoPlatform) throws
    {
        let population = DemoPopulation(platform, count: 1000)
        let expectation = DemoLedger.Expectation(population)
        // The relay records Android's bad tokens as unregistered.
        let (unregistered, rejected) =
            platform == .ios
            ? (expectation.unregistered, expectation.rejected)
            : (expectation.unregistered + expectation.rejected, 0)
        func ledger(accepted: Int64, pending: Int64) throws -> DemoLedger {
            let text = """
                {"state":"completed","counts":{"audience":1000,"pending":\(pending),"accepted":\(accepted),\
                "rejected":\(rejected),"unregistered":\(unregistered),\
                "filtered":\(expectation.noTelephone + expectation.alreadyCurrent)},\
                "filteredBy":{"noTelephone":\(expectation.noTelephone),"alreadyCurrent":\(expectation.alreadyCurrent)},\
                "rejectedBy":{"BadDeviceToken":\(rejected)}}
                """
            var figures = SimulatorFigures()
            figures.distinctIDs = Int(expectation.accepted)
            figures.distinctTokens = Int(expectation.accepted)
            let words = try platform.service.init().simulated.kind.words
            figures.rejectedBy = [
                words.deadToken.rawValue: Int(expectation.unregistered),
                words.badToken.rawValue: Int(expectation.rejected),
                words.tooMany.rawValue: Int(expectation.acceptedLater),
            ]
            return DemoLedger(
                platform, campaign: CampaignText(try JSONReader.read(Array(text.utf8))),
                wouldBePushed: expectation.pushed, campaigns: 1, expectation: expectation,
                figures: figures, reach: DemoLedger.Reach())
        }
        func wrong(_ ledger: DemoLedger) -> [String] { ledger.checks.filter { !$0.isRight }.map(\.name) }
        let right = try ledger(accepted: expectation.accepted, pending: 0)
        #expect(right.addsUp)
        let lost = try ledger(accepted: expectation.accepted - 1, pending: 1)
        #expect(!lost.addsUp)
        #expect(wrong(lost) == [platform == .ios ? "accepted, by apns-id" : "accepted, by push id"])
        #expect(lost.table.contains("WRONG"))
    }

    @Test func `A push to another platform's device is found`() {
        let (ios, android) = (DemoPopulation(.ios, count: 10), DemoPopulation(.android, count: 10))
        var accepted = AcceptedPushes()
        for number in 0..<10 {
            let device = android.device(number)
            guard [.accepted, .acceptedLater].contains(android.fate(of: device)) else { continue }
            accepted.add([(ShortHash.ofToken(device.token.utf8), UInt64(number))])
        }
        let right = DemoLedger.Reach(android, others: [ios], accepted)
        #expect(right == DemoLedger.Reach())
        accepted.add([(ShortHash.ofToken(ios.device(3).token.utf8), 99)])
        #expect(DemoLedger.Reach(android, others: [ios], accepted).pushedInError == 1)
    }
}
