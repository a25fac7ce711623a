// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Signing
import TestPeers
import Testing
import WireFormat

@testable import PushSimulator

/// Credentials that are wrong or go bad under the real daemon, and their repair by the operator.
@Suite(.serialized, .ownThread) struct CredentialRepairTests {
    private static let devices = 3_000

    /// A mistake as a replacement in the configuration, and the beginning of the reason that it leads to.
    struct Mistake: Sendable, CustomTestStringConvertible {
        var right: String
        var wrong: String
        var reason: String
        var testDescription: String { wrong }
    }

    @Test(arguments: [
        Mistake(right: #"teamId: "TEAM123456""#, wrong: #"teamId: "TEAM000000""#, reason: "InvalidProviderToken: "),
        Mistake(right: #"keyId: "KEY1234567""#, wrong: #"keyId: "KEY0000000""#, reason: "InvalidProviderToken: "),
        Mistake(
            right: #"keyId: "KEY1234567","#, wrong: #"keyId: "KEY1234567", topic: "com.example.other","#,
            reason: "TopicDisallowed: "),
    ])
    func aMistakeInTheConfigurationIsToldAndRepaired(mistake: Mistake) throws {
        let bench = try Workbench()
        try bench.reconfigure(mistake.right, mistake.wrong)
        try bench.start()
        try bench.register(Fleet(count: Self.devices))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let stopped = try bench.follow(id) { $0.state == "suspended" && $0.counts["inFlight"] == 0 }
        #expect(stopped.reason?.hasPrefix(mistake.reason) == true)
        #expect(stopped.counts["rejected"] == 0)
        #expect(stopped.addsUp)
        #expect(bench.simulator.figures.requests <= 64, "a bad credential costs the pushes of a probe at most")

        // The operator is shown the command, and resumes by mistake without a repair.
        let shown = try bench.command("campaigns", "show", id)
        #expect(shown.output.contains("upgrade-relay campaigns resume \(id)"))
        #expect(try bench.command("campaigns", "resume", id).status == 0)
        try bench.follow(id) { $0.state == "suspended" && $0.counts["inFlight"] == 0 }

        try bench.reconfigure(mistake.wrong, mistake.right)
        try bench.reload()
        #expect(try bench.command("campaigns", "resume", id).status == 0)
        let end = try bench.follow(id) { $0.isFinal }
        try expectWhole(bench, end)
    }

    @Test func aKeyThatIsRevokedInMidCampaignIsExchanged() throws {
        let other = try ES256PrivateKey.generate()
        let bench = try Workbench {
            if var team = $0.service.customer as? APNsTeam {
                team.keys["KEY7654321"] = other.publicKey
                $0.service = .apns(team)
            }
            $0.faults.revokedKey = .init(keyID: Workbench.keyID, afterN: 1_000)
            $0.latency = .milliseconds(20)
        }
        try bench.start()
        try bench.register(Fleet(count: Self.devices))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.state == "suspended" && $0.counts["inFlight"] == 0 }
        // Read again: the last batch may have been recorded between reading the counts and the pushes in flight.
        let stopped = try bench.view(id)
        #expect(stopped.reason?.hasPrefix("InvalidProviderToken: ") == true)
        #expect(stopped.counts["rejected"] == 0)
        #expect(stopped.counts["accepted"] == bench.simulator.figures.accepted)
        #expect((1..<Self.devices).contains(bench.simulator.figures.accepted))

        try bench.write(other)
        try bench.reconfigure(#"keyId: "KEY1234567""#, #"keyId: "KEY7654321""#)
        try bench.reload()
        #expect(try bench.command("campaigns", "resume", id).status == 0)
        let end = try bench.follow(id) { $0.isFinal }
        try expectWhole(bench, end)
        #expect(bench.simulator.figures.providerTokens == 2, "one for each key")
    }

    /// Apple allows a new token every 20 minutes, so a daemon that restarts often must keep the one it has.
    @Test func theProviderTokenOutlivesRestartsAndKills() throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 100))
        var rows: Set<String> = []
        for major in 2...5 {
            let id = try bench.campaign(of: bench.bump("\(major).0.0"))
            #expect(try bench.follow(id) { $0.isFinal }.counts["accepted"] == 100)
            rows.insert(try bench.sql("SELECT token || ' ' || issued_at FROM provider_token").output)
            if major == 3 {
                // A reload reads the key anew and finds its token again.
                try bench.reload()
            } else {
                bench.kill()
                try bench.start()
            }
        }
        #expect(bench.simulator.figures.providerTokens == 1)
        #expect(rows.count == 1)
        #expect(bench.simulator.figures.rejected == 0)
    }

    /// A token's age counts from its `iat`: an earlier process signed it 45 minutes ago, and the service's clock is 20 minutes
    /// ahead.
    @Test func aTokenThatAnEarlierProcessSignedExpiresByItsOwnAge() throws {
        let bench = try Workbench { $0.faults.clockAhead = 1_200 }
        try bench.start()
        try bench.register(Fleet(count: Self.devices))
        bench.kill()
        let issued = Int64(Date.now.timeIntervalSince1970) - 45 * 60
        let text = try providerToken(bench.key, issuedAt: issued)
        let stored = try bench.sql(
            """
            INSERT INTO provider_token (key, token, issued_at)
            VALUES ('APNs/\(Workbench.teamID)/\(Workbench.keyID)', '\(text)', \(issued * 1000))
            """)
        try #require(stored.status == 0, "\(stored.errors)")
        try bench.start()
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        let end = try bench.follow(id) { $0.isFinal }
        try expectWhole(bench, end)
        #expect(bench.simulator.figures.providerTokens == 2)
        #expect(bench.simulator.figures.rejectedBy["ExpiredProviderToken", default: 0] >= 1)
    }

    /// TooManyProviderTokenUpdates, a kill, and a start within the pause: the stored token is too old then, but the service must
    /// not see a new one of this key before the pause ends.
    @Test func aPauseIsKeptAcrossAKill() throws {
        let patience = 15
        let identity = try TestIdentity()
        let peer = try ScriptedPeer(identity, PeerManner()) { request in
            guard request.connection == 0 else { return [.answer(200)] }
            return [
                .answer(429, ["retry-after": "\(patience)"], #"{"reason":"TooManyProviderTokenUpdates"}"#)
            ]
        }
        defer { peer.stop() }
        let bench = try Workbench()
        try bench.push(to: "https://127.0.0.1:\(peer.port)", trusting: identity.authorityPath)
        try bench.start()
        try bench.register(Fleet(count: 200))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) {
            $0.reason?.hasPrefix("TooManyProviderTokenUpdates: ") == true && $0.counts["inFlight"] == 0
        }
        bench.kill()
        let issued = Int64(Date.now.timeIntervalSince1970) - 51 * 60
        let text = try providerToken(bench.key, issuedAt: issued)
        let aged = try bench.sql("UPDATE provider_token SET token = '\(text)', issued_at = \(issued * 1000)")
        try #require(aged.status == 0, "\(aged.errors)")
        try bench.start()
        let end = try bench.follow(id) { $0.isFinal }
        #expect(end.counts["accepted"] == 200)
        let requests = peer.state.now.requests
        let refused = try #require(requests.last { $0.connection == 0 })
        let taken = try #require(requests.first { $0.connection > 0 })
        #expect(taken.at - refused.at >= .seconds(patience), "\(taken.at - refused.at)")
        let tokens = Set(requests.compactMap { $0.headers["authorization"] })
        #expect(tokens.count == 2, "the first run's, and one that was signed after the pause")
        #expect(!tokens.contains("bearer \(text)"))
    }

    /// Half of the devices are development builds, and half of those were registered as production builds.
    @Test func developmentBuildsAreFoundInTheSandbox() throws {
        let fleet = Fleet(count: 200)
        let (production, misplaced) = (fleet.devices[0..<100], fleet.devices[100..<150])
        let bench = try Workbench { $0.faults.badTokens = Set(fleet.devices[100...].map(\.token)) }
        var sandboxed = SimulatorConfiguration(
            topics: [Workbench.app], teamID: Workbench.teamID, keys: [Workbench.keyID: bench.key.publicKey])
        sandboxed.faults.badTokens = Set(production.map(\.token))
        let sandbox = try PushSimulator(sandboxed)
        try sandbox.start()
        defer { sandbox.stop() }
        let authorities = try [UInt8](Data(contentsOf: bench.folder.appending(path: "push-simulator-ca.pem")))
        try Data(authorities + #require(sandbox.trustedCertificate)).write(to: bench.folder.appending(path: "both.pem"))
        try bench.reconfigure(
            #"trustedCertificates: "\#(bench.path("push-simulator-ca.pem"))""#,
            """
            trustedCertificates: "\(bench.path("both.pem"))",
            sandboxServer: "https://127.0.0.1:\(sandbox.port)", tryOtherEnvironment: true
            """)
        try bench.start()
        try bench.register(fleet)
        _ = try bench.sql(
            "UPDATE device SET environment = 1 WHERE token IN ('"
                + fleet.devices[150...].map(\.token).joined(separator: "', '") + "')")
        let end = try bench.follow(try bench.campaign(of: bench.bump("2.0.0"))) { $0.isFinal }
        #expect(end.counts["accepted"] == 200)
        #expect(end.addsUp)
        #expect(bench.simulator.figures.requests == 150)
        #expect(bench.simulator.figures.accepted == 100)
        #expect(sandbox.figures.requests == 100)
        let corrected = try bench.sql("SELECT count(*) FROM device WHERE environment = 1").output
        #expect(corrected.trimmingCharacters(in: .whitespacesAndNewlines) == "100")
        let shown = try bench.command("devices", "show", try #require(misplaced.first).token)
        #expect(shown.output.contains("sandbox"))
    }

    // MARK: Tools

    private func providerToken(_ key: ES256PrivateKey, issuedAt: Int64) throws -> String {
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(Workbench.keyID)"}"#.utf8))
        let claims = Base64URL.encode(Array(#"{"iss":"\#(Workbench.teamID)","iat":\#(issuedAt)}"#.utf8))
        let signature = try key.sign(Array("\(header).\(claims)".utf8))
        return "\(header).\(claims).\(Base64URL.encode(signature))"
    }

    /// Expects one push to each device, and no token given up.
    private func expectWhole(
        _ bench: Workbench, _ end: CampaignView, at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(end.state == "completed", sourceLocation: location)
        #expect(end.counts["accepted"] == Self.devices, sourceLocation: location)
        #expect(end.addsUp, sourceLocation: location)
        #expect(bench.simulator.figures.accepted == Self.devices, sourceLocation: location)
        #expect(bench.simulator.figures.distinctTokens == Self.devices, sourceLocation: location)
        #expect(bench.simulator.figures.duplicates == 0, sourceLocation: location)
        let retired = try bench.sql("SELECT count(*) FROM device WHERE retired_at IS NOT NULL").output
        #expect(retired.trimmingCharacters(in: .whitespacesAndNewlines) == "0", sourceLocation: location)
    }
}
