// SPDX-License-Identifier: Apache-2.0

/// A campaign as the relay reports it, in the model's terms.
struct ToldCampaign: Equatable {
    var id: String
    var app: Int
    var version: Int
    var state: String
    var reason: String?
    var wavesBegun: Int
    /// The begun waves that ended without a push: no approval is needed after such a wave.
    var emptyWaves: Int
    var waves: Int
    var reminders: Int
    var retries: Int
    /// By state, with the audience under "audience".
    var counts: [String: Int64]

    var isOver: Bool { ["completed", "cancelled", "superseded"].contains(state) }
}

/// The relay's reports on its campaigns.
extension Model {
    /// Judges the reported state of a campaign.
    ///
    /// - Parameter needsApproval: whether its app's waves wait for a person; nil: the waves have changed since.
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
            // A relay that has looked at this version has also looked at all earlier ones.
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
            // A version that is not in force for everybody is withdrawn with its campaign; for an unclear one that cannot be seen
            // from outside.
            let wasWithdrawn = announcements.contains {
                $0.app == announcement.app && $0.version > announcement.version
                    && (!$0.isLive || $0.wasHalted || $0.isUnclear)
            }
            if told.reminders == facts.reminders, told.retries == facts.retries, !wasWithdrawn {
                broke("campaign.revived", "\(what) was \(facts.state) and is \(new)")
            }
        case (_, "superseded"):
            // A version for some users only also gives way to a newer one for some users only.
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

    /// A halt of a superseded campaign is decided when the campaign comes back, and recorded nowhere before. A relay that loses the
    /// source or its process forgets the halt.
    mutating func forgetHalts(of app: Int) {
        for facts in campaigns.values where facts.state == "superseded" {
            if announcements[facts.announcement].app == app { announcements[facts.announcement].haltedAt = nil }
        }
    }

    /// A relay that has died still knows its stores' answers, which are in its own store. It may have forgotten an answer that it
    /// could not write, but not the effects of that answer. So no waiting version can count on an offer before the store answers
    /// again.
    ///
    /// - Parameter isEither: whether the previous answer offered a version and the last one does not.
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

    /// Whether a version may be pushed to a device: it is registered, has a user, and was not seen with that version or a newer
    /// one.
    func mayBePushed(_ app: Int, _ token: String, for version: Int) -> Bool {
        device(app, token).map {
            // A system that is too old is excluded. An unknown system is not.
            $0.isRegistered && $0.user != nil && $0.version.map { $0 < version } ?? true && !$0.isTooOld
        } ?? false
    }

    /// Whether a device is in a campaign's audience: one that registered after the request is not (VERSIONS.md).
    func isOfAudience(_ app: Int, _ token: String, of campaign: String) -> Bool {
        guard let announcement = announcement(of: campaign), let states = devices["\(app)/\(token)"],
            let first = states.lastIndex(where: { $0.since <= announcement.askedAt })
        else { return false }
        return states[first...].allSatisfy(\.isRegistered)
    }

    /// Records that the answer to a push is in the relay's store.
    mutating func settled(_ token: String, campaign: String) {
        let token = announcement(of: campaign).flatMap { successor($0.app, token) } ?? token
        campaigns[campaign]?.settled[token, default: 0] += 1
        if let place = block(of: campaign) { blocks[place].settled[token, default: 0] += 1 }
    }
}

extension Announcement {
    /// A version that another program wrote counts as requested from the relay's first look at it.
    mutating func noticed(at now: Int64) {
        if isOutside, noticedAt == nil { noticedAt = now }
    }
}
