// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import TestPeers
import Testing

/// Three relays under all faults at once: a few in `make test-fleet`, in `make soak-fleet` for as long as asked.
@Suite(
    .serialized, .ownThread,
    .enabled(if: PostgresServer.isInstalled, Comment(rawValue: PostgresServer.whereToGetIt)))
struct RelaySoakTests {
    private enum Fault: CaseIterable {
        case kill, killLeader, stop, hang, hangLong, crashDatabase, endSessions, cutWay
    }

    private static func number(_ name: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
    }

    @Test(.enabled(if: number("FLEET_FAULTS", 0) > 0, "make test-fleet, make soak-fleet"))
    func whateverHappensNobodyIsLost() throws {
        let faults = Self.number("FLEET_FAULTS", 4)
        let seed = UInt64(Self.number("FLEET_SEED", Int.random(in: 0..<1_000_000)))
        var random = SeededGenerator(seed: seed)
        let server = try PostgresServer.durable()
        let proxy = try StallingProxy(to: server.port)
        defer { proxy.stop() }
        let way = "host=127.0.0.1 port=\(proxy.port) user=\(PostgresServer.superuser) dbname=postgres sslmode=disable"
        // So slow that each fault finds the campaign at work: a take-over takes about seven seconds.
        let trial = try RelayTrial(
            relays: 3, devices: Self.number("FLEET_DEVICES", 2_000), seconds: 6 * faults, on: server, ways: [2: way])
        try trial.startAll()
        try trial.register(trial.fleet.devices)
        let campaign = try trial.bump()
        _ = try trial.awaitOwner(of: campaign)
        var counts: [Fault: Int] = [:]
        for _ in 0..<faults {
            let fault = Fault.allCases.randomElement(using: &random) ?? .kill
            counts[fault, default: 0] += 1
            try perform(fault, on: trial, campaign, proxy, &random)
            // A sleep on purpose: faults must come at any moment.
            usleep(UInt32.random(in: 0..<2_000_000, using: &random))
        }
        proxy.release()
        for number in 0...2 where trial.relays[number] == nil { try trial.start(number) }
        let end = try trial.finish(campaign, by: 0, within: .seconds(120 + 8 * faults))
        #expect(end.state == "completed" && end.addsUp, "seed \(seed): \(end)")
        let told = counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        try trial.judge(
            "soak, seed \(seed)", [(campaign, trial.fleet.devices)], by: 1, interruptions: faults, note: told)
        #expect(trial.bench.simulator.figures.providerTokens == 1, "seed \(seed)")
    }

    private func perform(
        _ fault: Fault, on trial: RelayTrial, _ campaign: String, _ proxy: StallingProxy,
        _ random: inout SeededGenerator
    ) throws {
        let owner = try trial.owner(of: campaign)
        let any = Int.random(in: 0...2, using: &random)
        func again(_ number: Int) throws { if trial.relays[number] == nil { try trial.start(number) } }
        switch fault {
        case .kill:
            let number = owner ?? any
            trial.kill(number)
            usleep(UInt32.random(in: 0..<9_000_000, using: &random))
            try again(number)
        case .killLeader:
            let number = try trial.leader() ?? any
            trial.kill(number)
            usleep(UInt32.random(in: 0..<9_000_000, using: &random))
            try again(number)
        case .stop:
            let number = owner ?? any
            if trial.relays[number] != nil { try trial.stop(number) }
            try again(number)
        case .hang, .hangLong:
            let relay = try trial.relay(owner ?? any)
            try relay.hang()
            usleep(fault == .hang ? 3_000_000 : 10_000_000)
            relay.send(SIGCONT)
        case .crashDatabase: try trial.server.crash()
        case .endSessions:
            try trial.server.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'upgrade-relay' AND random() < 0.5"
            )
        case .cutWay:
            proxy.stall()
            usleep(UInt32.random(in: 0..<9_000_000, using: &random))
            if Bool.random(using: &random) { proxy.cut() }
            proxy.release()
        }
    }
}
