// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import Registry

@Suite struct DeviceRuleTests {
    private static let then = Timestamp(seconds: 1_700_000_000)
    private static let now = then + .seconds(86_400)

    private func update(
        _ source: RegistrationSource, _ said: Observation, _ life: DeviceLife, differing: DeviceFieldSet = []
    ) -> DeviceRule.Update? {
        let known = DeviceRule.Known(life, differing: differing, absent: [])
        let verdict = DeviceRule(source, at: Self.now).judge(said, known) { _ in
            Issue.record("a version is read where it does not decide")
            return false
        }
        guard case .update(let update) = verdict else { return nil }
        return update
    }

    @Test func recordsThatSayWhatIsKnownWriteNothing() {
        #expect(update(.records, Observation(leftOut: []), DeviceLife(registered: Self.then)) == nil)
        let dead = DeviceLife(registered: Self.then, dead: Self.then + .seconds(9))
        #expect(update(.records, Observation(leftOut: [], deadSince: Self.then + .seconds(9)), dead) == nil)
    }

    @Test func aRegistrationRevivesAndRecordsDoNot() throws {
        let dead = DeviceLife(registered: Self.then, dead: Self.then + .seconds(9))
        let registered = try #require(update(.registration, Observation(leftOut: []), dead))
        #expect(registered.death == .ended && registered.life == DeviceLife(registered: Self.now))
        #expect(update(.records, Observation(leftOut: []), dead) == nil)
        let later = Observation(leftOut: [], registeredAt: Self.then + .seconds(60))
        #expect(update(.records, later, dead)?.death == .ended)
        let earlier = Observation(leftOut: [], registeredAt: Self.then + .seconds(5))
        #expect(update(.records, earlier, dead)?.death == .same)
    }

    @Test func aDeathInRecordsBeginsOnce() throws {
        let said = Observation(leftOut: [], deadSince: Self.then + .seconds(60))
        let alive = DeviceLife(registered: Self.then)
        let died = try #require(update(.records, said, alive))
        #expect(died.death == .began && died.life.dead == Self.then + .seconds(60))
        #expect(update(.records, said, died.life) == nil)
        // It was registered after that death.
        let before = Observation(leftOut: [], deadSince: Self.then - .seconds(1))
        #expect(update(.records, before, alive) == nil)
    }

    @Test func aRemovedDeviceComesBackWhole() throws {
        let removed = DeviceLife(registered: Self.then, wasRemoved: true)
        let back = try #require(update(.registration, Observation(leftOut: [.telephone]), removed))
        #expect(back.isBack && back.writes == [.telephone] && !back.isHandedOver && back.death == .same)
        let dead = DeviceLife(registered: Self.then, dead: Self.then + .seconds(9), wasRemoved: true)
        #expect(update(.records, Observation(leftOut: []), dead)?.death == .began)
    }

    @Test func anotherUserIsAHandover() throws {
        let change = try #require(
            update(.records, Observation(leftOut: []), DeviceLife(registered: Self.then), differing: [.telephone]))
        #expect(change.isHandedOver && change.writes == [.telephone] && !change.isBack)
    }

    @Test func aTimeThatIsToComeCountsAsNow() throws {
        let said = Observation(
            leftOut: [], registeredAt: Self.now + .seconds(99), deadSince: nil, seenAt: Self.now + .seconds(99))
        let life = try #require(update(.records, said, DeviceLife(registered: Self.then))).life
        #expect(life.registered == Self.now && life.seen == Self.now)
        #expect(DeviceRule(.records, at: Self.now).begin(said).registered == Self.now)
    }
}

@Suite struct LoginRuleTests {
    private static let last = Timestamp(seconds: 1_700_000_000)
    private static let week = RetirementRules.seenEvery

    private func rule(_ after: Duration, _ differing: DeviceFieldSet, now: Duration? = nil) -> LoginRule {
        LoginRule(
            at: Self.last + after, now: Self.last + (now ?? after), lastReport: Self.last, differing: differing)
    }

    @Test func aLoginThatSaysTheSameIsKeptOnceAWeek() {
        #expect(!rule(.seconds(60), []).isNews)
        #expect(!rule(Self.week - .seconds(1), []).isNews)
        #expect(rule(Self.week, []).isNews)
        #expect(rule(Self.week, []).verdict { _ in false } == LoginRule.Verdict(writes: [], isSeen: true))
        // The device's clock is not trusted: a login is not later than now.
        #expect(!rule(Self.week, [], now: .seconds(60)).isNews)
    }

    @Test func aLoginThatWaitedDoesNotDowngrade() {
        let late = rule(.seconds(-1), [.version, .osVersion])
        #expect(late.verdict { $0 == .version } == LoginRule.Verdict(writes: [], isSeen: false))
        #expect(late.verdict { $0 == .osVersion } == LoginRule.Verdict(writes: [.version], isSeen: true))
        #expect(late.verdict { _ in false } == LoginRule.Verdict(writes: [.version, .osVersion], isSeen: true))
        let fresh = rule(.seconds(1), [.version, .osVersion])
        #expect(fresh.verdict { _ in true } == LoginRule.Verdict(writes: [.version, .osVersion], isSeen: true))
    }
}
