// SPDX-License-Identifier: Apache-2.0

/// The members of the API's answers, each spelt here alone: the API writes them and the commands read them through these
/// names.
package enum Field: String, Sendable {
    // Lists, problems, and the progress of long work.
    case items, next, warnings, title, detail, errors, field, reason, error, begins, isDone, done, total
    // Apps and their versions.
    case app, platform, required, latest, downloadUrl, message, builds, version, campaign, history
    case minimumOs, osTooOld, blocked, blocks, blockCampaigns, unblocked, messages
    case inForce, inForceSince, inForceBy, inForceReason, inForceHistory, announced, waitingReason
    case actor, source, createdAt, updatedAt
    // One release of several platforms.
    case platforms, result
    // The state that a person is shown before an act, and its changes since.
    case shown, releasable, changed, confirm, doubts
    // Requests for a second person.
    case act, deed, askedBy, askedAt, askedVia, closedBy, closedAt, approval, approvals
    // Dry runs.
    case toPush, canary, samplePayload, samplePayloadSize, rises, largestKnown, needsConfirmation, withdrawn, waves,
        pushesFrom
    case phase, releasedAt
    // Test pushes.
    case server, remedy
    // Campaigns; the members of `counts` are states of deliveries beside `audience`.
    case id, state, startedAt, finishedAt, expiresAt, waitingUntil, counts, audience, filteredBy, rejectedBy, upgraded,
        channel
    case ratePerSecond, secondsLeft, rateLimit, wave
    case now, by, rounds, states, dueAt, nextReminderAt
    case wait, standing, until, rollout, steps, begun, effects
    case latency, answers, seconds, p50Ms, p90Ms, p99Ms
    case number, of, percent, devices, pending, accepted, failed, retrying, begunAt, endedAt, nextAt
    // The devices that obeyed a campaign.
    case versions, countedAt, seenSince, seen, retireBelow, share, orOlder, orOlderShare, belowSince
    case others
    case alreadyCurrent, toldAtLogin, reachedBy, push, login, both, unknown
    // Deliveries and devices.
    case tokens, apnsId, attempts, nextAttemptAt, environment, provider, registeredAt, retiredAt
    case replaces, replaced, since, deadSince, seenAt, stored, new, updated, unchanged, versionsKept, refusedCount,
        refused, line
    // One user, explained.
    case known, spelling, stage, named, reach, turn, reached, channels, enforce, launchDocument
    case says, why, pushes, versionFrom, versionAt
    case summary, sentence, from, has, devicesAlike, canGet, canGetWhy, canGetAskedAt
    // Alerts, API tokens, notifications, the log.
    case blocking, endsAt, createdBy, name, scopes, apps, revokedAt, type, url, at, milliseconds, status, level
    // The audit log: an act and its actor.
    case actorKind, address, action, object, before, after, requiredBuild, latestBuild
    // The store.
    case formToken, usedAt
    // An API token's own secret, which is in one answer and nowhere else.
    case secret = "token"
    // People without their names: how many they are, or a number that is masked for good.
    case telephoneCount = "telephones"
    case maskedTelephone = "telephone"
    case path, size, schemaVersion, newestSchemaVersion, chain, appliedAt, firstInstalled, current, release, openedAt
    case mark, identity, decision, sign, recorded, wentBack, seenMark, foundMark, store
    case faults, check, campaigns, deliveries, formerTelephones, webhooks, alerts, notifications, freed, longestPause
    // Several relays and their roles.
    case isLeader, isThis, host, joinedAt, aliveUntil, clockAheadMs, configuration, differs
    // Readiness, events for receivers, and the answers to apps.
    case part, degraded, request, timestamp, data, body, hasNewVersion, needUpgrade
}

/// The members that hold people's data. They are no `Field`: code that writes one of them has to name its reader (`Redaction`),
/// or it is not compiled.
package enum PersonalField: String, Sendable, CaseIterable {
    case token, telephone, telephones, similar
}

extension JSONWriter {
    package mutating func name(_ field: Field) { name(field.rawValue) }

    package mutating func member(_ field: Field, _ value: (any JSONWritable)?) { member(field.rawValue, value) }

    package mutating func members(_ members: KeyValuePairs<Field, (any JSONWritable)?>) {
        for (field, value) in members { member(field, value) }
    }

    package mutating func object(_ members: KeyValuePairs<Field, (any JSONWritable)?>) {
        object { $0.members(members) }
    }

    /// A member that `content` writes; null where there is no value.
    package mutating func member<Value>(
        _ field: Field, _ value: Value?, _ content: (inout JSONWriter, Value) -> Void
    ) {
        name(field)
        if let value { content(&self, value) } else { null() }
    }

    package mutating func object(_ field: Field, _ content: (inout JSONWriter) -> Void) {
        name(field)
        object(content)
    }

    package mutating func array<Elements: Sequence>(
        _ field: Field, _ elements: Elements, _ content: (inout JSONWriter, Elements.Element) -> Void
    ) {
        name(field)
        array(elements, content)
    }
}

extension JSONValue {
    package subscript(field: Field) -> JSONValue? { self[field.rawValue] }
    package subscript(field: PersonalField) -> JSONValue? { self[field.rawValue] }

    /// The elements of a member; none where it is no array.
    package func list(_ field: Field) -> [JSONValue] { self[field]?.array ?? [] }

    /// The member as a count; 0 where it is missing.
    package func count(_ field: Field) -> Int64 { self[field]?.integer ?? 0 }
}
