// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements

/// Devices whose environment has changed since campaigns counted them.
///
/// A campaign's shards keep a device in the environment in which they counted it, `device.planned_environment`. This
/// value is forgotten before another campaign is cut, since the newest one takes devices as they are. A campaign that
/// is over may still come back, and go on with its remaining shards: it must then neither lose a device nor reach one
/// twice.
package enum MovedDevices {
    /// A row that a device gets in the ledger of a campaign that is over.
    package struct Line {
        package let campaign: CampaignKey
        /// `retrying`, or the state of devices that the campaign had not reached when it was settled.
        package let state: DeliveryState
        /// nil where the campaign is settled.
        package let nextAttemptAt: Timestamp?
        /// The reason that `Batch.fill` also gives to a device that it hands over to another environment.
        package let reason = "NotSent"
    }

    /// The most devices, or rows of devices and campaigns, in one transaction; a hundred devices at least.
    private static let most = 1000

    /// Whether the app of a campaign that will be cut has a device whose move must be forgotten.
    package static func isAny(
        before campaign: CampaignKey, after: Int64, _ connection: some SQLConnection
    ) throws -> Bool {
        guard let app = try CampaignTable.alone(campaign, connection) else { return false }
        return try connection.exists("SELECT 1 FROM \(moved(connection.dialect)) AND id > ?2 LIMIT 1", app, after)
    }

    /// Forgets some moves, within a transaction that has the app's lock.
    ///
    /// - Parameters:
    ///   - campaign: the campaign that will be cut.
    ///   - after: the device that was looked at last.
    ///   - putInLine: adds such rows without attempts for these devices, with their users and, where there is a next
    ///     attempt, their environments.
    ///   - forget: empties `planned_environment` of these devices.
    /// - Returns: the last device that was looked at; nil where there is none, or where another campaign is under way, which
    ///   relies on them.
    package static func forget(
        before campaign: CampaignKey, after: Int64, at now: Timestamp, _ connection: some SQLConnection,
        putInLine: ([Int64], Line) throws -> Void, forget: ([Int64]) throws -> Void
    ) throws -> Int64? {
        guard let app = try CampaignTable.alone(campaign, connection) else { return nil }
        let left = try leftCampaigns(of: app, before: campaign, connection)
        let page = try connection.all(
            page(connection.dialect), app, after, max(most / max(left.count, 1), 100)
        ) {
            Device(
                id: $0.integer(), telephone: $0.optionalText(), now: $0.channel(), planned: $0.channel())
        }
        guard let first = page.first?.id, let last = page.last?.id else { return nil }
        let plans = try left.map { try Plan($0, from: first, through: last, app: app, connection) }
        let moved = page.filter { $0.now != $0.planned }
        let kept = Set(moved.filter { device in plans.contains { $0.keeps(device) } }.map(\.id))
        for plan in plans where !plan.shards.isEmpty {
            try plan.settle(moved.filter { !kept.contains($0.id) }, at: now, connection, putInLine)
        }
        try forget(page.map(\.id).filter { !kept.contains($0) })
        return last
    }

    /// The moved devices of an app (?1). The environment in which a removed device was counted stays known: it may register again.
    private static func moved(_ dialect: SQLDialect) -> SQL {
        """
        device \(dialect.indexed(by: "device_moved"))
        WHERE app_id = ?1 AND planned_environment IS NOT NULL AND removed_at IS NULL
        """
    }

    /// The next ?3 of them behind an id (?2).
    package static func page(_ dialect: SQLDialect) -> SQL {
        """
        SELECT id, telephone, environment, planned_environment FROM \(moved(dialect)) AND id > ?2
        ORDER BY app_id, id LIMIT ?3 \(dialect.forUpdate)
        """
    }

    private struct Device {
        var id: Int64
        var telephone: String?
        var now: Channel
        var planned: Channel
    }

    /// A campaign that is over, and may go on with its remaining shards.
    private struct LeftCampaign {
        var key: CampaignKey
        /// nil where it has no waves.
        var draw: WaveDraw?
        /// The state of devices that it has not reached; nil: pending.
        var rest: DeliveryState?
        /// Whether its owner must still record pushes on their way, by the shards as the owner knows them.
        var isOwned: Bool
    }

    private static func leftCampaigns(
        of app: Int64, before campaign: CampaignKey, _ connection: some SQLConnection
    ) throws -> [LeftCampaign] {
        let rows = try connection.all(
            """
            SELECT c.id, c.requirement_id, n.rest, n.owner FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id
            WHERE c.app_id = ? AND c.id <> ? AND c.finished_at IS NOT NULL AND c.pruned_at IS NULL
                AND EXISTS (SELECT 1 FROM requirement AS r WHERE r.id = c.requirement_id AND r.state <> 'withdrawn')
                AND EXISTS (SELECT 1 FROM shard AS s WHERE s.campaign_id = c.id AND s.cursor < s.last)
            ORDER BY c.id
            """, app, campaign.row
        ) { row in
            (
                key: CampaignKey(row: row.integer()), requirement: row.integer(), rest: row.state(),
                isOwned: !row.isNull()
            )
        }
        return try rows.map { row in
            LeftCampaign(
                key: row.key, draw: try WaveTable.draw(of: row.key, requirement: row.requirement, connection),
                rest: row.rest, isOwned: row.isOwned)
        }
    }

    /// A campaign that may go on, with the shards and rows that matter to a page of devices.
    private struct Plan {
        struct Shard {
            var number: Int64
            var wave: Int
            var channel: Channel
            var cursor: Int64
            var last: Int64
            var remaining: Int64
        }

        let campaign: LeftCampaign
        /// The remaining shards that may have one of the devices.
        let shards: [Shard]
        /// Devices with a row.
        let recorded: Set<Int64>

        init(
            _ campaign: LeftCampaign, from first: Int64, through last: Int64, app: Int64,
            _ connection: some SQLConnection
        ) throws {
            self.campaign = campaign
            shards = try connection.all(
                """
                SELECT number, wave, environment, cursor, last, remaining FROM shard
                WHERE campaign_id = ? AND cursor < last AND cursor < ? AND last >= ? ORDER BY number
                """, campaign.key.row, last, first
            ) {
                Shard(
                    number: $0.integer(), wave: Int($0.integer()), channel: $0.channel(),
                    cursor: $0.integer(), last: $0.integer(), remaining: $0.integer())
            }
            guard !shards.isEmpty else {
                recorded = []
                return
            }
            let rows = try connection.all(
                """
                SELECT r.device_id FROM (SELECT id FROM \(moved(connection.dialect)) AND id BETWEEN ?2 AND ?3) AS d
                \(connection.dialect.join) delivery AS r ON r.campaign_id = ?4 AND r.device_id = d.id
                """, app, first, last, campaign.key.row
            ) { $0.integer() }
            recorded = Set(rows)
        }

        private func wave(of device: Device) -> Int { campaign.draw?.wave(of: device.telephone?.utf8) ?? 0 }

        /// The shard in which the campaign has yet to reach a device: that of its user's wave, or of the last wave,
        /// which takes all devices that are left.
        private func place(of device: Device) -> Int? {
            shard(device, device.planned, wave(of: device))
                ?? campaign.draw.flatMap { shard(device, device.planned, $0.plan.count - 1) }
        }

        /// The shard in which the campaign would reach the device under its new environment, in the user's wave.
        private func newPlace(of device: Device) -> Int? { shard(device, device.now, wave(of: device)) }

        private func shard(_ device: Device, _ channel: Channel, _ wave: Int) -> Int? {
            shards.firstIndex {
                $0.wave == wave && $0.channel == channel && $0.cursor < device.id && device.id <= $0.last
            }
        }

        /// Whether the campaign still relies on the environment that the device had. The campaign that is cut then
        /// counts it there, too, and hands it over.
        ///
        /// Shards of waves leave out devices with a row; other shards would reach a device a second time.
        func keeps(_ device: Device) -> Bool {
            let (old, new) = (place(of: device), newPlace(of: device))
            if campaign.isOwned { return old != nil || new != nil }
            return campaign.draw == nil && old == nil && new != nil
        }

        /// Puts devices in line that the campaign would lose; a device that a shard of its new environment will reach
        /// is counted there from now on.
        func settle(
            _ devices: [Device], at now: Timestamp, _ connection: some SQLConnection,
            _ putInLine: ([Int64], Line) throws -> Void
        ) throws {
            var lost: [(device: Device, place: Int)] = []
            var change = [Int64](repeating: 0, count: shards.count)
            /// Subtracts a device from a shard's remaining ones; false where none is left.
            func leave(_ place: Int) -> Bool {
                guard shards[place].remaining + change[place] > 0 else { return false }
                change[place] -= 1
                return true
            }
            for device in devices where !recorded.contains(device.id) {
                guard let old = place(of: device) else { continue }
                guard let new = newPlace(of: device) else {
                    lost.append((device, old))
                    continue
                }
                // A shard in which none remains may be one that `CampaignTable.settleRest` has made, and is recognised by that.
                if shards[new].remaining > 0, leave(old) { change[new] += 1 }
            }
            let packed = try DeliveryBatchTable.devices(among: lost.map(\.device.id), of: campaign.key.row, connection)
            lost.removeAll { packed.contains($0.device.id) }
            let left = lost.count { leave($0.place) }
            for (shard, devices) in zip(shards, change) where devices != 0 {
                try connection.run(
                    "UPDATE shard SET remaining = remaining + ? WHERE campaign_id = ? AND number = ?", devices,
                    campaign.key.row, shard.number)
            }
            guard !lost.isEmpty else { return }
            let line = Line(
                campaign: campaign.key, state: campaign.rest ?? .retrying,
                nextAttemptAt: campaign.rest == nil ? now : nil)
            try putInLine(lost.map(\.device.id), line)
            var counts = CampaignCounts()
            counts[campaign.rest ?? .pending] -= Int64(left)
            counts[line.state] += Int64(lost.count)
            try RunTable.add(counts, to: campaign.key, connection)
            guard campaign.draw != nil, campaign.rest == nil else { return }
            let waves = Dictionary(grouping: lost) { wave(of: $0.device) }.mapValues(\.count)
            for (wave, devices) in waves.sorted(by: { $0.key < $1.key }) {
                var tally = WaveTally(wave: wave)
                tally.retrying = Int64(devices)
                try WaveTable.add([tally], to: campaign.key, connection)
            }
        }
    }
}
