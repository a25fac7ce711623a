// SPDX-License-Identifier: Apache-2.0

/// A campaign as the relay tells of it, in the model's terms.
struct ToldCampaign: Equatable {
    var id: String
    var app: Int
    var version: Int
    var state: String
    var reason: String?
    var wavesBegun: Int
    /// Of them, those that are over without a push: nobody waits for what such a wave may have done.
    var emptyWaves: Int
    var waves: Int
    var reminders: Int
    var retries: Int
    /// By state, with the audience under "audience".
    var counts: [String: Int64]

    var isOver: Bool { ["completed", "cancelled", "superseded"].contains(state) }
}

/// What the relay tells of its campaigns.
extension Model {
    /// The relay tells how a campaign stands.
    ///
    /// - Parameter needsApproval: whether its app's waves wait for a person; nil: they have changed meanwhile.
    mutating func tells(_ told: ToldCampaign, needsApproval: Bool?) {
        if let place = block(of: told.id) {
            blocks[place].reminders = told.reminders
            return judgeCounts(told, "campaign \(told.id) of the block of \(World.text(version: told.version))")
        }
        guard var facts = campaigns[told.id] else {
            guard let place = newest(told.app, told.version) else {
                return broke(
                    "inForce.unknown",
                    "campaign \(told.id) is for \(World.text(version: told.version)), which nobody asked for")
            }
            // Whoever looked at it has looked at all that was there before it.
            for earlier in announcements.indices
            where announcements[earlier].app == told.app && announcements[earlier].isAsked
                && !announcements[earlier].isOfFile && !announcements[earlier].isUnclear
                && announcements[earlier].askedAt <= announcements[place].askedAt
            {
                announcements[earlier].noticed(at: now)
            }
            announcements[place].noticed(at: now)
            campaigns[told.id] = CampaignFacts(announcement: place, state: told.state)
            return tells(told, needsApproval: needsApproval)
        }
        defer { campaigns[told.id] = facts }
        if told.waves > 0 && told.wavesBegun == told.waves || told.state == "completed" && told.waves == 0 {
            announcements[facts.announcement].lastWaveAt = announcements[facts.announcement].lastWaveAt ?? now
        }
        announcements[facts.announcement].mayHaveEnded = told.state == "completed"
        let what = "campaign \(told.id) of \(World.text(version: told.version))"
        if facts.state != told.state {
            judge(told, &facts, what)
            facts.state = told.state
        }
        (facts.reminders, facts.retries) = (told.reminders, told.retries)
        facts.emptyWaves = max(facts.emptyWaves, told.emptyWaves)
        if needsApproval == true, told.wavesBegun > 1 + facts.approvals + facts.emptyWaves {
            broke("campaign.waves", "\(what): \(told.wavesBegun) waves have begun after \(facts.approvals) approvals")
        }
        judgeCounts(told, what)
    }

    private mutating func judgeCounts(_ told: ToldCampaign, _ what: String) {
        let left = (told.counts["pending"] ?? 0) + (told.counts["retrying"] ?? 0)
        if told.isOver, left > 0 {
            broke("campaign.leftovers", "\(what) is \(told.state), and \(left) of its devices wait")
        }
        if let (name, count) = told.counts.sorted(by: { $0.key < $1.key }).first(where: { $0.value < 0 }) {
            broke("campaign.counts", "\(what): \(name) is \(count)")
        }
    }

    private mutating func judge(_ told: ToldCampaign, _ facts: inout CampaignFacts, _ what: String) {
        let announcement = announcements[facts.announcement]
        switch (facts.state, told.state) {
        case ("suspended", "running"), ("suspended", "waiting"):
            let isFree = facts.isSuspendedByHalt && announcement.haltedAt == nil
            if !facts.isWanted, !isFree {
                broke(
                    announcement.lostItsGate ? "inForce.removedSource" : "campaign.resumes",
                    "\(what) goes on though nobody said so and its cause has not ended")
            }
        case ("completed", let new) where !["completed", "cancelled", "superseded"].contains(new),
            ("cancelled", let new) where !["completed", "cancelled", "superseded"].contains(new),
            ("superseded", let new) where !["completed", "cancelled", "superseded"].contains(new):
            // With its campaign a version is taken back that is not in force for everybody: of an unclear one nobody outside sees that.
            let wasWithdrawn = announcements.contains {
                $0.app == announcement.app && $0.version > announcement.version
                    && (!$0.isLive || $0.wasHalted || $0.isUnclear)
            }
            if told.reminders == facts.reminders, told.retries == facts.retries, !wasWithdrawn {
                broke("campaign.revived", "\(what) was \(facts.state) and is \(new)")
            }
        case (_, "superseded"):
            // What is for some users alone gives way to what is newer and for some, too.
            let isOfCanary =
                announcement.canary != nil && announcement.canaryReleasedAt == nil || announcement.isStaged
            let hasSuccessor = announcements.contains {
                $0.app == announcement.app && $0.version > announcement.version
                    && ($0.isForAll || $0.isUnclear || isOfCanary)
            }
            if !announcement.isUnclear, !hasSuccessor {
                broke("campaign.superseded", "\(what) is superseded, and no newer requirement is for everybody")
            }
        case (_, "suspended"):
            facts.isSuspendedByHalt = announcement.haltedAt != nil
            facts.isWanted = false
        default: break
        }
        if told.state == "running" { facts.isWanted = false }
    }
}

extension Model {
    func announcement(of campaign: String) -> Announcement? {
        campaigns[campaign].map { announcements[$0.announcement] }
    }

    func version(of campaign: String) -> Int? { announcement(of: campaign)?.version }

    /// A halt of what is superseded is decided when that comes back, and recorded nowhere before: whoever loses the source, or the process,
    /// has not heard of it.
    mutating func forgetHalts(of app: Int) {
        for facts in campaigns.values where facts.state == "superseded" {
            if announcements[facts.announcement].app == app { announcements[facts.announcement].haltedAt = nil }
        }
    }

    /// A relay that has died knows what its stores had said, for that is in its own store. What it could not write any more it may have
    /// forgotten, but for what came of it: then nothing of what waits can be counted on before it is told again.
    ///
    /// - Parameter isEither: whether a version was offered by the answer before and is not by the last.
    mutating func forgetOffers(of app: Int, _ isEither: (_ version: Int) -> Bool) {
        offered[app].surely = 0
        forgetHalts(of: app)
        for facts in campaigns.values where facts.state == "waiting" {
            if announcements[facts.announcement].app == app { announcements[facts.announcement].isOfferSure = false }
        }
        for place in announcements.indices where announcements[place].app == app {
            if announcements[place].isUnnoticed { announcements[place].isOfferSure = false }
            if announcements[place].isGated, isEither(announcements[place].version) {
                announcements[place].isUnclear = true
            }
        }
    }

    /// Whether a device is of those who are told of a version: registered, somebody's, and not seen with it.
    func mayBePushed(_ app: Int, _ token: String, for version: Int) -> Bool {
        device(app, token).map {
            // Whether a version runs there is known of some alone: of those that do not it is left open.
            $0.isRegistered && $0.user != nil && $0.version.map { $0 < version } ?? true && !$0.isTooOld
        } ?? false
    }

    /// Whether a device is of a campaign's audience: who registered since it was asked for is not (VERSIONS.md).
    func isOfAudience(_ app: Int, _ token: String, of campaign: String) -> Bool {
        guard let announcement = announcement(of: campaign), let states = devices["\(app)/\(token)"],
            let first = states.lastIndex(where: { $0.since <= announcement.askedAt })
        else { return false }
        return states[first...].allSatisfy(\.isRegistered)
    }

    /// The answer to a push is in the relay's store.
    mutating func settled(_ token: String, campaign: String) {
        let token = announcement(of: campaign).flatMap { successor($0.app, token) } ?? token
        campaigns[campaign]?.settled[token, default: 0] += 1
        if let place = block(of: campaign) { blocks[place].settled[token, default: 0] += 1 }
    }
}

extension Announcement {
    /// What another program wrote is asked for from when the relay has looked.
    mutating func noticed(at now: Int64) {
        if isOutside, noticedAt == nil { noticedAt = now }
    }
}
