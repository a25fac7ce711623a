// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import Configuration
import PushSimulator
import RelayEngine
import Signing
import WireFormat

/// APNs in the demo.
struct APNsDemo: DemoService {
    static let field = "apns"
    static let busyRetryAfter: Int? = nil
    static let idCheck = "accepted, by apns-id"
    private static let (teamID, keyID) = ("DEMOTEAM01", "DEMOKEY001")

    private let key: ES256PrivateKey

    init() throws { key = try ES256PrivateKey.generate() }

    var simulated: SimulatedService {
        .apns(
            APNsTeam(
                topics: [DemoPopulation.app, DemoPopulation.otherApp], teamID: Self.teamID,
                keys: [Self.keyID: key.publicKey]))
    }

    func furnish(_ directory: String, for simulator: PushSimulator) throws -> [JSONMember] {
        let path = "\(directory)/apns-key.p8"
        try PrivateFile.write(key.pem, to: path)
        return [
            JSONMember(name: "teamId", value: .string(Self.teamID)),
            JSONMember(name: "keyId", value: .string(Self.keyID)),
            JSONMember(name: "key", value: ["file": .string(path)]),
        ]
    }

    /// 64 hexadecimal digits.
    static func token(_ random: inout SplitMix64) -> String { Hex.encode(random.draw(32)) }

    static func checks(
        _ campaign: CampaignText, _ figures: SimulatorFigures, _ expectation: DemoLedger.Expectation, mayRepeat: Bool
    ) -> [DemoLedger.Check] {
        [
            DemoLedger.Check(
                "unregistered (410)", relay: campaign.count(.unregistered), simulator: figures.refusals("Unregistered"),
                expected: expectation.unregistered, mayRepeat: mayRepeat),
            DemoLedger.Check(
                "rejected: BadDeviceToken (400)", relay: campaign.count("BadDeviceToken", of: .rejectedBy),
                simulator: figures.refusals("BadDeviceToken"), expected: expectation.rejected, mayRepeat: mayRepeat),
            DemoLedger.Check(
                "rejected, for any reason", relay: campaign.count(.rejected), expected: expectation.rejected),
            DemoLedger.Check(
                "asked to wait (429)", simulator: figures.refusals("TooManyRequests"),
                expected: expectation.acceptedLater, mayRepeat: mayRepeat),
        ]
    }
}
