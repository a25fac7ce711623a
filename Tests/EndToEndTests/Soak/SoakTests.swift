// SPDX-License-Identifier: Apache-2.0
import OwnThread
import Testing

/// `make soak` is the long one: SOAK_PUSHES pushes, and a tenth of that with kills.
@Suite(.serialized, .ownThread) struct SoakTests {
    @Test func aFewCampaignsUnderEveryFaultLoseNothing() throws {
        try soak(.short)
    }

    @Test func killsUnderEveryFaultLoseNothing() throws {
        try soak(SoakPlan.short.crashing)
    }

    @Test(.enabled(if: SoakPlan.long() != nil, "runs for minutes: make soak"))
    func soak() throws {
        guard let plan = SoakPlan.long() else { return }
        try soak(plan)
    }

    @Test(.enabled(if: SoakPlan.long() != nil, "runs for minutes: make soak"))
    func soakWithKills() throws {
        guard let plan = SoakPlan.long() else { return }
        try soak(plan.crashing)
    }

    private func soak(_ plan: SoakPlan) throws {
        let report = try Soak(plan).run()
        print(report.text)
        for line in report.verdict { Issue.record("\(line)") }
    }
}

/// The verdict itself: a leak must be found.
@Suite struct FlatnessTests {
    private func samples(_ make: (Int) -> DaemonSample) -> Flatness {
        Flatness((1...1000).map { make($0 * 1000) })
    }

    @Test func whatStaysFlatIsFlat() {
        let flat = samples { pushes in
            // Fills up in the first third, then goes up and down by 3 MiB.
            DaemonSample(
                pushes: pushes, memory: Int64(min(pushes, 300_000) * 100 + pushes % 7 * (512 << 10)),
                files: 40 + pushes / 1000 % 10, sockets: 40 + pushes / 1000 % 30, threads: 20 + pushes / 1000 % 5,
                log: 20 << 20)
        }
        #expect(flat.faults == [])
        #expect(abs(flat.slope) < 0.5)
    }

    @Test(arguments: [32, 100]) func bytesLostWithEveryPushAreFound(bytes: Int) {
        let leak = samples { DaemonSample(pushes: $0, memory: Int64((50 << 20) + $0 * bytes + $0 % 7 * (512 << 10))) }
        #expect(leak.faults.first?.hasPrefix("memory grows by ") == true)
        #expect(abs(leak.slope - Double(bytes) / 1.048576) < 1)
    }

    @Test func descriptorsThreadsAndTheLogAreLookedAt() {
        #expect(samples { DaemonSample(pushes: $0, files: $0 / 30_000) }.faults.count == 1)
        #expect(samples { DaemonSample(pushes: $0, sockets: $0 / 10_000) }.faults.count == 1)
        #expect(samples { DaemonSample(pushes: $0, threads: $0 / 30_000) }.faults.count == 1)
        #expect(samples { DaemonSample(pushes: $0, log: Int64($0) * 200) }.faults.count == 1)
    }

    @Test func aShortRunIsJudgedByWhatItGrew() {
        let short = (1...20).map { DaemonSample(pushes: $0 * 1000, memory: Int64($0) << 20) }
        #expect(Flatness(short).faults == [])
        #expect(Flatness(short.map { DaemonSample(pushes: $0.pushes, memory: $0.memory * 3) }).faults.count == 1)
        #expect(Flatness([]).faults.count == 1, "nothing seen is nothing proved")
    }
}
