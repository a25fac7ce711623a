// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Records one batch by itself, where its outcomes contradict the store, such as those of devices that were deleted by hand while their
/// pushes were on their way. Trying them again unchanged would keep every campaign waiting for ever.
struct BatchRecorder {
    let store: any RelayStore
    let log: Log

    enum End {
        case recorded
        /// The campaign belongs to another relay, was pruned, or is in a store that was set back to an earlier moment.
        case tooLate
        /// Not even the outcomes of the devices that still exist can be recorded.
        case conflict(any Error)
    }

    func record(_ batch: Batch, of run: CampaignRun, at now: Timestamp) throws -> End {
        do {
            return try run.commit(batch.commits?.all ?? [], ofBatches: 1, to: store, at: now) ? .recorded : .tooLate
        } catch let error as StoreError where error.code == .conflict {
            guard let commits = batch.commits else { return .recorded }
            return try recordRest(of: batch, commits, of: run, at: now)
        }
    }

    /// Records the rows of devices that still exist. The cursor moves over the others all the same, and they leave the audience
    /// when their shard is done, as if they had gone before their turn.
    private func recordRest(
        of batch: Batch, _ commits: Batch.Commits, of run: CampaignRun, at now: Timestamp
    ) throws -> End {
        let outcomes = commits.outcomes
        let gone = try store.goneDevices(of: outcomes)
        let rest = Batch.Commits(
            outcomes: outcomes.without(gone),
            recalled: try commits.recalled.map { $0.without(try store.goneDevices(of: $0)) })
        do {
            guard try run.commit(rest.all, ofBatches: 1, to: store, at: now) else { return .tooLate }
            batch.settled(rest)
            // Rows without a push are not reported: their devices may be pruned at any time.
            if outcomes.rows.contains(where: { $0.isOfPush && gone.contains($0.device) }) {
                report("outcomes of devices that have gone from the store are left out", run, outcomes, gone.contains)
            }
            return .recorded
        } catch let error as StoreError where error.code == .conflict {
            return .conflict(error)
        }
    }

    /// Gives up the batch's outcomes, which the store cannot take.
    func drop(_ batch: Batch, of run: CampaignRun) {
        guard let outcomes = batch.commits?.outcomes else { return }
        batch.drop()
        report("outcomes that the store cannot take are given up", run, outcomes) { _ in true }
    }

    /// Gives up the outcomes of batches that came too late for their campaign.
    func leaveOut(_ batches: [Batch], of run: CampaignRun) {
        let rows = batches.compactMap(\.commits).flatMap(\.outcomes.rows)
        if !rows.isEmpty {
            log(
                .error, "outcomes that came too late for their campaign are left out",
                [
                    ("campaign", run.record.id), ("devices", String(rows.count)),
                    ("pushes", String(rows.count(where: \.isOfPush))),
                ])
        }
        for batch in batches { batch.drop() }
    }

    private func report(
        _ message: StaticString, _ run: CampaignRun, _ commit: LedgerCommit, _ isLost: (Int64) -> Bool
    ) {
        let lost = commit.rows.filter { isLost($0.device) }
        log(
            .error, message,
            [
                ("campaign", run.record.id), ("shard", commit.shard.map { String($0.number) } ?? "none: retries"),
                ("devices", String(lost.count)),
                ("pushes", String(lost.count(where: \.isOfPush))),
            ])
    }
}

extension LedgerRow {
    /// Whether a push was sent to the row's device.
    fileprivate var isOfPush: Bool { attempts > 0 && state != .filtered }
}

extension LedgerCommit {
    fileprivate func without(_ gone: Set<Int64>) -> LedgerCommit {
        var rest = self
        rest.rows.removeAll { gone.contains($0.device) }
        if !waves.isEmpty { rest.waves = WaveTally.tallies(of: rest.rows, areRetries: shard == nil) }
        return rest
    }
}
