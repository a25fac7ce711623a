// SPDX-License-Identifier: Apache-2.0

/// The channels' answers on the version in force.
extension Model {
    /// Judges the version that a channel reports as in force.
    ///
    /// - Parameter user: nil: an unknown user.
    mutating func says(_ channel: String, app: Int, version: Int, user: Int?) {
        for place in announcements.indices
        where user == nil && announcements[place].app == app && announcements[place].version == version
            && announcements[place].isStaged && announcements[place].mayHaveEnded
        {
            announcements[place].lastWaveAt = now
        }
        let known = announcements.filter { $0.app == app && $0.version == version }
        func may(_ one: Announcement) -> Bool {
            one.isLive && !one.isDoubted && (one.isThrough || one.haltedAt.map { now - $0 < 65_000 } ?? false)
                && !isBeforeMoment(one)
                && (one.isForAll && (!one.isStaged || user != nil) || one.isUnclear
                    || user.map { one.canary?.contains($0) ?? false } ?? false)
        }
        guard !known.contains(where: may) else { return }
        let what =
            "\(channel) of app \(app) says \(World.text(version: version))" + (user.map { " to user \($0)" } ?? "")
        guard let place = newest(app, version) else {
            return broke("inForce.unknown", "\(what), which nobody asked for")
        }
        let last = announcements[place]
        if !last.isLive {
            broke(
                last.lostItsGate ? "inForce.removedSource" : "inForce.withdrawn",
                "\(what), which was withdrawn \(ago(last.withdrawnAt))")
            announcements[place].withdrawnAt = nil
        } else if last.isDoubted {
            broke("inForce.implausible", "\(what), and nobody has said that it is meant")
            announcements[place].isDoubted = false
        } else if isBeforeMoment(last) {
            broke("inForce.moment", "\(what), \((last.requiredFrom ?? now) - now) ms before its moment")
            announcements[place].requiredFrom = nil
        } else if !last.isForAll, user.map({ !(last.canary?.contains($0) ?? false) }) ?? true {
            broke(
                last.lostItsGate ? "inForce.removedSource" : last.hasWaves ? "canary.itself" : "inForce.canary",
                "\(what), which is for a canary that nobody has released")
            // Its consequences are not reported as well.
            announcements[place].canaryReleasedAt = now
        } else if last.isStaged, user == nil, last.isThrough {
            broke("inForce.wave", "\(what), and not all of its waves have begun")
            announcements[place].lastWaveAt = now
        } else if last.haltedAt != nil {
            broke(
                last.lostItsGate ? "inForce.removedSource" : "inForce.halted",
                "\(what), whose rollout was halted \(ago(last.haltedAt))")
        } else {
            broke(
                last.lostItsGate ? "inForce.removedSource" : "inForce.gate", "\(what), which its store has not offered")
            announcements[place].releasedAt = now
        }
    }

    /// Whether its moment, as people have set it, is still ahead. False once the wall clock was set.
    func isBeforeMoment(_ one: Announcement) -> Bool {
        isClockRight && !one.isReleased && !one.isUnclear && one.requiredFrom.map { now < $0 } ?? false
    }

    /// Judges the newest version that an unknown user is notified of; nil: none.
    mutating func tells(app: Int, _ version: Int?) {
        defer { told[app] = version }
        guard let before = told[app], version ?? 0 < before, let place = newest(app, before) else { return }
        let last = announcements[place]
        let isTakenBack = !last.isLive || last.wasHalted || last.isHaltPending || last.lostItsGate || last.isDoubted
        guard !isTakenBack, !last.isUnclear, !blocks.contains(where: { $0.app == app && $0.version == before }) else {
            return
        }
        broke(
            "announced.stays",
            "everybody of app \(app) was told of \(World.text(version: before)), and is told of \(version.map(World.text) ?? "nothing") now"
        )
    }

    /// Judges a channel's order to upgrade for a user whose system is too old.
    mutating func forces(tooOld app: Int, _ version: Int) {
        guard let place = newest(app, version), announcements[place].isLive,
            let since = announcements[place].minimumAt, now > since
        else { return }
        broke(
            "inForce.osTooOld",
            "a phone of app \(app) with too old a system must have \(World.text(version: version)), which people say \(ago(since)) does not run there"
        )
    }
}
