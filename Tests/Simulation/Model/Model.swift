// SPDX-License-Identifier: Apache-2.0

/// What must hold, whatever happens: a small relay of integers that shares no code with the real one. It sees what people, stores
/// and phones do, each push at the moment when it leaves, and each answer that a channel gives; it never looks into the relay.
///
/// Times are milliseconds of the monotonic clock. Two graces are all that it allows: what was read before a device changed may
/// leave for `readGrace`, what was on its way when a person or a store spoke for `wayGrace`.
struct Model {
    /// A batch is read, waits for its connection and its turn, and goes out again where a stream was refused.
    static let readGrace: Int64 = 90_000
    /// What is on a connection has its answer, or is given up, after 30 s.
    static let wayGrace: Int64 = 35_000

    var now: Int64 = 0
    /// Whether nobody has set the wall clock: what is held by it is held for as long as it says.
    var isClockRight = true
    var announcements: [Announcement] = []
    var campaigns: [String: CampaignFacts] = [:]
    /// Versions that must be left, or had to be, in the order in which they were asked for.
    var blocks: [Block] = []
    /// What the registry has said of each device, by app and token, the oldest first.
    var devices: [String: [DeviceState]] = [:]
    /// By app: since when no route leads to its push service; nil: one does.
    var routeGoneAt: [Int64?] = [nil, nil]
    /// By app: whether nothing can be decided of it: the disk fails, or it is not configured.
    var isStuck = [false, false]
    /// Devices of which a file has said something older than they did themselves: whether that counts is asked at the end.
    var disputed: Set<String> = []
    /// By app: the highest version that was announced by people.
    var announced = [0, 0]
    /// By app: the newest version that somebody of whom nothing is known was told of last.
    var told: [Int?] = [nil, nil]
    /// By app: the highest version that its store offers, as far as the relay surely knows it now, and that it may know.
    var offered = [(surely: 0, perhaps: 0), (surely: 0, perhaps: 0)]
    /// Devices that their service had called dead when the store was pruned, by app and token: forgotten, or not yet.
    var calledDead: Set<String> = []
    /// By app: what devices had whose rows another program has deleted.
    var deletedRows: [[Int]] = [[], []]
    /// When each user was erased who has not come back since.
    var erased: [Int: Int64] = [:]
    /// The registry, field by field.
    var registry = RegistryModel()
    /// By app and token: the token that took its place.
    var successors: [String: String] = [:]
    /// By campaign and device: what the ledger must have.
    var ledgers: [String: [Int64: LedgerEntry]] = [:]
    /// Tokens that a service ever called dead, by app and token.
    var everDead: Set<String> = []
    /// Users who were ever erased.
    var everErased: Set<Int> = []
    /// Broken promises, each rule once.
    private(set) var violations: [Violation] = []

    mutating func broke(_ rule: String, _ text: String) {
        assert(Promise.all.contains { $0.rule == rule }, "no promise is called \(rule)")
        guard !violations.contains(where: { $0.rule == rule }) else { return }
        violations.append(Violation(rule: rule, text: text))
    }

    // MARK: Requirements over time

    /// What is required, as far as people have said; nil: nothing.
    func required(_ app: Int) -> Announcement? {
        announcements.filter { $0.app == app && $0.isAsked }.max { $0.version < $1.version }
    }

    /// Whether a version leaps over all that was asked for, announced or offered, and that ten devices have.
    ///
    /// - Parameter place: of the announcement that asks for it; nil: it is not there yet.
    /// - Returns: nil where nobody outside can tell: devices whose rows another program has deleted are counted still, and again
    ///   when they come back; those that were called dead are, until they are forgotten; what a store offered may be forgotten.
    func doubts(_ app: Int, _ version: Int, askedBy place: Int? = nil) -> Bool? {
        // Also what was asked for after it was written, and before the relay looked; of what the relay may be holding, perhaps. What other
        // programs wrote that it has not looked at speaks for each other, or is doubted together.
        let asked = announcements.indices.filter { $0 != place }.map { announcements[$0] }
            .filter { $0.app == app && $0.isAsked }
        let bases = [
            asked, asked.filter { !$0.isUnclear || !$0.isUnnoticed }, asked.filter { !$0.isUnnoticed },
        ].map { $0.map(\.version).max() ?? 0 }
        let prefix = "\(app)/"
        let sure = devices.compactMap { key, states in
            key.hasPrefix(prefix) && !calledDead.contains(key) && states.last?.isRegistered == true
                ? states.last?.version : nil
        }
        // Any of them may be counted, and the middle one of some of them may be another than that of all, or of none: the highest or
        // the lowest of each number of them say what it may be.
        let perhapsSeen =
            (devices.compactMap { key, states in
                key.hasPrefix(prefix) && calledDead.contains(key) && states.last?.isRegistered == true
                    ? states.last?.version : nil
            } + deletedRows[app]).sorted(by: >)
        func doubt(_ seen: [Int], _ base: Int, _ offered: Int) -> Bool {
            let announced = max(announced[app], base, offered)
            let falling = seen.sorted(by: >)
            // Where nothing was announced and no ten agree, the middle one of them.
            let known =
                falling.count >= 10
                ? max(announced, falling[9]) : announced > 0 || seen.isEmpty ? announced : falling[seen.count / 2]
            return known > 0 && version > known + max(8, (100 + known) / 10)
        }
        let (surely, perhaps) = offered[app]
        let answers = Set(
            (0...perhapsSeen.count).flatMap { [sure + perhapsSeen.prefix($0), sure + perhapsSeen.suffix($0)] }
                .flatMap { seen in bases.flatMap { [doubt(seen, $0, surely), doubt(seen, $0, perhaps)] } })
        return answers.count == 1 ? answers.first : nil
    }

    /// What another program wrote is judged once, when the relay looks at it: where that has another answer than when it was written, nobody
    /// outside sees which of them was given. What a file says is judged at each look, and what is taken up of it is seen at once.
    mutating func doubtAgain() {
        for place in announcements.indices where announcements[place].isLive && announcements[place].isUnnoticed {
            let one = announcements[place]
            guard !one.isHeld else { continue }
            let doubt = doubts(one.app, one.version, askedBy: place)
            if one.isOfFile {
                (announcements[place].isDoubted, announcements[place].isUnclear) = (doubt == true, doubt == nil)
            } else if one.isDoubted || !one.isUnclear, doubt != one.isDoubted {
                (announcements[place].isDoubted, announcements[place].isUnclear) = (false, true)
            }
        }
    }

    /// Whether a person took a version back that nobody has asked for since.
    func wasTakenBack(_ app: Int, _ version: Int) -> Bool {
        let same = announcements.filter { $0.app == app && $0.version == version }
        return same.contains { !$0.isLive } && !same.contains { $0.isAsked && !$0.isUnnoticed }
    }

    /// The newest announcement of a version.
    func newest(_ app: Int, _ version: Int) -> Int? {
        announcements.lastIndex { $0.app == app && $0.version == version }
    }

    /// Since when a newer requirement is in force for everybody. One whose store has left the configuration may be, or may not; nor can one
    /// be counted on of which the store, or its halt, was heard only while nothing could be recorded.
    func supersededAt(_ place: Int) -> Int64? {
        let old = announcements[place]
        var first: Int64?
        for one in announcements
        where one.app == old.app && one.version > old.version && !one.lostItsGate && (isClockRight || one.hold == 0)
            && (!one.isGated || one.isReleased || one.isOfferSure && !one.isHaltPending)
        {
            if let since = inForceAt(one), since <= now { first = min(first ?? since, since) }
        }
        return first
    }

    /// Since when it is in force for everybody, as far as the relay can have decided it: not while its disk fails, nor for an app that is not
    /// configured.
    func inForceAt(_ one: Announcement) -> Int64? {
        guard isStuck[one.app], !one.wasBeforeTrouble else { return one.inForceAt.map { max($0, one.stuckUntil) } }
        return nil
    }

    /// The relay can, or cannot, decide anything of an app.
    mutating func stick(_ app: Int, _ isStuckNow: Bool) {
        guard isStuck[app] != isStuckNow else { return }
        for place in announcements.indices where announcements[place].app == app {
            if isStuckNow {
                let since = inForceAt(announcements[place])
                announcements[place].wasBeforeTrouble = since.map { $0 <= now } ?? false
                // What its store has just let through may be decided, or not.
                if announcements[place].isGated, let since, since <= now, now - since < Self.wayGrace {
                    announcements[place].isUnclear = true
                }
            } else if !announcements[place].wasBeforeTrouble {
                announcements[place].stuckUntil = now
            }
        }
        isStuck[app] = isStuckNow
    }

    /// A newer one gives way: what waits below it for its store, and was not let through before that one was in force, was not decided
    /// meanwhile, whatever the store has told.
    mutating func uncover(below place: Int) {
        let newer = announcements[place]
        guard let since = newer.inForceAt else { return }
        for lower in announcements.indices
        where announcements[lower].app == newer.app && announcements[lower].version < newer.version
            && announcements[lower].isGated && !announcements[lower].isReleased
        {
            if let own = announcements[lower].inForceAt, own >= since { announcements[lower].hiddenUntil = now }
        }
    }

    mutating func withdraw(_ app: Int, _ version: Int) {
        // Everybody is told of less from here on, also where the same version is asked for again before anybody has looked.
        if told[app] == version { told[app] = nil }
        for index in announcements.indices
        where announcements[index].app == app && announcements[index].version == version {
            uncover(below: index)
            announcements[index].withdrawnAt = announcements[index].withdrawnAt ?? now
        }
    }

    /// A person cancels the campaign of what is not in force yet: its version is taken back, whoever else has asked for it, too.
    mutating func takeBack(_ place: Int) {
        let (app, version) = (announcements[place].app, announcements[place].version)
        for index in announcements.indices
        where announcements[index].app == app && announcements[index].version == version {
            announcements[index].withdrawnAt = announcements[index].withdrawnAt ?? now
        }
    }

    /// A person lets through whatever waits of a version.
    ///
    /// - Parameter isWaiting: whether that person was shown that it waits: what its store has let through while the disk failed is not
    ///   recorded, so it is the person who puts it in force, and no halt takes that back (DESIGN 8).
    mutating func release(_ app: Int, _ version: Int, isWaiting: Bool) {
        guard let place = newest(app, version) else { return }
        if announcements[place].isDoubted {
            (announcements[place].isDoubted, announcements[place].releasedAt) = (false, now)
            // Below what a person has said is meant nothing leaps over all that is known: whether the relay had looked at it before that,
            // and holds it for a person still, nobody outside sees, but where it must have.
            for lower in announcements.indices
            where announcements[lower].app == app && announcements[lower].version < version
                && announcements[lower].isDoubted && !announcements[lower].isHeld
            {
                (announcements[lower].isDoubted, announcements[lower].isUnclear) = (false, true)
            }
        } else if announcements[place].isThrough, !announcements[place].isUnnoticed, !isWaiting {
            // What the relay has not looked at yet waits, whatever its store says.
            if !announcements[place].isForAll {
                announcements[place].canaryReleasedAt = now
            } else if announcements[place].isStaged, announcements[place].mayHaveEnded {
                // The waves of a campaign whose time to live is over wait for a person, who puts it in force for everybody (VERSIONS.md).
                announcements[place].lastWaveAt = now
            }
        } else {
            announcements[place].releasedAt = announcements[place].releasedAt ?? now
        }
        announcements[place].noticed(at: now)
        // A campaign is released also where its app is not configured.
        if announcements[place].inForceAt != nil { announcements[place].wasBeforeTrouble = true }
    }

    /// The relay has decided something of an app: what another program wrote it has looked at then, and holds what it doubted.
    mutating func looked(_ app: Int) {
        for place in announcements.indices
        where announcements[place].app == app && !announcements[place].isOfFile && !announcements[place].isUnclear {
            if announcements[place].isAsked {
                announcements[place].noticed(at: now)
            } else if announcements[place].isDoubted {
                announcements[place].isHeld = true
            }
        }
    }

    /// The relay has asked a store and was told.
    ///
    /// - Parameter isRecordable: whether its disk works: what is in force is what is recorded.
    mutating func told(_ app: Int, isRecordable: Bool, _ verdict: (_ version: Int) -> StoreTruth.Verdict) {
        for index in announcements.indices where announcements[index].app == app {
            let verdict = verdict(announcements[index].version)
            if verdict == .halted { announcements[index].wasHalted = true }
            let isPending = verdict == .halted || announcements[index].isHaltPending
            announcements[index].isHaltPending = !isRecordable && isPending
            switch verdict {
            case .open:
                announcements[index].isOfferSure =
                    isRecordable || announcements[index].isOfferSure && announcements[index].offeredAt != nil
                announcements[index].offeredAt = announcements[index].offeredAt ?? now
                announcements[index].haltedAt = nil
            case .halted where isRecordable:
                if announcements[index].haltedAt == nil, !announcements[index].isReleased { uncover(below: index) }
                announcements[index].haltedAt = announcements[index].haltedAt ?? now
            case .halted: break
            case .closed: announcements[index].haltedAt = nil
            }
        }
    }

    // MARK: Devices

    mutating func device(_ app: Int, _ token: String, _ change: (inout DeviceState) -> Void) {
        let key = "\(app)/\(token)"
        var state = devices[key]?.last ?? DeviceState(since: now, isRegistered: false, user: nil, version: nil)
        change(&state)
        state.since = now
        guard state != devices[key]?.last else { return }
        // Who registers again is known again, also at the moment of the erasure.
        if let user = state.user { erased[user] = nil }
        devices[key, default: []].append(state)
    }

    func device(_ app: Int, _ token: String) -> DeviceState? { devices["\(app)/\(token)"]?.last }

    // MARK: Pushes

    /// A push leaves.
    mutating func leaves(app: Int, token: String, user: Int?, campaign: String) {
        if let place = block(of: campaign) { return leaves(block: place, token: token, user: user) }
        guard let facts = campaigns[campaign] else { return }
        // What is said of the old token is recorded of the device, which has another one by now.
        if let new = successor(app, token) { changed(app, new) }
        let place = facts.announcement
        let announcement = announcements[place]
        judgeDevice(app, token, user, announcement)
        func isOver(_ since: Int64?, _ grace: Int64 = Model.wayGrace) -> Bool {
            since.map { now - $0 > grace } ?? false
        }
        let what = "\(token) of app \(app) for \(World.text(version: announcement.version)) (campaign \(campaign))"
        if announcement.isDoubted { broke("inForce.implausible", "\(what): nobody has said that it is meant") }
        if isOver(announcement.withdrawnAt) {
            broke("push.withdrawn", "\(what) was withdrawn \(ago(announcement.withdrawnAt))")
        }
        if isOver(facts.cancelledAt) { broke("push.cancelled", "\(what): cancelled \(ago(facts.cancelledAt))") }
        if isOver(facts.pausedAt) { broke("push.paused", "\(what): paused \(ago(facts.pausedAt))") }
        if isOver(supersededAt(place)) { broke("push.superseded", "\(what): superseded \(ago(supersededAt(place)))") }
        if isOver(routeGoneAt[app]) { broke("push.noRoute", "\(what): not configured since \(ago(routeGoneAt[app]))") }
        if announcement.withdrawnAt == nil, isBeforeMoment(announcement) {
            broke("inForce.moment", "\(what): its moment is \((announcement.requiredFrom ?? now) - now) ms ahead")
            announcements[place].requiredFrom = nil
        }
        if announcement.withdrawnAt == nil, !announcement.isThrough {
            if isOver(announcement.haltedAt) {
                broke(
                    announcement.lostItsGate ? "inForce.removedSource" : "push.halted",
                    "\(what): its rollout was halted \(ago(announcement.haltedAt))")
            } else if announcement.haltedAt == nil {
                broke(
                    announcement.lostItsGate ? "inForce.removedSource" : "push.gate",
                    "\(what): its store has not offered it")
                // What follows from that is not told again.
                announcements[place].releasedAt = now
            }
        }
        if let canary = announcement.canary, announcement.canaryReleasedAt == nil, !announcement.isUnclear,
            user.map({ user in
                !canary.contains(user) && announcement.gone[user].map { isOver($0, Self.readGrace) } ?? true
            }) ?? true
        {
            broke(
                announcement.lostItsGate
                    ? "inForce.removedSource" : announcement.hasWaves ? "canary.itself" : "push.canary",
                "\(what): user \(user ?? -1) is not in the canary, which nobody has released")
            announcements[place].canaryReleasedAt = now
        }
        let allowed = 1 + facts.reminders
        if facts.settled[token, default: 0] >= allowed {
            broke("push.twice", "\(what) had its push, and its answer was recorded, \(allowed) times")
        }
    }

    private mutating func judgeDevice(_ app: Int, _ token: String, _ user: Int?, _ announcement: Announcement) {
        let version = announcement.version
        let hasMinimum = announcement.minimumAt.map { now - $0 > Self.readGrace } ?? false
        judgeDevice(app, token, user, "push.current", World.text(version: version), hasMinimum: hasMinimum) {
            $0.version.map { $0 < version } ?? true
        }
    }

    /// - Parameters:
    ///   - rule: which promise is broken by a push to somebody whose version is another.
    ///   - what: that it is pushed for.
    ///   - isMeant: whether a device with this version is.
    mutating func judgeDevice(
        _ app: Int, _ token: String, _ user: Int?, _ rule: String, _ what: String, hasMinimum: Bool = false,
        isMeant: (DeviceState) -> Bool
    ) {
        let states = devices["\(app)/\(token)"] ?? []
        func permits(_ state: DeviceState) -> Bool {
            state.isRegistered && state.user != nil && state.user == user && isMeant(state)
                && !(hasMinimum && state.isTooOld)
        }
        for (index, state) in states.enumerated() {
            let until = index + 1 < states.count ? states[index + 1].since : now
            if until >= now - Self.readGrace, permits(state) { return }
        }
        guard let last = states.last else {
            return broke("push.stranger", "\(token) of app \(app) was never registered")
        }
        let since = ago(last.since)
        if !last.isRegistered {
            broke("push.stranger", "\(token) of app \(app) was removed \(since)")
        } else if last.user != user {
            broke(
                "push.user",
                "\(token) of app \(app) gets a push for user \(user ?? -1); since \(since) it is \(last.user.map(String.init) ?? "nobody")'s"
            )
        } else if hasMinimum, last.isTooOld {
            broke(
                "push.osTooOld",
                "\(token) of app \(app) has too old a system since \(since) and is pushed for \(what)"
            )
        } else if !disputed.contains("\(app)/\(token)") {
            broke(
                rule,
                "\(token) of app \(app) has \(World.text(version: last.version ?? 0)) since \(since) and is pushed for \(what)"
            )
        }
    }

    func ago(_ time: Int64?) -> String { time.map { "\((now - $0) / 1000) s ago" } ?? "never" }
}
