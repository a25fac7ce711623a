// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Outcomes that contradict the store (`BatchRecorder`), or that come too late for their campaign.
extension Dispatcher {
    /// Records each of the batches by itself, so that a conflict costs the others nothing.
    mutating func recordApart(_ batches: [Batch], of run: CampaignRun, at now: Moment) throws {
        for batch in batches {
            pulse.beat()
            switch try recorder.record(batch, of: run, at: now.wall) {
            case .recorded: break
            case .tooLate: giveUp([batch], of: run)
            case .conflict(let error):
                run.lifecycle.suspend(
                    CampaignLifecycle.Suspension(
                        .store,
                        "StoreConflict: \(error). `upgrade-relay store check` may know why. "
                            + "Resumed, the campaign sends again what was on its way"))
                run.callBack()
                // The suspension is written before the outcomes are dropped: the batch is read again when the campaign goes on.
                try writeSuspensions()
                recorder.drop(batch, of: run)
            }
            // Removed at once: if the store fails at a later batch, this one must not be recorded again.
            answered.removeAll { $0 === batch }
            recorded(batch, at: now)
        }
    }

    /// Ends the run of a campaign whose answers came back too late. They are not recorded.
    mutating func giveUp(_ batches: [Batch], of run: CampaignRun) {
        recorder.leaveOut(batches, of: run)
        halt(run)
        lookAtOnce()
    }
}
