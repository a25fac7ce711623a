// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import RelayDaemon

/// The reason that a campaign does not move, in words, and whether anything is still sent.
@Suite struct CampaignReasonTests {
    private static let time = Timestamp(seconds: 1_800_000_000)

    private struct Case {
        var record: CampaignRecord
        var trouble: String?
        var standsStill = false
        var nextRetryAt: Timestamp?
        var hasRoute = true
        var held: RequirementWait?
        var nextWaveAt: Timestamp?
        var hours: HoursWait?
        var past: String?

        init(_ state: CampaignState, _ change: (inout CampaignCounts) -> Void = { _ in }) throws {
            var counts = CampaignCounts()
            (counts.pending, counts.accepted) = (30, 50)
            change(&counts)
            record = try CampaignRecord.sample(state, counts, at: time)
        }

        /// Only the canary gets a push.
        mutating func goesToItsCanary(endedAt: Timestamp? = nil) {
            record.requirement.reach = 0
            record.requirement.canary = record.requirement.canary ?? []
            record.figures.canaryEndedAt = endedAt
        }

        var reason: CampaignReason {
            CampaignReason(
                record: record, counts: record.figures.counts, trouble: trouble, isHeld: standsStill,
                nextRetryAt: nextRetryAt, hasRoute: hasRoute, held: held, nextWaveAt: nextWaveAt,
                hours: hours, past: past)
        }
    }

    @Test(arguments: CampaignState.allCases)
    func aStoreThatWentBackStopsWhatIsNotOver(state: CampaignState) throws {
        var stopped = try Case(state)
        stopped.past = "the store went back in time"
        #expect((stopped.reason.text == "the store went back in time") != state.isFinal)
        #expect(stopped.reason.standsStill)
    }

    /// A wave that waits for its approval was shown as a fault.
    @Test func aPlannedWaitIsNoFault() throws {
        func wait(_ state: CampaignState, _ change: (inout Case) -> Void = { _ in }) throws -> Wait? {
            var one = try Case(state)
            change(&one)
            return one.reason.wait
        }
        let later = Self.time + .seconds(3600)
        #expect(try wait(.suspended) { $0.record.facts.cause = .approval } == .approval)
        #expect(try wait(.suspended) { $0.record.facts.cause = .credential } == .fault(.credential))
        #expect(try wait(.waiting) { $0.held = RequirementWait(.time(later), "required from then") } == .time(later))
        #expect(try wait(.waiting) { $0.held = RequirementWait(.store, "waiting until the App Store") } == .store)
        #expect(try wait(.waiting) { $0.held = .lostStore } == .lostStore)
        #expect(try wait(.waiting) == nil, "it is about to come into force")
        #expect(try wait(.running) == nil)
        #expect(try wait(.running) { $0.hasRoute = false } == .noRoute)
        #expect(
            try wait(.running) { $0.goesToItsCanary() } == .canary)
        #expect(
            try wait(.running) { $0.goesToItsCanary(endedAt: later) }
                == .release)
        for state in [CampaignState.completed, .cancelled, .superseded] { #expect(try wait(state) == nil) }
        let standings: [(Wait, Wait.Standing)] = [
            (.approval, .person), (.release, .person), (.pause, .person), (.time(later), .planned), (.store, .planned),
            (.fault(.topic), .trouble), (.noRoute, .trouble), (.lostStore, .trouble), (.past, .trouble),
        ]
        for (wait, standing) in standings { #expect(wait.standing == standing) }
        #expect(standings.map(\.0.kind.rawValue).prefix(4) == ["approval", "release", "pause", "time"])
        #expect(Wait.time(later).end == later && Wait.store.end == nil)
    }

    @Test func whatMovesHasNoReason() throws {
        let reason = try Case(.running).reason
        #expect(reason.text == nil && !reason.standsStill)
    }

    /// The commands showed "paused" and nothing else.
    @Test func whoPausedItAndWhenIsSaid() throws {
        var paused = try Case(.paused)
        (paused.record.facts.pausedAt, paused.record.facts.pausedBy) = (Self.time, "alice")
        #expect(
            paused.reason.text
                == "paused by alice at 2027-01-15T08:00:00.000Z; \"campaigns resume 1f0c2ab93d44\" goes on")
        #expect(paused.reason.standsStill)
        // Paused by an older release, which did not note it.
        #expect(try Case(.paused).reason.text == "paused; \"campaigns resume 1f0c2ab93d44\" goes on")
    }

    /// The sandbox cannot be reached, but production goes on: the time left is production's.
    @Test func anEnvironmentsTroubleIsAReasonAndNoStandstill() throws {
        var sandbox = try Case(.running)
        sandbox.trouble = "cannot reach the push service: https://sandbox"
        #expect(sandbox.reason.text == sandbox.trouble && !sandbox.reason.standsStill)
        sandbox.standsStill = true
        #expect(sandbox.reason.standsStill)
    }

    /// 96 pushes that waited two minutes for their retry were shown as "running", 0/s, "0s left".
    @Test func whatOnlyWaitsForItsRetrySaysUntilWhen() throws {
        var tail = try Case(.running) { ($0.pending, $0.retrying) = (0, 96) }
        tail.nextRetryAt = Self.time
        #expect(tail.reason.text == "96 pushes are tried again, by itself: the next at 2027-01-15T08:00:00.000Z")
        #expect(tail.reason.standsStill)
        var moving = try Case(.running) { ($0.pending, $0.retrying, $0.inFlight) = (0, 95, 1) }
        moving.nextRetryAt = Self.time
        #expect(moving.reason.text == nil && !moving.reason.standsStill)
    }

    @Test func aCanaryThatIsDoneStandsStill() throws {
        var canary = try Case(.running)
        canary.record.requirement.canary = ["13800138000"]
        canary.goesToItsCanary()
        #expect(canary.reason.text?.hasSuffix("is being sent to, and no other user") == true)
        #expect(!canary.reason.standsStill)
        canary.goesToItsCanary(endedAt: Self.time)
        #expect(canary.reason.text?.hasSuffix("\"campaigns approve 1f0c2ab93d44\" sends to everybody") == true)
        #expect(canary.reason.standsStill, "no time left is told while nothing moves")
    }

    @Test func whatWaitsForAStoreThatIsGoneSaysSo() throws {
        var lost = try Case(.waiting)
        lost.held = .lostStore
        #expect(
            lost.reason.text?.hasPrefix("the store that it waited for is not in the configuration any more") == true)
        #expect(lost.reason.text?.hasSuffix("put the version in force by \"version release\"") == true)
        #expect(lost.reason.standsStill)
    }

    /// Nothing is sent at night: the hours come before any trouble of a push service, and their end is known.
    @Test func whatWaitsForItsHoursSaysWhenItGoesOn() throws {
        var night = try Case(.running) { $0.retrying = 3 }
        night.hours = HoursWait(until: Self.time, text: "outside the app's hours")
        night.trouble = "cannot reach the push service"
        #expect(night.reason.text == "outside the app's hours" && !night.reason.standsStill)
        night.standsStill = true
        #expect(night.reason.standsStill, "the store, say, refuses")
        // Only retries are left: their times are no news before the hours begin.
        var tail = try Case(.running) { ($0.pending, $0.retrying) = (0, 3) }
        (tail.hours, tail.nextRetryAt) = (night.hours, Self.time)
        #expect(tail.reason.text == "outside the app's hours" && !tail.reason.standsStill)
        // A longer pause between waves, and a person, come before the hours.
        var pause = try Case(.running)
        (pause.hours, pause.nextWaveAt) = (night.hours, Self.time + .seconds(1))
        #expect(pause.reason.text == nil)
        var canary = try Case(.running)
        canary.record.requirement.canary = ["1"]
        canary.goesToItsCanary(endedAt: Self.time)
        canary.hours = night.hours
        #expect(canary.reason.text?.hasPrefix("the canary of 1 phone number is done") == true)
    }

    @Test func anAppWithoutAPushServiceSaysSoWhateverElseIsWrong() throws {
        var gone = try Case(.running)
        (gone.hasRoute, gone.trouble) = (false, "cannot reach the push service")
        #expect(gone.reason.text?.hasPrefix("noRoute: com.example.app has no push service") == true)
        #expect(gone.reason.standsStill)
    }
}
