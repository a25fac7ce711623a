// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// A campaign's audience is counted in one snapshot, and its shards are written in one short transaction after it: a driver
/// cuts the audience, and writes the shards.
extension CampaignTable {
    /// The campaign's app and requirement, where its audience has not been cut yet.
    package static func unplanned(
        _ campaign: CampaignKey, _ connection: some SQLConnection
    ) throws -> (app: Int64, requirement: Int64)? {
        try connection.first(
            "SELECT app_id, requirement_id FROM campaign WHERE id = ? AND planned_at IS NULL", campaign.row
        ) { ($0.integer(), $0.integer()) }
    }

    /// Looks for another campaign of the app that is both cut and under way. A device stays in the shard that counted
    /// it, even if its environment changes, so the environment that it was counted in may only be forgotten where no
    /// campaign relies on it (`MovedDevices`).
    ///
    /// - Returns: the app; nil where another one is under way, or this one was cut already.
    package static func alone(_ campaign: CampaignKey, _ connection: some SQLConnection) throws -> Int64? {
        guard let (app, _) = try unplanned(campaign, connection) else { return nil }
        let hasOther = try connection.exists(
            "SELECT 1 FROM campaign WHERE app_id = ? AND id <> ? AND planned_at IS NOT NULL AND finished_at IS NULL",
            app, campaign.row)
        return hasOther ? nil : app
    }

    /// - Parameter cut: counts the app's devices, by the draw where there are waves.
    /// - Returns: nil where the campaign was cut already.
    package static func plan(
        _ campaign: CampaignKey, waves: WavePlan?, _ connection: some SQLConnection,
        cut: (_ app: Int64, _ waves: (plan: WavePlan, draw: WaveDraw)?) throws -> AudiencePlan
    ) throws -> AudiencePlan? {
        guard let (app, requirement) = try unplanned(campaign, connection) else { return nil }
        let drawn = waves.map { (plan: $0, draw: WaveDraw($0, requirement: requirement)) }
        var plan = try cut(app, drawn)
        // The canary's devices had their turn before all others.
        for device in try CanaryTable.devices(of: campaign, connection) {
            plan.leaveOut(
                device.id, wave: drawn?.draw.wave(of: device.telephone?.utf8) ?? 0, device.channel)
        }
        return plan
    }

    /// Writes the plan, unless another relay has written one since.
    package static func store(
        _ plan: AudiencePlan, of campaign: CampaignKey, waves: WavePlan?, at now: Timestamp,
        _ connection: some SQLConnection, insert: () throws -> Void
    ) throws {
        guard try unplanned(campaign, connection) != nil else { return }
        try insert()
        if let waves {
            var devices = [Int64](repeating: 0, count: waves.count)
            for shard in plan.shards { devices[shard.wave] += shard.devices }
            try WaveTable.insert(campaign, plan: waves, devices: devices, at: now, connection)
        }
        try connection.run("UPDATE campaign SET planned_at = ? WHERE id = ?", now, campaign.row)
        var counts = CampaignCounts()
        counts.pending = plan.shards.reduce(0) { $0 + $1.devices }
        try RunTable.add(counts, to: campaign, connection)
    }
}
