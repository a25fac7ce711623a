// SPDX-License-Identifier: Apache-2.0

/// Pushes, judged as they leave.
extension Model {
    /// Judges a push as it leaves.
    mutating func leaves(app: Int, token: String, user: Int?, campaign: String) {
        if let place = block(of: campaign) { return leaves(block: place, token: token, user: user) }
        guard let facts = campaigns[campaign] else { return }
        // An answer about the old token is recorded for the device, which already has another token.
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
                // Its consequences are not reported as well.
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
    ///   - rule: the promise that is broken by a push to a device whose version is not meant.
    ///   - what: the subject of the push.
    ///   - isMeant: whether a device in this state should get the push.
    mutating func judgeDevice(
        _ app: Int, _ token: String, _ user: Int?, _ rule: String, _ what: String, hasMinimum: Bool = false,
        isMeant: (DeviceState) -> Bool
    ) {
        let states = devices["\(app)/\(token)"] ?? []
        // A file may have said another version of it.
        let isDisputed = disputed.contains("\(app)/\(token)")
        func permits(_ state: DeviceState) -> Bool {
            state.isRegistered && state.user != nil && state.user == user && (isMeant(state) || isDisputed)
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
        } else if !isDisputed {
            broke(
                rule,
                "\(token) of app \(app) has \(World.text(version: last.version ?? 0)) since \(since) and is pushed for \(what)"
            )
        }
    }

    func ago(_ time: Int64?) -> String { time.map { "\((now - $0) / 1000) s ago" } ?? "never" }
}
