// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import TestPeers
import Testing

/// Two relays of one name would send everything twice.
extension RelayFleetTests {
    @Test func aSecondRelayOfOneNameIsRefused() throws {
        let trial = try RelayTrial(devices: 1_000, seconds: 10)
        let second = trial.bench.path("relay-1.json5")
        let text = try String(contentsOfFile: second, encoding: .utf8)
        try Data(text.replacing("node: \"relay-1\"", with: "node: \"relay-0\"").utf8).write(to: URL(filePath: second))
        try trial.start(0)
        try trial.register(trial.fleet.devices)
        let campaign = try trial.bump()
        try #require(trial.bench.simulator.wait(forRequests: 50, deadline: .seconds(60)))
        let begun = ContinuousClock.now
        let refused = try CommandResult.of(["serve", "--config", second, "--stop-at-eof"], input: "")
        #expect(
            ContinuousClock.now - begun < .seconds(5) * Patience.factor,
            "it need not wait for a lease that is prolonged")
        #expect(refused.status == 1, "\(refused.errors)")
        let host = ProcessInfo.processInfo.hostName
        #expect(refused.errors.contains("another relay is called \"relay-0\": it runs on "), "\(refused.errors)")
        #expect(refused.errors.contains("has worked on this store since 20"), "\(refused.errors) \(host)")
        #expect(refused.errors.contains("hint: Give each relay a name of its own"), "\(refused.errors)")
        #expect(try trial.finish(campaign, by: 0).state == "completed")
        #expect(trial.bench.simulator.figures.duplicates == 0)
        #expect(!(try trial.relay(0).log.contains("took this one for dead")))
        // After a kill, a start on the same machine sees at once that the process is gone.
        trial.kill(0)
        let again = ContinuousClock.now
        try trial.start(0)
        let took = ContinuousClock.now - again
        #expect(took < .seconds(3) * Patience.factor, "\(took)")
        print("back after kill -9 in \(took)")
    }

    /// The former process may be on another machine, where it cannot be seen from here: its lease must run out.
    @Test func whoeverIsSilentLosesItsName() throws {
        let trial = try RelayTrial(devices: 100, seconds: 1)
        try trial.start(0)
        trial.kill(0)
        try trial.server.sql("UPDATE upgrade_relay.node SET process = 'elsewhere/1/2/3', host = 'elsewhere'")
        let begun = ContinuousClock.now
        try trial.start(0)
        let took = ContinuousClock.now - begun
        #expect(took < .seconds(9) * Patience.factor, "\(took)")
        print("back without its machine's word in \(took)")
    }
}
