// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import Configuration
import PushSimulator
import RelayEngine
import WireFormat

/// FCM in the demo.
struct FCMDemo: DemoService {
    static let field = "fcm"
    /// Without it the relay waits a minute after FCM's 429 (PROTOCOLS 2.3).
    static let busyRetryAfter: Int? = 1
    static let idCheck = "accepted, by push id"

    private let project: FCMProject

    init() throws { project = try FCMProject() }

    var simulated: SimulatedService { .fcm(project) }

    func furnish(_ directory: String, for simulator: PushSimulator) throws -> [JSONMember] {
        let path = "\(directory)/fcm-account.json"
        try PrivateFile.write(simulator.accountFile ?? [], to: path)
        return [
            JSONMember(name: "serviceAccount", value: ["file": .string(path)]),
            // A demo neither avoids quarter hours nor waits for a rate that rises within a minute.
            JSONMember(name: "avoidQuarterHours", value: .bool(false)),
            JSONMember(name: "quotaPerMinute", value: .integer(600_000_000)),
        ]
    }

    /// A text in the form of FCM's registration tokens.
    static func token(_ random: inout SplitMix64) -> String {
        Base64URL.encode(random.draw(16)) + ":APA91b" + Base64URL.encode(random.draw(96))
    }

    static func checks(
        _ campaign: CampaignText, _ figures: SimulatorFigures, _ expectation: DemoLedger.Expectation, mayRepeat: Bool
    ) -> [DemoLedger.Check] {
        let (dead, bad) = (figures.refusals("UNREGISTERED"), figures.refusals("INVALID_ARGUMENT"))
        return [
            DemoLedger.Check(
                "answered UNREGISTERED (404)", simulator: dead, expected: expectation.unregistered,
                mayRepeat: mayRepeat),
            DemoLedger.Check(
                "answered INVALID_ARGUMENT (400)", simulator: bad, expected: expectation.rejected,
                mayRepeat: mayRepeat),
            // A token that the service calls invalid counts as unregistered where other tokens took the same push, and as rejected
            // otherwise.
            DemoLedger.Check(
                "unregistered or rejected", relay: campaign.count(.unregistered) + campaign.count(.rejected),
                simulator: dead + bad, expected: expectation.unregistered + expectation.rejected,
                mayRepeat: mayRepeat),
            DemoLedger.Check(
                "asked to wait (429)", simulator: figures.refusals("QUOTA_EXCEEDED"),
                expected: expectation.acceptedLater, mayRepeat: mayRepeat),
        ]
    }
}
