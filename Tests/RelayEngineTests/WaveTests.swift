// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@Suite struct WaveTests {
    // MARK: The plan and the draw

    @Test(arguments: [[], [100], [0, 10_000], [100, 100, 10_000], [500, 100, 10_000], [100, 9_999], [100, 10_001]])
    func endsThatDoNotRiseToTheWholeAreNoPlan(ends: [Int]) {
        #expect(WavePlan(ends: ends) == nil)
    }

    @Test func theDrawGivesEachWaveItsShareHoweverTelephonesAreNumbered() throws {
        let plan = try #require(WavePlan(ends: [10, 100, 1_000, 10_000]))
        for requirement in [Int64(0), 1, 4711, .max] {
            let draw = WaveDraw(plan, requirement: requirement)
            var counts = [Int](repeating: 0, count: plan.count)
            // Consecutive numbers: the poorest hashes that there are.
            for number in 0..<200_000 { counts[draw.wave(of: "138\(number)".utf8)] += 1 }
            for wave in 0..<plan.count {
                let expected = plan.share(of: wave) * 200_000
                // Five deviations of a binomial distribution: less than one in a million runs is outside.
                #expect(abs(Double(counts[wave]) - expected) < 5 * expected.squareRoot(), "\(requirement) \(wave)")
            }
        }
    }

    @Test func theDrawStaysForARequirementAndIsAnotherForTheNext() throws {
        let plan = try #require(WavePlan(ends: [1_000, 10_000]))
        func first(_ requirement: Int64) -> Set<Int> {
            let draw = WaveDraw(plan, requirement: requirement)
            return Set((0..<20_000).filter { draw.wave(of: "138\($0)".utf8) == 0 })
        }
        let (one, other) = (first(1), first(2))
        #expect(one == first(1))
        // A tenth of a tenth by chance.
        #expect((120...280).contains(one.intersection(other).count))
    }

    @Test func theDrawDoesNotFollowTheOrderOfNumbers() throws {
        let plan = try #require(WavePlan(ends: [1_000, 10_000]))
        let draw = WaveDraw(plan, requirement: 1)
        for tenth in 0..<10 {
            let count = (tenth * 10_000..<(tenth + 1) * 10_000).count { draw.wave(of: "138\($0)".utf8) == 0 }
            #expect((850...1_150).contains(count))
        }
    }

    @Test func whoIsNobodyIsOfTheLastWaveAndTheDrawIsTheReach() throws {
        let plan = try #require(WavePlan(ends: [1_000, 5_000, 10_000]))
        let draw = WaveDraw(plan, requirement: 7)
        #expect(draw.wave(of: String.UTF8View?.none) == 2)
        for number in 0..<1_000 {
            let part = UserDraw(requirement: 7).part(of: "138\(number)".utf8)
            #expect(draw.wave(of: "138\(number)".utf8) == (part < 1_000 ? 0 : part < 5_000 ? 1 : 2))
        }
    }

    // MARK: Between waves

    private static let end = Timestamp(seconds: 5_000)

    private func waves(
        accepted: Int64 = 95, failed: Int64 = 5, retrying: Int64 = 0, ended: Timestamp? = end,
        released: Timestamp? = nil
    ) -> CampaignWaves {
        CampaignWaves([
            CampaignWave(
                number: 0, end: 100, devices: 120, pending: ended == nil ? 20 : 0, accepted: accepted, failed: failed,
                retrying: retrying, begunAt: Timestamp(seconds: 1), endedAt: ended, releasedAt: released),
            CampaignWave(number: 1, end: 10_000, devices: 9_880, pending: 9_880),
        ])
    }

    @Test func theNextWaveWaitsForThePauseFromTheEndOfTheOneBefore() {
        let rules = WaveRules(pause: .seconds(600))
        #expect(waves(ended: nil).nextAt(rules) == nil)
        #expect(waves().nextAt(rules) == Self.end + .seconds(600))
        #expect(waves(released: Self.end).nextAt(rules) == Self.end)
        #expect(waves().nextAt(nil) == Self.end, "the configuration has no waves any more")
        #expect(waves(accepted: 0, failed: 0).nextAt(rules) == Self.end, "nobody was pushed to")
        #expect(waves(accepted: 0, failed: 0, retrying: 1).nextAt(rules) == Self.end + .seconds(600))
        #expect(CampaignWaves().nextAt(rules) == nil)
    }

    @Test func tooManyFailuresHoldTheNextWaveAndSayWhy() {
        let rules = WaveRules(pause: .zero, failedShare: 0.05)
        #expect(waves().verdict(rules) == .begin, "as many as are allowed")
        #expect(
            waves(accepted: 94, failed: 6).verdict(rules)
                == .hold(
                    .stageFailed,
                    reason:
                        "WaveFailed: 6 of 100 pushes of wave 1 of 2 failed, more than 5 percent; approve begins wave "
                        + "2, which takes it to 100 percent of the audience"))
        #expect(
            waves(accepted: 93, failed: 3, retrying: 4).verdict(rules)
                == .hold(
                    .stageFailed,
                    reason:
                        "WaveFailed: 3 of 100 pushes of wave 1 of 2 failed and 4 are tried again, more than 5 percent; "
                        + "approve begins wave 2, which takes it to 100 percent of the audience"))
        #expect(waves(accepted: 0, failed: 0, retrying: 9).nextAt(rules) == Self.end, "a pause of nothing")
        guard case .hold(.stageFailed, _) = waves(accepted: 0, failed: 0, retrying: 9).verdict(rules) else {
            Issue.record("a wave that the service took nothing of lets the next begin")
            return
        }
        #expect(waves(accepted: 0, failed: 100, released: Self.end).verdict(rules) == .begin)
        #expect(waves(accepted: 0, failed: 0).verdict(rules) == .begin)
    }

    @Test func whatWasToBeTriedAgainHasFailedWhenItsTimeIsOver() {
        var expired = waves(accepted: 90, failed: 3, retrying: 7)
        expired.end(isExpired: true)
        #expect(expired.list.map(\.failed) == [10, 0] && expired.list.map(\.retrying) == [0, 0])
        var cancelled = waves(accepted: 90, failed: 3, retrying: 7)
        cancelled.end(isExpired: false)
        #expect(cancelled.list.map(\.failed) == [3, 0] && cancelled.list.map(\.retrying) == [0, 0])
    }

    @Test func approvalIsAskedForOnce() {
        let rules = WaveRules(pause: .zero, needsApproval: true)
        guard case .hold(.approval, let reason) = waves().verdict(rules) else {
            Issue.record("not held")
            return
        }
        #expect(reason.hasPrefix("WaveDone: wave 1 of 2 is done and the next waits for approval"))
        #expect(waves(released: Self.end).verdict(rules) == .begin)
    }
}
