// SPDX-License-Identifier: Apache-2.0
import Foundation
import PrivatePostgres
import PushSimulator
import StorePeers
import TestPeers
import Testing

/// Relays whose database goes away, fails over, or is changed by a newer release.
extension RelayFleetTests {
    /// No relay is given up for an outage of the database.
    @Test(Self.inFull) func aDatabaseThatRestartsFencesNobody() throws {
        let trial = try RelayTrial(devices: 3_000, seconds: 12)
        let (campaign, owner) = try trial.beginCampaign()
        try trial.server.stop()
        // Longer than a lease.
        usleep(7_000_000)
        try trial.server.start()
        #expect(try trial.finish(campaign, by: 1 - owner).state == "completed")
        for number in 0...1 {
            #expect(!(try trial.relay(number).log.contains("is given up")), "\(trial.log)")
        }
        try trial.judge(
            "the database is away for 7 s", [(campaign, trial.fleet.devices)], by: owner, interruptions: 0)
    }

    /// Two relays that know both servers; the second server follows the first, asynchronously.
    private func followedPrimary() throws -> (PostgresServer, PostgresServer, RelayTrial) {
        let primary = try PostgresServer.durable()
        let standby = try PostgresServer.durable(standbyOf: primary, ["synchronous_standby_names = ''"])
        let way =
            "host=\(primary.folder),\(standby.folder) port=\(primary.port),\(standby.port) user=\(PostgresServer.superuser) "
            + "dbname=postgres"
        let trial = try RelayTrial(devices: 3_000, seconds: 15, on: primary, ways: [0: way, 1: way])
        _ = try trial.until("the standby does not follow") {
            try primary.number("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") > 0 ? true : nil
        }
        return (primary, standby, trial)
    }

    /// A synchronous standby has all that was recorded, including the relays' places and leases.
    @Test(Self.inFull) func aDatabaseThatFailsOverLosesNothing() throws {
        let (primary, standby, trial) = try followedPrimary()
        try primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try primary.sql("SELECT pg_reload_conf()")
        let (campaign, owner) = try trial.beginCampaign()
        try primary.stop()
        try standby.promote()
        trial.server = standby
        #expect(try trial.finish(campaign, by: 1 - owner).state == "completed")
        for number in 0...1 {
            #expect(!(try trial.relay(number).log.contains("is given up")), "\(trial.log)")
        }
        try trial.judge(
            "the database fails over, synchronous", [(campaign, trial.fleet.devices)], by: owner, interruptions: 0)
        #expect(trial.bench.simulator.figures.duplicates == 0)
    }

    /// Pushes that the standby has no record of are sent again on an operator's word, with the same ids; a relay with a place there
    /// keeps it.
    @Test(Self.inFull) func aDatabaseThatFailsOverBehindItsPrimary() throws {
        let (primary, standby, trial) = try followedPrimary()
        let (campaign, owner) = try trial.beginCampaign()
        // From here on the standby receives nothing.
        try standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
        try standby.sql("SELECT pg_reload_conf()")
        _ = try trial.until("the standby is not cut off") {
            try standby.number("SELECT count(*) FROM pg_stat_wal_receiver") == 0 ? true : nil
        }
        let kept = try standby.recorded()
        _ = try trial.until("nothing is recorded that the standby has not") {
            try primary.recorded() > kept + 100 ? true : nil
        }
        try primary.stop()
        try standby.promote()
        trial.server = standby
        // A relay that saw a later state stops, and accepting at one relay may do for the other.
        for number in 0...1 {
            let store = try trial.until("relay-\(number) does not answer") { () -> [String: Any]? in
                let answer = try trial.api(number, "GET", "/v1/store")
                guard answer.status == 200 else { return nil }
                return number == 1 || answer.json["wentBack"] is [String: Any] ? answer.json : nil
            }
            guard let word = store["wentBack"] as? [String: Any] else { continue }
            let body = String(decoding: try JSONSerialization.data(withJSONObject: word), as: UTF8.self)
            let answer = try trial.api(number, "POST", "/v1/store/accept", body: body)
            #expect(answer.status == 200 || number == 1, "\(answer)")
        }
        #expect(try trial.finish(campaign, by: 1 - owner).state == "completed")
        try trial.judge(
            "the database fails over, asynchronous", [(campaign, trial.fleet.devices)], by: owner, interruptions: 1)
        #expect(trial.bench.simulator.figures.duplicates > 0, "something was lost")
    }

    /// Two releases on one store: a schema step that the older one can live with, then one that it cannot.
    @Test(Self.inFull) func anOlderReleaseStopsWhenTheStoreHasOutgrownIt() throws {
        let trial = try RelayTrial(devices: 1_000, seconds: 5)
        let (campaign, owner) = try trial.beginCampaign(sent: 50)
        // A newer release does this at its start: it adds a column that older ones do not know.
        try trial.server.sql(
            """
            BEGIN; SET search_path = upgrade_relay; ALTER TABLE device ADD COLUMN mood bigint;
            INSERT INTO migration VALUES (9001, 'what is to come', 1); COMMIT
            """)
        #expect(try trial.finish(campaign, by: 1 - owner).state == "completed")
        // A relay that is started again works with it, too.
        try trial.stop(1 - owner)
        try trial.start(1 - owner)
        try trial.judge(
            "a newer release's first step", [(campaign, trial.fleet.devices)], by: 1 - owner, interruptions: 0)
        // The second step, which is made when all relays should be of the newer release.
        try trial.server.sql("UPDATE upgrade_relay.store_schema SET oldest = 9001")
        for number in 0...1 {
            let relay = try trial.relay(number)
            let end = relay.wait()
            #expect(end.status == 1 && !end.wasKilled, "\(relay.log)")
            #expect(relay.log.contains("a newer release has changed the store"), "\(relay.log)")
        }
        #expect(
            try trial.server.number("SELECT count(*) FROM upgrade_relay.node WHERE gone = 'stopped'") == 2,
            "they gave back what they had")
        let again = try RelayProcess(launching: trial.bench.path("relay-0.json5"), arguments: [])
        #expect(again.wait().status == 1)
        #expect(again.log.contains("for releases that know version 9001"), "\(again.log)")
    }
}
