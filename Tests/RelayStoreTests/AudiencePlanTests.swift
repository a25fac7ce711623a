// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Testing

@Suite("How an audience is cut into shards")
struct AudiencePlanTests {
    private typealias Shard = AudiencePlan.PlannedShard

    @Test("What the sandbox takes out of production's shards lets neighbours become one, and empty ones go")
    func whole() {
        let sandboxIn: [Int64: Int64] = [0: 7, 10: 10, 20: 5, 30: 1]
        let plan = AudiencePlan(
            size: 10, all: [0, 10, 20, 30].map { Shard(after: $0, last: $0 + 10, devices: 10) },
            others: [Shard(after: 0, last: 31, devices: 23, channel: .sandbox)]
        ) { sandboxIn[$0.after] ?? 0 }
        #expect(
            plan.shards == [
                Shard(after: 0, last: 30, devices: 8), Shard(after: 30, last: 40, devices: 9),
                Shard(after: 0, last: 31, devices: 23, channel: .sandbox),
            ])
        #expect(plan.packed == .sandbox)
    }

    @Test("Waves have shards of their own, of their share; the last one goes over everybody")
    func waves() throws {
        let waves = try #require(WavePlan(ends: [1000, 10_000]))
        // Every tenth of the 400 devices is of the first wave, and the last ten are the sandbox's.
        var device: Int64 = 0
        var plan = AudiencePlan(size: 200, in: waves) {
            guard device < 400 else { return nil }
            device += 1
            return (device, device % 10 == 1 ? 0 : 1, device > 390 ? .sandbox : .production)
        }
        let first = plan.shards.filter { $0.wave == 0 && $0.channel == .production }
        #expect(first.map(\.devices) == [20, 19] && first.map(\.last) == [191, 381])
        let second = plan.shards.filter { $0.wave == 1 && $0.channel == .production }
        #expect(second.map(\.devices) == [180, 171] && second.map(\.after) == [0, 200] && second.last?.last == 390)
        #expect(plan.shards.filter { $0.channel == .sandbox }.map(\.devices) == [1, 9])
        #expect(plan.packed == nil && plan.shards.map(\.wave) == plan.shards.map(\.wave).sorted())
        // The sandbox's shard has one device, and its count cannot fall below zero.
        plan.leaveOut(201, wave: 0, .production)
        for _ in 0..<2 { plan.leaveOut(201, wave: 0, .sandbox) }
        #expect(plan.shards.map(\.devices).reduce(0, +) == 398)
    }
}
