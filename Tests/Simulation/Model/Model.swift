// SPDX-License-Identifier: Apache-2.0

/// The rules that must hold whatever happens: a small relay of integers that shares no code with the real one. It sees the acts of
/// people, stores and phones, each push at the moment when it leaves, and each answer of a channel. It never looks into the relay.
///
/// Times are milliseconds of the monotonic clock. The model allows only two graces: a push that was read before its device changed
/// may leave for `readGrace`, and a push on its way when a person or a store stopped it for `wayGrace`.
struct Model {
    /// A batch is read, waits for its connection and its turn, and goes out again if a stream was refused.
    static let readGrace: Int64 = 90_000
    /// A request on a connection has its answer after 30 s, or is given up.
    static let wayGrace: Int64 = 35_000

    var now: Int64 = 0
    /// Whether the wall clock was never set: waits that depend on it last as long as they should.
    var isClockRight = true
    var announcements: [Announcement] = []
    var campaigns: [String: CampaignFacts] = [:]
    /// Blocked versions, and those that were blocked before, in the order of the requests.
    var blocks: [Block] = []
    /// The states of each device in the registry, by app and token, the oldest first.
    var devices: [String: [DeviceState]] = [:]
    /// By app: since when no route leads to its push service; nil: there is one.
    var routeGoneAt: [Int64?] = [nil, nil]
    /// By app: whether the relay can decide nothing: the disk fails, or the app is not configured.
    var isStuck = [false, false]
    /// Devices for which a file reported something older than their own report: whether the file counted is judged at the end.
    var disputed: Set<String> = []
    /// By app: the highest version that people have announced.
    var announced = [0, 0]
    /// By app: the newest version that an unknown user was last notified of.
    var told: [Int?] = [nil, nil]
    /// By app: the highest version that its store offers, as far as the relay surely knows it now, and as far as it may know it.
    var offered = [(surely: 0, perhaps: 0), (surely: 0, perhaps: 0)]
    /// By app: the newest version that its store shows to everybody.
    var shown: [Int?] = [nil, nil]
    /// Devices that their service had called dead when the store was pruned, by app and token: each may be forgotten, or not yet.
    var calledDead: Set<String> = []
    /// By app: the versions of devices whose rows another program has deleted.
    var deletedRows: [[Int]] = [[], []]
    /// By user: when each user was erased, unless the user has come back since.
    var erased: [Int: Int64] = [:]
    /// The registry, field by field.
    var registry = RegistryModel()
    /// By app and token: the token that replaced it.
    var successors: [String: String] = [:]
    /// By campaign and device: the expected state of the ledger.
    var ledgers: [String: [Int64: LedgerEntry]] = [:]
    /// Tokens that a service has ever called dead, by app and token.
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

    // MARK: Requests

    /// The version that people require; nil: none.
    func required(_ app: Int) -> Announcement? {
        announcements.filter { $0.app == app && $0.isAsked }.max { $0.version < $1.version }
    }

    /// Whether a version leaps over all versions that were requested, announced or offered, and over the one that ten devices have.
    ///
    /// - Parameter place: the index of the announcement that requests it; nil: it does not exist yet.
    /// - Returns: nil where the outside view cannot decide: devices whose rows another program has deleted still count, and count
    ///   again when they come back; devices that were called dead count until they are forgotten; a store's offer may be forgotten.
    func doubts(_ app: Int, _ version: Int, askedBy place: Int? = nil) -> Bool? {
        // Includes versions that were requested after this one was written and before the relay looked. An unclear version may or
        // may not count. Versions of other programs that the relay has not looked at support each other, or are doubted together.
        let asked = announcements.indices.filter { $0 != place }.map { announcements[$0] }
            .filter { $0.app == app && $0.isAsked }
        let bases = [
            asked, asked.filter { !$0.isUnclear || !$0.isUnnoticed }, asked.filter { !$0.isUnnoticed },
            asked.filter { !$0.mayBeTakenBack },
        ].map { $0.map(\.version).max() ?? 0 }
        let prefix = "\(app)/"
        let sure = devices.compactMap { key, states in
            key.hasPrefix(prefix) && !calledDead.contains(key) && states.last?.isRegistered == true
                ? states.last?.version : nil
        }
        // Any of these devices may count, and with only some of them the median may be another than with all or none. The highest
        // and the lowest of each number of them cover all cases.
        let perhapsSeen =
            (devices.compactMap { key, states in
                key.hasPrefix(prefix) && calledDead.contains(key) && states.last?.isRegistered == true
                    ? states.last?.version : nil
            } + deletedRows[app]).sorted(by: >)
        func doubt(_ seen: [Int], _ base: Int, _ offered: Int) -> Bool {
            let announced = max(announced[app], base, offered)
            let falling = seen.sorted(by: >)
            // If no version was announced and there are fewer than ten devices: the median of the devices.
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

    /// The relay judges a version that another program wrote once, when it looks. If the answer would differ from that at the time
    /// of writing, the outside view cannot decide which applied. The relay judges a file's version at each look, and its adoption
    /// is seen at once.
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

    /// Whether a person withdrew a version that was not requested again since.
    func wasTakenBack(_ app: Int, _ version: Int) -> Bool {
        let same = announcements.filter { $0.app == app && $0.version == version }
        return same.contains { !$0.isLive } && !same.contains { $0.isAsked && !$0.isUnnoticed }
    }

    /// The newest announcement of a version.
    func newest(_ app: Int, _ version: Int) -> Int? {
        announcements.lastIndex { $0.app == app && $0.version == version }
    }

    /// Since when a newer requirement has been in force for everybody. One whose store has left the configuration may be in force
    /// or not, and does not count. Nor does one whose offer or halt the relay learned only while it could record nothing.
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

    /// Since when it is in force for everybody, as far as the relay can have decided that: it cannot while its disk fails, nor for
    /// an app that is not configured.
    func inForceAt(_ one: Announcement) -> Int64? {
        guard isStuck[one.app], !one.wasBeforeTrouble else { return one.inForceAt.map { max($0, one.stuckUntil) } }
        return nil
    }

    /// A person's act has decided something about an app. It decides the whole app, also one that is not configured: versions whose
    /// moment has come are in force since then.
    mutating func decided(_ app: Int) {
        for place in announcements.indices where announcements[place].app == app && isStuck[app] {
            if let since = announcements[place].inForceAt, since <= now { announcements[place].wasBeforeTrouble = true }
        }
    }

    /// Notes whether the relay can decide anything about an app.
    mutating func stick(_ app: Int, _ isStuckNow: Bool) {
        guard isStuck[app] != isStuckNow else { return }
        for place in announcements.indices where announcements[place].app == app {
            if isStuckNow {
                let since = inForceAt(announcements[place])
                announcements[place].wasBeforeTrouble = since.map { $0 <= now } ?? false
                // A version that its store has just offered may or may not have been decided.
                if announcements[place].isGated, let since, since <= now, now - since < Self.wayGrace {
                    announcements[place].isUnclear = true
                }
            } else if !announcements[place].wasBeforeTrouble {
                announcements[place].stuckUntil = now
            }
        }
        isStuck[app] = isStuckNow
    }

    /// A newer version gives way. A lower one that waited for its store, and was not open before the newer one was in force, was
    /// not decided in that time, whatever the store answered.
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
        forgetTold(app, version)
        for index in announcements.indices
        where announcements[index].app == app && announcements[index].version == version {
            uncover(below: index)
            announcements[index].withdrawnAt = announcements[index].withdrawnAt ?? now
        }
    }

    /// A person cancels the campaign of a version that is not in force yet: the version is withdrawn, with all requests for it.
    mutating func takeBack(_ place: Int) {
        let (app, version) = (announcements[place].app, announcements[place].version)
        forgetTold(app, version)
        for index in announcements.indices
        where announcements[index].app == app && announcements[index].version == version {
            announcements[index].withdrawnAt = announcements[index].withdrawnAt ?? now
        }
    }

    /// A version is taken back: from here on it is announced to no user, also where it is asked for again before any channel has been looked at.
    mutating func forgetTold(_ app: Int, _ version: Int) {
        if told[app] == version { told[app] = nil }
    }

    /// A person releases the waiting part of a version.
    ///
    /// - Parameter isWaiting: whether the relay had shown that person that it waits. If its store opened it while the disk failed,
    ///   that is not recorded. So the person puts it in force, and no halt takes that back (DESIGN 8).
    mutating func release(_ app: Int, _ version: Int, isWaiting: Bool) {
        guard let place = newest(app, version) else { return }
        if announcements[place].isDoubted {
            (announcements[place].isDoubted, announcements[place].releasedAt) = (false, now)
            // A version below a confirmed one leaps over nothing. The outside view cannot decide whether the relay had looked at it
            // before and still holds it for a person, unless it must have.
            for lower in announcements.indices
            where announcements[lower].app == app && announcements[lower].version < version
                && announcements[lower].isDoubted && !announcements[lower].isHeld
            {
                (announcements[lower].isDoubted, announcements[lower].isUnclear) = (false, true)
            }
        } else if announcements[place].isThrough, !announcements[place].isUnnoticed, !isWaiting {
            // A version that the relay has not looked at waits, whatever its store offers.
            if !announcements[place].isForAll {
                announcements[place].canaryReleasedAt = now
            } else if announcements[place].isStaged, announcements[place].mayHaveEnded {
                // The remaining waves of a campaign whose time to live is over wait for a person, who puts the version in force for
                // everybody (VERSIONS.md).
                announcements[place].lastWaveAt = now
            }
        } else {
            announcements[place].releasedAt = announcements[place].releasedAt ?? now
        }
        announcements[place].noticed(at: now)
        // A campaign can be released although its app is not configured.
        if announcements[place].inForceAt != nil { announcements[place].wasBeforeTrouble = true }
    }

    /// The relay has decided something about an app. So it has looked at versions that another program wrote, and holds those that
    /// it doubts.
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

    /// The relay has asked a store and got its answer.
    ///
    /// - Parameters:
    ///   - newest: the newest version that the store shows to everybody.
    ///   - isRecordable: whether its disk works: a version is in force only once that is recorded.
    mutating func told(
        _ app: Int, newest: Int?, isRecordable: Bool, _ verdict: (_ version: Int) -> StoreTruth.Verdict
    ) {
        // The App Store's lookup shows one version: the wait is counted from its release, also for older ones.
        let isAnother = shown[app] != newest
        shown[app] = newest
        for index in announcements.indices where announcements[index].app == app {
            let verdict = verdict(announcements[index].version)
            if verdict == .halted { announcements[index].wasHalted = true }
            let isPending = verdict == .halted || announcements[index].isHaltPending
            announcements[index].isHaltPending = !isRecordable && isPending
            switch verdict {
            case .open:
                announcements[index].isOfferSure =
                    isRecordable || announcements[index].isOfferSure && announcements[index].offeredAt != nil
                if isAnother, let since = announcements[index].offeredAt, since + announcements[index].hold > now {
                    announcements[index].offeredAt = now
                }
                announcements[index].offeredAt = announcements[index].offeredAt ?? now
                announcements[index].haltedAt = nil
            case .halted where isRecordable:
                if announcements[index].haltedAt == nil, !announcements[index].isReleased { uncover(below: index) }
                announcements[index].haltedAt = announcements[index].haltedAt ?? now
            case .halted: break
            case .closed:
                // A rollout that goes on for some users alone: the version must be offered to enough of them anew.
                if announcements[index].haltedAt != nil { announcements[index].offeredAt = nil }
                announcements[index].haltedAt = nil
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
        // A user who registers again is known again, also at the moment of the erasure.
        if let user = state.user { erased[user] = nil }
        devices[key, default: []].append(state)
    }

    func device(_ app: Int, _ token: String) -> DeviceState? { devices["\(app)/\(token)"]?.last }
}
