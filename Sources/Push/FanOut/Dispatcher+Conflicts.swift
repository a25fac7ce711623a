// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Outcomes that contradict the store, such as those of devices that were deleted by hand while their pushes were on their way.
/// Trying them again unchanged would keep every campaign waiting for ever.
extension Dispatcher {
    /// Records each of the batches by itself, so that a conflict costs the others nothing.
    mutating func recordApart(_ batches: [Batch], of run: CampaignRun, at now: Moment) throws {
        for batch in batches {
            pulse.beat()
            do {
                if try !run.commit(batch.commits, ofBatches: 1, to: store, at: now.wall) { giveUp([batch], of: run) }
            } catch let error as StoreError where error.code == .conflict {
                if let settled = batch.settled { try recordRest(of: batch, settled, of: run, at: now.wall) }
            }
            // Removed at once: if the store fails at a later batch, this one must not be recorded again.
            answered.removeAll { $0 === batch }
            recorded(batch, at: now)
        }
    }

    /// Ends the run of a campaign that belongs to another relay, was pruned, or is in a store that was set back to an
    /// earlier moment. The answers that came back are not recorded.
    mutating func giveUp(_ batches: [Batch], of run: CampaignRun) {
        let rows = batches.compactMap(\.settled).flatMap(\.rows)
        if !rows.isEmpty {
            log(
                .error, "outcomes that came too late for their campaign are left out",
                [
                    ("campaign", run.record.id), ("devices", String(rows.count)),
                    ("pushes", String(rows.count(where: \.isOfPush))),
                ])
        }
        for batch in batches { (batch.settled, batch.recalled) = (nil, nil) }
        halt(run)
        lookAtOnce()
    }

    /// Records the rows of devices that still exist. The cursor moves over the others all the same, and they leave the audience
    /// when their shard is done, as if they had gone before their turn.
    ///
    /// Where even that is a conflict, the campaign is suspended: its outcomes would be lost, and its pushes sent again,
    /// for as long as it went on.
    private mutating func recordRest(
        of batch: Batch, _ settled: LedgerCommit, of run: CampaignRun, at now: Timestamp
    ) throws {
        let gone = try store.goneDevices(of: settled)
        let rest = settled.without(gone)
        let recalled = try batch.recalled.map { $0.without(try store.goneDevices(of: $0)) }
        do {
            guard try run.commit([rest] + (recalled.map { [$0] } ?? []), ofBatches: 1, to: store, at: now) else {
                return giveUp([batch], of: run)
            }
            batch.settled = rest
            // Rows without a push are not reported: their devices may be pruned at any time.
            guard settled.rows.contains(where: { $0.isOfPush && gone.contains($0.device) }) else { return }
            report("outcomes of devices that have gone from the store are left out", run, settled, gone.contains)
        } catch let error as StoreError where error.code == .conflict {
            run.lifecycle.suspend(
                CampaignLifecycle.Suspension(
                    .store,
                    "StoreConflict: \(error). `upgrade-relay store check` may know why. "
                        + "Resumed, the campaign sends again what was on its way"))
            callBack(run)
            // The suspension is written before the outcomes are dropped: the batch is read again when the campaign goes on.
            try writeSuspensions()
            batch.settled = nil
            report("outcomes that the store cannot take are given up", run, settled) { _ in true }
        }
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
