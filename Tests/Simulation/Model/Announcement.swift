// SPDX-License-Identifier: Apache-2.0

/// A version that somebody asked for, as the model remembers it. Asked again after it was withdrawn it is another one.
///
/// Times are milliseconds of the monotonic clock, versions are integers.
struct Announcement {
    let app: Int
    let version: Int
    let askedAt: Int64
    /// Whether its store has to offer it first.
    var isGated: Bool
    /// Whether another program wrote it into the store.
    var isOutside = false
    /// Whether it is a file that says it.
    var isOfFile = false
    /// When the relay was first seen to know of what another program wrote.
    var noticedAt: Int64?
    /// A file said so and says another thing since: the relay may never have read it.
    var isOverwritten = false
    /// Whether it leaps over all that is known, and no person has said that it is meant.
    var isDoubted = false
    /// Whether another program wrote it, and it waits for a person: one had taken it back, or the relay has looked at it and doubts it.
    var isHeld = false
    /// Whether the relay could record it when it was told last that its store offers it: else it may have to ask again.
    var isOfferSure = true
    /// Two have asked for it, one of them for some users and one for all, before the relay had looked, or it was looked at where nobody
    /// sees whether its store was configured: which of them counts no promise says.
    var isUnclear = false
    /// Since when a person says on which systems it runs; nil: nobody surely does.
    var minimumAt: Int64?
    /// The text that was said of it last; nil: the configuration's.
    var text: String?
    /// The users that it names; nil: everybody.
    var canary: Set<Int>?
    /// When each of them was erased, or others were named instead: what was read for them before may leave still.
    var gone: [Int: Int64] = [:]
    /// Nobody is forced before that; nil: as soon as its store offers it.
    var requiredFrom: Int64?
    /// When a person released the canary.
    var canaryReleasedAt: Int64?
    /// Whether it reaches its users in waves.
    var hasWaves = false
    /// Whether its campaign has ended: either nobody was left for the waves to come, and it is for everybody, or its time to live was
    /// over, and they wait for a person. Which of these it is the channels say.
    var mayHaveEnded = false
    /// Since when the last of them has begun.
    var lastWaveAt: Int64?
    /// Whether what it waits for was taken out of the configuration.
    var lostItsGate = false
    /// Since when a person has overruled the store.
    var releasedAt: Int64?
    /// Since when the relay was told that the store offers it.
    var offeredAt: Int64?
    /// Until when a newer one in force kept the relay from deciding anything of it.
    var hiddenUntil: Int64 = 0
    /// How long after that it waits still.
    var hold: Int64 = 0
    /// Whether it was in force before the relay could decide nothing, or a person put it in force then; and until when that lasted.
    var wasBeforeTrouble = false
    var stuckUntil: Int64 = 0
    /// Since when the relay was told that its rollout is halted.
    var haltedAt: Int64?
    /// Whether it heard so while it could record nothing: it takes it back when the disk works, or has been told otherwise before.
    var isHaltPending = false
    /// Whether it ever was.
    var wasHalted = false
    /// When a person took it back, or cancelled its campaign before it was in force for everybody.
    var withdrawnAt: Int64?

    /// Whether it counts as asked for: live, meant, and nothing that nobody but a file's editor ever saw.
    var isAsked: Bool { isLive && !isDoubted && !(isOverwritten && isUnnoticed) }

    /// Whether the relay has not looked yet at what another program wrote.
    var isUnnoticed: Bool { isOutside && noticedAt == nil }

    /// Whether it is for everybody as far as people have said.
    var isForAll: Bool { canary == nil || canaryReleasedAt != nil }

    /// Whether the relay may send it to some users alone: it names them, or a file or another program has asked for all beside it.
    var mayHaveCanary: Bool { canary != nil || isUnclear }

    /// Whether waves are to come.
    var isStaged: Bool { hasWaves && lastWaveAt == nil }

    var isLive: Bool { withdrawnAt == nil }

    var isReleased: Bool { releasedAt != nil }

    /// Whether its store lets it through.
    var isThrough: Bool { !isGated || isReleased || isUnclear || offeredAt != nil && haltedAt == nil }

    /// From when on it is in force for everybody; nil where it is not.
    var inForceAt: Int64? {
        guard isLive, !isDoubted, isForAll, isThrough, !isUnclear, !isStaged, !isOutside || noticedAt != nil else {
            return nil
        }
        return max(
            noticedAt ?? 0, askedAt, hiddenUntil, isGated ? releasedAt ?? (offeredAt ?? askedAt) + hold : askedAt,
            max(canaryReleasedAt ?? 0, lastWaveAt ?? 0, isReleased ? 0 : requiredFrom ?? 0))
    }
}

/// What the model remembers of a campaign.
struct CampaignFacts {
    /// Which announcement it is of.
    let announcement: Int
    /// The state that the relay told last.
    var state = "running"
    var pausedAt: Int64?
    var cancelledAt: Int64?
    /// Since when a person wants it sent whatever the hour.
    var urgentAt: Int64?
    /// Whether its store's halt was why it was suspended last, and nothing else.
    var isSuspendedByHalt = false
    /// Whether a person said since then that it is to go on.
    var isWanted = false
    var approvals = 0
    /// Waves that were over without a push: one that was handed to a user of such a wave since counts there when it is tried again.
    var emptyWaves = 0
    /// How often it may push again to who has it already: reminders, and nothing else.
    var reminders = 0
    var retries = 0
    /// How often each device has had an answer that was recorded.
    var settled: [String: Int] = [:]
}

/// What the registry must say of a device, since when.
struct DeviceState: Equatable {
    var since: Int64
    var isRegistered: Bool
    var user: Int?
    /// nil: not known.
    var version: Int?
    /// Whether its system is known, and is too old for what people require.
    var isTooOld = false
}
