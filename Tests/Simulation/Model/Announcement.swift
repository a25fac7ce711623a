// SPDX-License-Identifier: Apache-2.0

/// A requested version, as the model remembers it. A request that is repeated after a withdrawal is a new announcement.
///
/// Times are milliseconds of the monotonic clock, versions are integers.
struct Announcement {
    let app: Int
    let version: Int
    let askedAt: Int64
    /// Whether it waits for its store to offer the version.
    var isGated: Bool
    /// Whether another program wrote it into the store, or into a file (`isOfFile`).
    var isOutside = false
    /// Whether a file requires it.
    var isOfFile = false
    /// When the relay was first seen to know an announcement that another program wrote.
    var noticedAt: Int64?
    /// Whether a later request replaced it, for example in the same file: the relay may never have read it.
    var isOverwritten = false
    /// Whether it leaps over all known versions, and no person has confirmed it.
    var isDoubted = false
    /// Whether another program wrote it and it waits for a person: the version had been withdrawn before, or the relay has looked
    /// at it and doubts it.
    var isHeld = false
    /// Whether the relay could record its store's last offer. If not, the relay may have to ask the store again.
    var isOfferSure = true
    /// Whether no promise decides what applies. For example, two requests, one for some users and one for all, came before the
    /// relay looked, or it is unknown whether its store was configured when the relay looked.
    var isUnclear = false
    /// Since when a person has set the systems on which it runs; nil: perhaps never.
    var minimumAt: Int64?
    /// The text that was last requested for it; nil: the configuration's.
    var text: String?
    /// The users that it names; nil: all users.
    var canary: Set<Int>?
    /// When each user was erased, or no longer named. A push that was read for such a user before may still leave.
    var gone: [Int: Int64] = [:]
    /// The moment before which no user is forced; nil: users are forced as soon as its store offers it.
    var requiredFrom: Int64?
    /// When a person released the canary.
    var canaryReleasedAt: Int64?
    /// Whether it reaches its users in waves.
    var hasWaves = false
    /// Whether its campaign has ended: either no user was left for the later waves and it is for everybody, or its time to live was
    /// over and those users wait for a person. The channels show which.
    var mayHaveEnded = false
    /// Since when its last wave has begun.
    var lastWaveAt: Int64?
    /// Whether the source that it waits for was removed from the configuration.
    var lostItsGate = false
    /// Since when a person has overruled the store.
    var releasedAt: Int64?
    /// Since when the relay has known that the store offers it.
    var offeredAt: Int64?
    /// Until when a newer version in force kept the relay from deciding anything about it.
    var hiddenUntil: Int64 = 0
    /// How long it waits after its store's offer.
    var hold: Int64 = 0
    /// Whether it was in force before the relay became unable to decide, or a person put it in force during that time.
    /// `stuckUntil`: until when that lasted.
    var wasBeforeTrouble = false
    var stuckUntil: Int64 = 0
    /// Since when the relay has known that its rollout is halted.
    var haltedAt: Int64?
    /// Whether the relay learned of the halt while it could record nothing. It takes the version back when the disk works, unless
    /// the store has answered otherwise before.
    var isHaltPending = false
    /// Whether its rollout was ever halted.
    var wasHalted = false
    /// When a person withdrew it, or cancelled its campaign before it was in force for everybody.
    var withdrawnAt: Int64?
    /// Whether a person cancelled its campaign, and it is unclear whether it was in force for everybody before.
    var mayBeTakenBack = false

    /// Whether it counts as requested: live, not doubted, and not replaced before the relay noticed it.
    var isAsked: Bool { isLive && !isDoubted && !(isOverwritten && isUnnoticed) }

    /// Whether another program wrote it and the relay has not looked at it yet.
    var isUnnoticed: Bool { isOutside && noticedAt == nil }

    /// Whether people want it for everybody.
    var isForAll: Bool { canary == nil || canaryReleasedAt != nil }

    /// Whether the relay may send it to some users only: it names them, or a file or another program has requested the same version
    /// for all.
    var mayHaveCanary: Bool { canary != nil || isUnclear }

    /// Whether some of its waves have not begun.
    var isStaged: Bool { hasWaves && lastWaveAt == nil }

    var isLive: Bool { withdrawnAt == nil }

    var isReleased: Bool { releasedAt != nil }

    /// Whether its store lets it through.
    var isThrough: Bool { !isGated || isReleased || isUnclear || offeredAt != nil && haltedAt == nil }

    /// Since when it is in force for everybody; nil: it is not.
    var inForceAt: Int64? {
        guard isLive, !isDoubted, isForAll, isThrough, !isUnclear, !isStaged, !isOutside || noticedAt != nil else {
            return nil
        }
        return max(
            noticedAt ?? 0, askedAt, hiddenUntil, isGated ? releasedAt ?? (offeredAt ?? askedAt) + hold : askedAt,
            max(canaryReleasedAt ?? 0, lastWaveAt ?? 0, isReleased ? 0 : requiredFrom ?? 0))
    }
}

/// The model's record of a campaign.
struct CampaignFacts {
    /// The index of its announcement.
    let announcement: Int
    /// The state that the relay reported last.
    var state = "running"
    var pausedAt: Int64?
    var cancelledAt: Int64?
    /// Since when a person has wanted it sent outside its hours.
    var urgentAt: Int64?
    /// Whether its store's rollout was halted when it was last suspended.
    var isSuspendedByHalt = false
    /// Whether a person has asked for it to go on since then.
    var isWanted = false
    var approvals = 0
    /// Waves that ended without a push. A device that was handed since to a user of such a wave counts in it when its push is
    /// retried.
    var emptyWaves = 0
    /// How often it may push again to devices that already have its push: reminders only.
    var reminders = 0
    var retries = 0
    /// The number of recorded answers, by device.
    var settled: [String: Int] = [:]
}

/// The state that the registry must have for a device, and since when.
struct DeviceState: Equatable {
    var since: Int64
    var isRegistered: Bool
    var user: Int?
    /// nil: unknown.
    var version: Int?
    /// Whether its system is known and too old for the required version.
    var isTooOld = false
}
