// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Prepares a claimed campaign in the store: plans it, puts refused pushes back in line, and reads what its run needs.
struct CampaignPreparation {
    let store: any RelayStore
    let configuration: FanOut.Configuration
    let log: Log

    /// A campaign that can be sent.
    struct Prepared {
        var record: CampaignRecord
        var lease: RunLease
        /// The share of dead tokens from which on the campaign is suspended; nil: a person accepts all of them.
        var unregisteredLimit: Double?
        /// Those that have something to send, in their order.
        var channels: [Channel]
    }

    func prepare(
        _ record: CampaignRecord, _ lease: RunLease, _ route: AppRoute, at now: Timestamp
    ) throws -> Prepared {
        if record.isCanary {
            try store.lineUpCanary(record.key, at: now)
        } else if !record.figures.isPlanned {
            try plan(record, route, at: now)
        }
        var record = record
        if record.figures.waves.isEmpty, record.requirement.stages != nil, let planned = try store.campaign(record.key)
        {
            record.figures.waves = planned.figures.waves
        }
        var lease = lease
        try recallRefusals(of: record, by: &lease, at: now)
        let limit = try unregisteredLimit(of: record)
        try store.bringForward(record.key, at: now)
        return Prepared(
            record: record, lease: lease, unregisteredLimit: limit,
            channels: try store.channels(of: record.key).sorted())
    }

    private func plan(_ record: CampaignRecord, _ route: AppRoute, at now: Timestamp) throws {
        // A shard has one batch on its way at a time: small audiences get many small shards, enough to hide the time that an
        // answer takes until near the end; the shards of larger ones are multiples of a batch.
        let batch = max(1, configuration.limits.batchSize)
        let part = Int(record.figures.counts.audience) / (4 * BatchBudget(configuration.limits).mostBatches)
        let size = part > batch ? (part + batch - 1) / batch * batch : part
        // Paced batches are small, so several must be on their way to hide the time that an answer takes.
        let least = route.pace == nil ? 500 : 20
        try store.planShards(
            record.key, shardSize: min(max(size, least), configuration.largestShard), waves: record.requirement.stages,
            at: now)
    }

    /// Puts pushes back in line that were recorded as refused before a restart, a reload or a pause, if their service has taken
    /// nothing of the campaign yet: the earlier run's breaker had not judged, so the credential may have been at fault, and
    /// may have been repaired since. They go out again, fewer than a breaker's sample, and are judged with those that follow.
    private func recallRefusals(of record: CampaignRecord, by lease: inout RunLease, at now: Timestamp) throws {
        guard let refusals = try UnjudgedRefusals(recordedOf: record, in: store),
            let commit = refusals.recall(for: record.key, at: now), try store.commit([commit], of: lease, at: now)
        else { return }
        lease.commits += 1
        log(
            .notice, "refused pushes are tried again: their service has taken none of the campaign yet",
            [("campaign", record.id), ("pushes", String(commit.rows.count))])
    }

    /// The share of dead tokens that the app's earlier campaigns make probable.
    private func unregisteredLimit(of record: CampaignRecord) throws -> Double? {
        guard !record.facts.acceptsDeadTokens else { return nil }
        let earlier = try store.answers(of: record.app, before: record.key, campaigns: 100)
        let answered = earlier.accepted + earlier.unregistered
        return CredentialBreaker.unregisteredLimit(
            seen: answered < CredentialBreaker.sampleOfProven ? nil : Double(earlier.unregistered) / Double(answered))
    }
}
