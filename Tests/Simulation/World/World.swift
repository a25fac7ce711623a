// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import HTTP2
import PushProviders
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// The only owner of time, chance and order. It performs a script step by step, gives the relay its turns, moves time to the next event,
/// and checks after every step whether all promises hold.
///
/// Unchecked: a world lives on one thread, and so does everything that it passes itself to.
final class World: @unchecked Sendable {
    let script: Script
    let storage: any SimulatedStorage
    /// The storage's clock is set along with it.
    var clock = VirtualClock() { didSet { storage.set(time: clock.now.wall) } }
    var settings: Settings {
        didSet {
            learnTrouble()
            explained = [:]
            watched.ruled = [:]
        }
    }
    var model = Model()
    var relay: Relay?
    /// Another program, which has the store open all the time.
    private(set) var otherProgram: (any OtherProgram)?
    var journal: Journal

    // The true state, whether the relay knows it or not.
    var phones: [Phone] = []
    var stores = [StoreTruth(), StoreTruth()]
    /// The stores as of their last answers.
    var toldStores = [StoreTruth(), StoreTruth()]
    /// By app: whether the relay could record the result of the last answer.
    var isToldSure = [true, true]
    /// By app: what the relay may still know of its store after a kill.
    var kept = [KeptAnswer(), KeptAnswer()]
    /// By app and token: the phone and the installation that have the token.
    var phonesByToken: [String: (place: Int, installation: Int)] = [:]
    /// By app: the version that its LaunchGate file requires.
    var files: [Int: Int] = [:]
    private var fileEditedAt = MonotonicTime(nanoseconds: 0)
    /// Whether files are watched, and each was read since its last edit.
    var areFilesOld: Bool { settings.apps.contains(where: settings.watchesFile) && tick - fileEditedAt > .seconds(120) }
    var services: [PushPlace: PushServiceTruth] = [:]
    /// Since when each place has its weather; nil: it never had another.
    var weatherSince: [PushPlace: MonotonicTime] = [:]
    /// By app: when a campaign was last sent again by hand, to the devices that failed.
    var sentAgainAt: [Int: MonotonicTime] = [:]
    var pushes = PushRecord()
    var ledger = LedgerWatch()
    /// By campaign: the last state that a receiver was notified of.
    var receivers: [String: String] = [:]
    /// The acts of people and of webhooks.
    var acts: [Act] = []
    /// The looks that people have had, the newest last.
    var looks: [Look] = []
    /// The facts that the acting person was shown; nil: the person acts by the present state.
    var carried: Confirmed?
    /// Acts that wait for a second person.
    var asking = Asking()
    /// Webhooks that were sent: their ids and the versions that they asked for.
    var webhooks: [(id: String, app: Int, version: Int)] = []
    /// Whether the wall clock was ever set: then no time is judged by it.
    var wasClockSet: Bool { clockSetAt != nil }
    /// When it was last set.
    var clockSetAt: MonotonicTime?
    var rowsWereDeleted = false
    /// The mark of the store's copy; nil: there is no copy.
    var copied: StoreMark?
    /// Whether the store is an older one than the relay has seen.
    var isBack = false
    /// The mark of the store that the relay's last life has noted, outside of the store.
    private(set) var noted: StoreMark?
    /// By app and token: the place in `phones` of a phone that was registered again with the token that it had.
    var restored: [String: Int] = [:]
    /// By app and token: the place in `phones` of the phone that has replaced the token.
    var replaced: [String: Int] = [:]
    /// Whether a phone ever changed its user, or lost it.
    var wasMoved = false
    /// Whether the disk is made to fail until it works again.
    var isDiskFailing = false {
        didSet {
            if oldValue { diskFailedAt = tick }
            learnTrouble()
        }
    }
    /// When it last failed: a running dispatcher rests for a while after that, a starting one does not.
    var diskFailedAt: MonotonicTime?
    /// Logins while the store could not be written: they are stored later.
    var unstoredLogins: [UnstoredLogin] = []
    /// By campaign: waves that were over without a push. A push to a sandbox may come later: it holds nothing up, and is counted in its
    /// wave then.
    var emptyWaves: [String: Int] = [:]
    /// By campaign: its last state as the relay showed it, and when that changed.
    var told: [String: (campaign: ToldCampaign, since: MonotonicTime)] = [:]

    /// By campaign: tokens that were refused before a service had taken anything, as of when the campaign was taken up.
    var owed: [String: Set<String>] = [:]
    /// By campaign that does not move: when it last gave its reason.
    var spokeAt: [String: MonotonicTime] = [:]
    /// Since when neither disk nor configuration has kept anything from moving.
    var quietSince = MonotonicTime(nanoseconds: 0)
    /// By announcement: since when its store has halted it without the relay's knowledge.
    var haltedSince: [Int: MonotonicTime] = [:]
    /// Since when outcomes have been waiting for a disk that fails.
    var unrecordedSince: MonotonicTime?
    /// By place that the relay takes for out, and by campaign that was sent there then: since when, and how many pushes have left since.
    var outages: [PushPlace: [String: (since: MonotonicTime, pushes: Int)]] = [:]
    /// By app: the store's change and the time of the last explanation of the channels.
    var explained: [Int: (change: Int, at: MonotonicTime)] = [:]
    /// The observations of channels, receivers and single requirements.
    var watched = Watched()
    /// The newest campaigns as of a change of the store.
    var listed: CampaignList?
    /// The registry at the last look, and the change of the store after which that was.
    var registryRows: [DeviceRecord] = []
    var registryChange: Int?
    /// The mark of the registry when it was last read.
    var registryRead: Int64?
    /// The store's change when the campaigns were last read, and the change after which no receiver was left to notify.
    var seenChange: Int?
    private var notifiedChange: Int?
    private var dice: SeededGenerator
    /// Operations that come into the next turn, each at its yield.
    private var inTheMiddle: [(operation: Operation, yields: Int)] = []
    private(set) var turnDepth = 0
    var silence = 0
    /// Whether the process dies at one of its next writes.
    var isDoomed = false

    init(_ script: Script, in storage: any SimulatedStorage, isStoryWanted: Bool = false) throws {
        self.script = script
        self.storage = storage
        settings = Settings(script.setup)
        journal = Journal(isStoryWanted: isStoryWanted)
        dice = SeededGenerator(seed: UInt64(script.setup["chance"]))
        try storage.clear()
        otherProgram = try storage.otherProgram()
        storage.set(time: clock.now.wall)
        for app in 0..<2 {
            for isSandbox in [false, true] {
                services[PushPlace(app: app, isSandbox: isSandbox)] = PushServiceTruth(
                    isAndroid: settings.isAndroid(app), chance: UInt64(script.setup["chance"]),
                    slowness: script.setup["slow"])
            }
        }
    }

    func edit(file app: Int, _ version: Int) {
        (files[app], fileEditedAt) = (version, tick)
        relay?.wakeSources()
    }

    // MARK: Time, chance and order

    var tick: MonotonicTime { clock.tick }
    var milliseconds: Int64 { Int64(clock.tick.nanoseconds / 1_000_000) }

    /// The clock, as the relay reads it.
    func clockRead() -> Moment {
        yieldPoint()
        readsHere = lastRead == tick ? readsHere + 1 : 0
        lastRead = tick
        if readsHere > Self.mostReads { endLoop() }
        return clock.now
    }

    /// A turn that has no end reads the clock forever. Only an error of the store leads out of it.
    private func endLoop() {
        guard turnDepth > 0, let relay else { return }
        readsHere = 0
        spins += 1
        model.broke("dispatcher.spins", "the clock was read \(Self.mostReads) times at one moment")
        relay.store.close()
        isLost = true
    }

    private static let mostReads = 50_000
    private var readsHere = 0
    /// The number of turns without an end. A relay that spins again after a restart does not end at all.
    private var spins = 0
    private var lastRead = MonotonicTime(nanoseconds: 0)
    /// Whether the process must be given up.
    private(set) var isLost = false

    var random: RandomSource { RandomSource { self.dice.next() } }

    /// A place in the middle of a turn, at an entry to the store or a look at the clock: an operation may act here, as other threads of the
    /// daemon do. Never under a lock, and one whole operation at most.
    func yieldPoint() {
        guard turnDepth == 1, silence == 0, !isDying else { return }
        judgeOrder()
        guard !inTheMiddle.isEmpty else { return }
        inTheMiddle[0].yields -= 1
        guard inTheMiddle[0].yields <= 0 else { return }
        let operation = inTheMiddle.removeFirst().operation
        undisturbed { perform(operation, "in the middle of a turn: ") }
    }

    /// Runs `body` without any operation in its middle: the relay holds a lock.
    func undisturbed<Result>(_ body: () throws -> Result) rethrows -> Result {
        silence += 1
        defer { silence -= 1 }
        return try body()
    }

    /// Runs `body` as a turn, in whose middle operations may act.
    func inTurn<Result>(_ body: () throws -> Result) rethrows -> Result {
        turnDepth += 1
        defer { turnDepth -= 1 }
        return try body()
    }

    /// Whether the process is about to die: its last write has failed, and nothing leaves it any more.
    var isDying: Bool { isDoomed && storage.failures > 0 }

    // MARK: The run

    /// Performs the whole script, lets all trouble end, and checks what must then hold.
    ///
    /// - Parameter stops: whether a broken promise ends the run: known ones do not.
    func run(stops: (Violation) -> Bool) -> Violation? {
        undisturbed {
            populate()
            start()
            registerAll()
        }
        var seen = 0
        func isOver() -> Violation? {
            defer { seen = model.violations.count }
            return model.violations[seen...].first(where: stops)
        }
        step(.zero)
        for (index, operation) in script.operations.enumerated() {
            journal.step = index + 1
            if operation.middle > 0 {
                inTheMiddle.append((operation, operation.middle))
            } else {
                undisturbed { perform(operation, "") }
            }
            if operation.kind == .pass {
                step(Self.times[operation.first % Self.times.count])
            } else if operation.isFollowedByTurn {
                step(.milliseconds(500))
            }
            if let violation = isOver() { return violation }
        }
        heal()
        return isOver()
    }

    static let times: [Duration] = [
        .seconds(1), .seconds(5), .seconds(40), .seconds(120), .seconds(700), .seconds(2400), .seconds(4 * 3600),
        .seconds(13 * 3600), .seconds(50 * 3600),
    ]

    /// Lets time pass, with all that happens in it, and checks.
    func step(_ time: Duration) {
        pass(time)
        // Operations that found no turn to come into happen now.
        while !inTheMiddle.isEmpty {
            let operation = inTheMiddle.removeFirst().operation
            undisturbed { perform(operation, "") }
            pass(.zero)
        }
        if isDoomed { die(downFor: .zero) }
        undisturbed {
            relay?.sightings.flush()
            loginsAreFlushed()
            learnLogins()
            // The receivers take everything at once: where nothing was written since, nothing is due.
            if let relay, change != notifiedChange {
                notifiedChange = relay.notify() ? change : nil
            }
            check()
        }
    }

    /// Gives turns until `time` has passed and nothing is due.
    func pass(_ time: Duration) {
        let end = tick + time
        var turnsHere = 0
        while let relay {
            model.now = milliseconds
            // Before the turn: an answer that has just come back is a reason for one.
            relay.lane.proceed()
            let did = inTurn { relay.turn() }
            if isDying || isLost {
                isLost = false
                guard spins < 2 else {
                    endRelay()
                    break
                }
                die(downFor: .zero)
                continue
            }
            if let did {
                journal.reach("turn: of \(did)")
                turnsHere += 1
                guard turnsHere < 1000 else {
                    model.broke("dispatcher.spins", "1000 turns at one moment, the last of them of \(did)")
                    clock.pass(to: tick + .seconds(1))
                    return
                }
                continue
            }
            let next = min(relay.nextTurn, relay.lane.nextEvent ?? end, end)
            if next > tick { turnsHere = 0 }
            if tick >= end { break }
            clock.pass(to: max(next, tick + .milliseconds(1)))
        }
        model.now = milliseconds
    }

    /// Drops the operations that still wait for a turn.
    func inTheMiddleIsOver() { inTheMiddle = [] }

    // MARK: The process

    func start() {
        journal.reach("turn: start")
        quietSince = tick
        forgetLooks()
        watched.life = (watched.life.number + 1, milliseconds)
        storage.set(time: clock.now.wall)
        do {
            relay = try Relay(self, settings: settings)
        } catch {
            model.broke("store.check", "the relay does not start: \(error)")
        }
        // Nothing is on its way, and nothing has had a turn. In a store that went back no campaign is taken up, and pushes that were
        // refused there may have been tried again in the newest.
        if !isBack { for campaign in campaigns() { owe(campaign) } }
    }

    /// Forgets all looks: the store is another one, or is written to in a way that leaves no trace.
    func forgetLooks() {
        (seenChange, notifiedChange, listed, explained, registryChange) = (nil, nil, nil, [:], nil)
        (watched.ruled, watched.documented, registryRead) = ([:], [:], nil)
    }

    /// The process dies: what was written survives, everything else is gone.
    ///
    /// - Parameters:
    ///   - isChecked: whether it has a turn and is judged as soon as it has started again.
    ///   - whileDead: the acts between its death and its start.
    func die(downFor time: Duration, isChecked: Bool = true, _ whileDead: () -> Void = {}) {
        // Closing in order would tidy the log up, which a killed process does not do.
        if storage.failures == 0 || !isDoomed { storage.arm(.write, first: 1) }
        endRelay()
        isDoomed = false
        pushes.processDied()
        ledgerDied()
        // The next life finds out by itself that a service is out.
        outages = [:]
        forgetUnkeptAnswers()
        clock.pass(to: tick + time)
        model.now = milliseconds
        note("the process dies\(time == .zero ? "" : " and starts again after \(time)")")
        whileDead()
        start()
        if isChecked { step(.zero) }
    }

    /// Ends the relay and the other program.
    func end() {
        endRelay()
        otherProgram = nil
        // The next user of this thread gets the system's time.
        storage.set(time: nil)
    }

    /// Ends the relay; the other program lives on.
    private func endRelay() {
        // As `RollbackWatch` does it, which is never ahead of the store.
        if let relay { noted = relay.store.membership.memory.seen ?? noted }
        relay?.store.close()
        relay = nil
        storage.disarm()
        isDiskFailing = false
        unstoredLogins = []
        model.registry.forgetsLogins()
    }

    private func learnTrouble() {
        model.now = milliseconds
        for app in settings.apps { model.stick(app, isDiskFailing || !settings.hasApp[app]) }
    }

    func note(_ text: @autoclosure () -> String) { journal.note(text(), at: clock.rightTime) }
}
