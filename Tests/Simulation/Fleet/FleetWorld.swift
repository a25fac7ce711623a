// SPDX-License-Identifier: Apache-2.0
import FanOut
import FaultInjection
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import TestStores
import UpgradeRules
import WireFormat

/// Several relays on one store, with real leases, real claims and real fan-outs, in a world where processes stand still,
/// connections are cut and clocks are wrong. The rules are checked at each push and after each step.
///
/// Unchecked: only one thread uses it.
package final class FleetWorld: @unchecked Sendable {
    /// How often a relay looks at the store if it is not notified.
    static let look = Duration.milliseconds(500)

    let script: FleetScript
    let storage: any SimulatedStorage
    var clock = VirtualClock() { didSet { storage.set(time: clock.rightTime) } }
    var tick: MonotonicTime { clock.tick }
    let settings: Settings
    var relays: [FleetRelay?]
    /// How far each machine's wall clock is off.
    var clockErrors: [Duration]
    /// Until when a relay's writes do not reach the store, and until when it waits for each answer.
    var cutUntil: [MonotonicTime]
    var slowUntil: [MonotonicTime]
    /// Since when each relay has been well; nil: it is not.
    var healthySince: [MonotonicTime?]
    /// The judge's own connection to the store, which is never cut.
    private(set) var judge: (any TestStore)?
    private var dice: SeededGenerator
    private var version = 0
    package private(set) var violation: Violation?
    package private(set) var story: [String] = []
    package private(set) var reached: [String: Int] = [:]
    private let tells: Bool

    // The push service's record.
    var taken: [String: Int] = [:]
    /// By campaign: the tokens that were pushed to.
    var told: [String: Set<String>] = [:]
    /// By campaign and epoch: since when it has had no living owner.
    var unownedSince: [String: MonotonicTime] = [:]
    private var depth = 0
    /// The number of turns of the fan-outs.
    var turns = 0

    package init(_ script: FleetScript, in storage: any SimulatedStorage, tells: Bool = false) throws {
        (self.script, self.storage, self.tells) = (script, storage, tells)
        dice = SeededGenerator(seed: UInt64(script["chance"]))
        var setup = Setup()
        setup["apps"] = 2
        setup["batch"] = script["batch"]
        for app in 0..<2 {
            setup["platform\(app)"] = app < script["android"] ? 1 : 0
            setup["quota\(app)"] = script["quota"]
            setup["pace\(app)"] = script["pace"]
        }
        settings = Settings(setup)
        let count = script["relays"]
        relays = Array(repeating: nil, count: count)
        clockErrors = Array(repeating: .zero, count: count)
        cutUntil = Array(repeating: clock.tick, count: count)
        slowUntil = cutUntil
        healthySince = Array(repeating: nil, count: count)
        try storage.clear()
        storage.set(time: clock.rightTime)
        judge = try storage.open(
            SimulatedSetting(
                clock: { self.clock.rightTime }, ticks: { self.tick }, random: random,
                onEnter: { self.storage.disarm() }))
    }

    var random: RandomSource { RandomSource { self.dice.next() } }

    func wall(_ relay: Int) -> Timestamp { clock.rightTime + clockErrors[relay] }

    /// The answer that the relay's lanes get.
    func mayBegin(_ number: Int) -> Bool {
        guard let relay = relays[number] else { return false }
        return relay.board.mayBegin(relay.store.membership)
    }

    func broke(_ rule: String, _ text: String) {
        guard violation == nil else { return }
        violation = Violation(rule: rule, text: text)
        note("→ \(rule): \(text)")
    }

    func note(_ text: @autoclosure () -> String) {
        if tells { story.append("\(clock.rightTime.internetTime)  \(text())") }
    }

    func reach(_ name: String) { reached[name, default: 0] += 1 }

    func logged(_ relay: Int, _ level: LogLevel, _ message: StaticString, _ fields: Log.Fields) {
        reach("log: \(message)")
        let words = fields.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
        note("  relay-\(relay) \(level.name) \(message) \(words)")
    }

    // MARK: Between a relay and the store

    /// Handles a relay's request to the store.
    func enters(_ relay: Int) {
        if tick < slowUntil[relay], depth < 4, let one = relays[relay], !one.isBlocked {
            // Waits as long as its driver would; the other relays go on.
            let left = one.store.membership.untilDoubt ?? .zero
            let until = min(slowUntil[relay], tick + max(left - .seconds(1), .milliseconds(500)))
            one.isBlocked = true
            depth += 1
            pass(to: until)
            depth -= 1
            one.isBlocked = false
        }
        if tick < cutUntil[relay] { storage.arm(.write, first: 1) } else { storage.disarm() }
    }

    // MARK: The run

    package func run() -> Violation? {
        for number in relays.indices { start(number) }
        register()
        pass(.seconds(1))
        for step in script.steps where violation == nil {
            perform(step)
            pass(step.kind == .pass ? Self.times[step.value % Self.times.count] : .milliseconds(300))
            check()
        }
        if violation == nil { heal() }
        end()
        return violation
    }

    private static let times: [Duration] = [
        .milliseconds(200), .seconds(1), .seconds(3), .seconds(5), .seconds(9), .seconds(20), .seconds(60),
    ]

    private func register() {
        for app in settings.apps {
            let devices = (0..<script["devices"]).map { number in
                DeviceRegistration(
                    app: settings.key(app), token: Self.token(app, number),
                    telephone: String(13_800_000_000 + number), version: try? Version("1.0"))
            }
            do {
                try judge?.register(devices, at: clock.rightTime)
            } catch {
                broke("store.refuses", "\(error)")
            }
        }
    }

    /// A token in the format of both push services.
    private static func token(_ app: Int, _ number: Int) -> String {
        let hash = String(UInt64(app * 1000 + number + 1) &* 0x9e37_79b9_7f4a_7c15, radix: 16)
        return String(repeating: "0", count: 64 - hash.count) + hash
    }

    func start(_ number: Int) {
        guard relays[number] == nil else { return }
        note("relay-\(number) starts")
        // The storage may still be armed for another relay whose connection is cut. A store is opened before any request to it.
        storage.disarm()
        do {
            relays[number] = try FleetRelay(self, number: number, settings: settings)
            // A new process has the same connection to the store as the one before it.
            healthySince[number] = wellAgain(number)
        } catch {
            // Its connection is cut: it tries again at its next start.
            note("  it does not: \(error)")
        }
    }

    /// The end of the last of a relay's troubles.
    private func wellAgain(_ number: Int) -> MonotonicTime {
        max(tick, cutUntil[number], slowUntil[number], relays[number]?.suspendedUntil ?? tick)
    }

    private func end() {
        for relay in relays { relay?.store.close() }
        relays = relays.map { _ in nil }
        judge?.close()
        judge = nil
        storage.disarm()
        storage.set(time: nil)
    }

    func pass(_ time: Duration) { pass(to: tick + time) }

    /// Gives turns until that time.
    func pass(to end: MonotonicTime) {
        var turns = 0
        while violation == nil {
            var did = false
            for relay in relays.compactMap(\.self) where violation == nil {
                if relay.turn() { did = true }
                judgeLeaders()
            }
            if did {
                turns += 1
                guard turns < 5000 else { return broke("dispatcher.spins", "5000 turns at one moment") }
                continue
            }
            guard tick < end else { return }
            let next = relays.compactMap { $0?.nextEvent }.filter { $0 > tick }.min() ?? end
            turns = 0
            clock.pass(to: min(next, end))
        }
    }

    // MARK: Steps

    private func perform(_ step: FleetScript.Step) {
        let number = step.relay % relays.count
        let seconds = 1 + step.value % 15
        reach("did: \(step.kind.rawValue)")
        switch step.kind {
        case .pass: break
        case .bump: bump(by: number, app: step.value % 2, tells: step.value % 3 > 0)
        case .pause: move("pauses", by: number) { _ = try $0.pause(campaign: $1, by: Self.actor) }
        case .resume: move("resumes", by: number) { _ = try $0.resume(campaign: $1, isUrgent: false, by: Self.actor) }
        case .cancel: move("cancels", by: number) { _ = try $0.cancel(campaign: $1, by: Self.actor) }
        case .kill:
            guard let relay = relays[number] else { return }
            note("relay-\(number) is killed")
            relay.store.close()
            (relays[number], healthySince[number]) = (nil, nil)
        case .stop:
            guard let relay = relays[number], relay.isAwake else { return }
            note("relay-\(number) is stopped in order")
            relay.stop()
            relay.store.close()
            (relays[number], healthySince[number]) = (nil, nil)
        case .start: start(number)
        case .suspend:
            guard let relay = relays[number] else { return }
            note("relay-\(number) stands still for \(seconds) s")
            relay.suspendedUntil = tick + .seconds(seconds)
            healthySince[number] = wellAgain(number)
        case .cutOff:
            note("what relay-\(number) writes does not reach the store for \(seconds) s")
            cutUntil[number] = tick + .seconds(seconds)
            healthySince[number] = relays[number].map { _ in wellAgain(number) }
        case .slow:
            note("the store is slow for relay-\(number) for \(seconds) s")
            slowUntil[number] = tick + .seconds(seconds)
            healthySince[number] = relays[number].map { _ in wellAgain(number) }
        case .clock:
            clockErrors[number] = .seconds([0, 90, -90, 3600][step.value % 4])
            note("relay-\(number)'s clock is \(clockErrors[number]) off")
        case .tell:
            for relay in relays { relay?.poke() }
        }
    }

    private static let actor = Principal("ada", .token, via: "api")

    private func bump(by number: Int, app: Int, tells: Bool) {
        guard let relay = relays[number], relay.isAwake else { return }
        version += 1
        guard let required = try? Version(World.text(version: version)) else { return }
        var bump = VersionBump(app: settings.key(app), required: required)
        bump.isConfirmed = true
        do {
            _ = try relay.control.bump(
                bump, by: Self.actor, receipt: nil
            ) { _, _ in StoredAnswer(status: 200, body: []) }
            note("relay-\(number) is asked for \(required) of app \(app)")
            if tells { for relay in relays { relay?.poke() } }
        } catch {
            note("relay-\(number) refuses \(required): \(error)")
        }
    }

    private func move(_ word: String, by number: Int, _ body: (any RequirementOperations, String) throws -> Void) {
        guard let relay = relays[number], relay.isAwake,
            let campaign = (try? judge?.openCampaigns())?.last
        else { return }
        do {
            try body(relay.control, campaign.id)
            note("relay-\(number) \(word) \(campaign.id)")
            for relay in relays { relay?.poke() }
        } catch {
            note("relay-\(number) does not: \(error)")
        }
    }

    /// All trouble ends; then all devices get their pushes, and every campaign ends.
    private func heal() {
        note("all trouble ends")
        for number in relays.indices {
            (cutUntil[number], slowUntil[number], clockErrors[number]) = (tick, tick, .zero)
            relays[number]?.suspendedUntil = relays[number]?.suspendedUntil.map { _ in tick }
        }
        pass(.seconds(20))
        for number in relays.indices { start(number) }
        pass(.seconds(20))
        for campaign in (try? judge?.openCampaigns()) ?? [] where campaign.state == .paused {
            _ = try? relays[0]?.control.resume(campaign: campaign.id, isUrgent: true, by: Self.actor)
        }
        for _ in 0..<40 where violation == nil {
            pass(.seconds(60))
            check()
            if (try? judge?.openCampaigns())?.isEmpty ?? false { break }
        }
        if violation == nil { checkEnd() }
    }
}
