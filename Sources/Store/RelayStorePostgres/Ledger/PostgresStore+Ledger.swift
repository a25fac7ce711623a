// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import StoreSQL

extension PostgresStore {
    package func readDevices(
        _ app: AppKey, channel: Channel, after: Int64, through last: Int64, limit: Int,
        of slice: WaveSlice?, without campaign: CampaignKey?, into rows: inout DeviceRows
    ) throws {
        try look(.reads, "reading a batch of devices", isSnapshot: false) { session in
            try BatchReader.readDevices(
                session.connection, app: app, channel: channel, after: after, through: last, limit: limit,
                of: slice, without: campaign, into: &rows, until: session.deadline)
        }
    }

    package func readDueRetries(
        _ campaign: CampaignKey, channel: Channel, at now: Timestamp, limit: Int, waves: WaveDraw?,
        into rows: inout DeviceRows
    ) throws {
        try look(.reads, "reading due retries", isSnapshot: false) { session in
            try BatchReader.readDueRetries(
                session.connection, campaign, channel: channel, at: now, limit: limit, waves: waves,
                into: &rows, until: session.deadline)
        }
    }

    package func nextRetry(_ campaign: CampaignKey, channel: Channel) throws -> Timestamp? {
        try look(.reads, "looking for the next retry", isSnapshot: false) { session in
            let found = try session.run(BatchReader.nextRetry) { values in
                values.add(campaign.row)
                values.add(Int64(channel.rawValue))
            }
            return found.first { $0.optionalTime() } ?? nil
        }
    }

    package func commit(_ batches: [LedgerCommit], of lease: RunLease, at now: Timestamp) throws -> Bool {
        try write(.commits, "recording outcomes") { session in
            let retired = try CommitWriter.recordTokens(of: batches, session)
            let run = try RunTable.find(lease, membership.memory, session)
            if case .next(let run) = run {
                var writer = try CommitWriter(session, run, of: batches, at: now)
                try writer.record(batches)
                try writer.finish()
            }
            for (app, devices) in retired.sorted(by: { $0.key < $1.key }) {
                try DeadDevices.place(devices, of: app, at: now, session)
            }
            if case .over = run { return false }
            return true
        }
    }
}
