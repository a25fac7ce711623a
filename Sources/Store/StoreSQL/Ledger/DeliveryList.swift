// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
package import RelayStore
package import Requirements
import UpgradeRules

/// The deliveries of one campaign: the ledger's rows and batches, and one for each device that is in neither, as yet or for good.
package struct DeliveryList<Connection: SQLConnection> {
    package let app: Int64
    private let campaign: CampaignKey
    private let id: String
    private let appKey: AppKey
    private let restSince: Timestamp
    private let isPlanned: Bool
    /// Whether it is over, and may go on: pending and retrying devices are then shown as cancelled.
    private let isLeftOut: Bool
    /// The state of a device without a row: pending, or the state that the campaign's end gave it.
    private let unreachedState: DeliveryState
    /// Where it was over before it was planned: the last device that it left out.
    private let leftLast: Int64?
    /// nil where the campaign has no waves.
    private let draw: WaveDraw?
    private let connection: Connection

    /// nil where the campaign does not exist, or where its deliveries were pruned.
    package init?(of campaign: CampaignKey, _ connection: Connection) throws {
        let row = try connection.first(
            """
            SELECT c.app_id, c.public_id, a.name, a.platform, c.created_at, c.finished_at, c.planned_at,
                \(CampaignTable.isLeftOut("c")), c.left_last, c.requirement_id, n.rest
            FROM campaign AS c JOIN campaign_run AS n ON n.campaign_id = c.id JOIN app AS a ON a.id = c.app_id
            WHERE c.id = ? AND c.pruned_at IS NULL
            """, campaign.row
        ) { row in
            (
                app: row.integer(), id: row.text(), key: row.app(),
                createdAt: row.time(), finishedAt: row.optionalTime(), isPlanned: !row.isNull(),
                isLeftOut: row.bool(), leftLast: row.optionalInteger(), requirement: row.integer(),
                rest: row.state()
            )
        }
        guard let row else { return nil }
        self.campaign = campaign
        self.connection = connection
        (app, id, appKey, isPlanned) = (row.app, row.id, row.key, row.isPlanned)
        (isLeftOut, leftLast) = (row.isLeftOut, row.leftLast)
        unreachedState = row.rest ?? (row.isLeftOut ? .cancelled : .pending)
        restSince = row.finishedAt ?? row.createdAt
        draw = try WaveTable.draw(of: campaign, requirement: row.requirement, connection)
    }

    // MARK: A page

    /// One page, ascending by device, from `after` (exclusive).
    ///
    /// - Parameters:
    ///   - window: how many ids are looked at in one go.
    ///   - mostWindows: the most windows for one page: a filter with hardly any matches takes several pages, some of
    ///     them empty.
    package func page(
        _ filter: DeliveryFilter, after: Int64, limit: Int, window size: Int64 = 10_000, mostWindows: Int = 20
    ) throws -> DeliveryPage {
        // Retrying devices count as cancelled.
        if isLeftOut, filter.state == .retrying { return DeliveryPage() }
        let rests = try rests(filter, after: after)
        var (found, position) = ([Delivery](), after)
        for _ in 0..<mostWindows {
            guard let start = try next(filter.state, after: position, rests) else { return DeliveryPage(items: found) }
            let window = start...(start > .max - size ? .max : start + size - 1)
            // One delivery more than is shown proves that there is a next page.
            found += try part(filter, window, limit: limit + 1 - found.count, rests)
            if found.count > limit {
                found = Array(found.prefix(limit))
                return DeliveryPage(items: found, next: found.last?.device)
            }
            position = window.upperBound
        }
        return DeliveryPage(items: found, next: position)
    }

    /// The first id behind `position` that may be listed.
    private func next(_ state: DeliveryState?, after position: Int64, _ rests: [Rest]) throws -> Int64? {
        var ids = rests.filter { $0.last > position }.map { max($0.after, position) + 1 }
        func add(_ sql: SQL) throws {
            let id = try connection.integer(sql, campaign.row, position)
            if let id { ids.append(max(id, position + 1)) }
        }
        switch state {
        case .pending, .inFlight: break
        case nil, .accepted, .filtered:
            try add("SELECT device_id FROM delivery WHERE campaign_id = ? AND device_id > ? ORDER BY device_id LIMIT 1")
            try add("SELECT first FROM delivery_batch WHERE campaign_id = ? AND last > ? ORDER BY last LIMIT 1")
        case let state?:
            for state in isLeftOut && state == .cancelled ? [state, .retrying] : [state] {
                try add(
                    """
                    SELECT device_id FROM delivery \(connection.dialect.indexed(by: "delivery_rare")) WHERE state = \(state.rawValue) AND state > 2
                        AND state <> 7 AND campaign_id = ? AND device_id > ? ORDER BY device_id LIMIT 1
                    """)
            }
        }
        return ids.min()
    }

    private func part(
        _ filter: DeliveryFilter, _ window: ClosedRange<Int64>, limit: Int, _ rests: [Rest]
    ) throws -> [Delivery] {
        var found = try rows(filter, window, limit: limit)
        if isLeftOut, filter.state == .cancelled {
            // Retrying devices are listed as cancelled; a filter's reason is compared with that of their last attempt.
            var retrying = filter
            retrying.state = .retrying
            found += try rows(retrying, window, limit: limit)
        }
        switch filter.state {
        // In batches only filtered devices have a reason.
        case nil, .accepted, .filtered:
            var filter = filter
            if filter.reason != nil, filter.state == nil { filter.state = .filtered }
            found += try packed(filter, window, limit: limit)
        default: break
        }
        for channel in Channel.allCases {
            let rests = rests.filter { $0.channel == channel }
            if !rests.isEmpty { found += try unreached(window, limit: limit, in: rests, channel) }
        }
        return found.sorted { $0.device < $1.device }.prefix(limit).map(\.shown)
    }

    private func rows(_ filter: DeliveryFilter, _ window: ClosedRange<Int64>, limit: Int) throws -> [Delivery] {
        let state = filter.state
        let device: SQL =
            "\(connection.dialect.join) device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)"
        let source: SQL
        switch state {
        case nil: source = "delivery AS d \(device) WHERE"
        case .pending, .inFlight: return []
        case .accepted, .filtered:
            // Most rows have one of these states: the table itself, in order, is the quickest way.
            source = "delivery AS d \(device) WHERE d.state = \(state?.rawValue ?? 0) AND"
        default:
            // The repeated condition is what lets SQLite use the partial index (sqlite.org/partialindex.html, 3.1).
            source = """
                delivery AS d \(connection.dialect.indexed(by: "delivery_rare")) \(device)
                WHERE d.state = \(state?.rawValue ?? 0) AND d.state > 2 AND d.state <> 7 AND
                """
        }
        return try connection.all(
            """
            SELECT \(Self.columns) FROM \(source) d.campaign_id = ?1 AND d.device_id BETWEEN ?2 AND ?5
                AND (d.reason = ?4 OR ?4 IS NULL) ORDER BY d.device_id LIMIT ?3
            """, campaign.row, window.lowerBound, limit, filter.reason, window.upperBound
        ) { delivery(&$0) }
    }

    /// Reads batch by batch, until there are enough.
    private func packed(_ filter: DeliveryFilter, _ window: ClosedRange<Int64>, limit: Int) throws -> [Delivery] {
        var found: [Delivery] = []
        var after = window.lowerBound - 1
        while found.count < limit {
            let batch = try connection.first(
                DeliveryBatch.self,
                """
                FROM delivery_batch WHERE campaign_id = ?1 AND last > ?2
                    AND (?3 = 2 AND accepted > 0 OR ?3 = 7 AND filtered > 0 OR ?3 NOT IN (2, 7) OR ?3 IS NULL)
                ORDER BY last LIMIT 1
                """, campaign.row, after, filter.state)
            guard let batch, batch.first <= window.upperBound else { break }
            for entry in try batch.entries() where window.contains(entry.device) && found.count < limit {
                guard filter.takes(entry.outcome.state, entry.outcome.reason?.rawValue) else { continue }
                if let delivery = try delivery(entry, in: batch) { found.append(delivery) }
            }
            after = batch.last
        }
        return found
    }

    /// A part of the audience that has no outcome yet: the devices of one wave and one channel among the ids behind `after`
    /// and up to `last`.
    private struct Rest {
        var after: Int64
        var last: Int64
        var wave: Int
        var channel: Channel
    }

    /// The parts of the audience without an outcome, as far as the filter includes them.
    private func rests(_ filter: DeliveryFilter, after: Int64) throws -> [Rest] {
        // A device that had no turn has no reason.
        guard filter.state ?? unreachedState == unreachedState, filter.reason == nil else { return [] }
        if isPlanned {
            return try connection.all(
                """
                SELECT cursor, last, wave, environment FROM shard
                WHERE campaign_id = ? AND cursor < last AND last > ? ORDER BY number
                """, campaign.row, after
            ) {
                Rest(
                    after: $0.integer(), last: $0.integer(), wave: Int($0.integer()), channel: $0.channel())
            }
        }
        let last = try connection.integer("SELECT max(id) FROM device") ?? 0
        return Channel.allCases.map {
            Rest(after: 0, last: min(leftLast ?? last, last), wave: 0, channel: $0)
        }
    }

    /// Devices of the audience without an outcome. For a campaign whose requirement was withdrawn, a device that has
    /// moved to the other environment since may be missing, like one that was removed.
    private func unreached(
        _ window: ClosedRange<Int64>, limit: Int, in rests: [Rest], _ channel: Channel
    ) throws -> [Delivery] {
        guard let first = rests.map(\.after).min(), let last = rests.map(\.last).max() else { return [] }
        // Each wave has cursors of its own: their ranges overlap, and are read as one.
        let ranges = draw == nil ? rests.map { ($0.after, $0.last) } : [(first, last)]
        let byWave = Dictionary(grouping: rests, by: \.wave)
        var found: [Delivery] = []
        for (start, last) in ranges {
            var position = max(start, window.lowerBound - 1)
            let step = max(limit, 500)
            while found.count < limit {
                let devices = try connection.all(
                    withoutRow(of: channel), position, min(last, window.upperBound), app, campaign.row, step
                ) {
                    unreached($0.integer(), $0.text(), $0.optionalText())
                }
                guard let end = devices.last?.device else { break }
                // For a campaign that is over: a device's environment may have changed since.
                let packed = try DeliveryBatchTable.devices(
                    from: position + 1, through: end, of: campaign.row, connection)
                for device in devices where found.count < limit && !packed.contains(device.device) {
                    if isRest(device.device, device.telephone, in: byWave) { found.append(device) }
                }
                guard devices.count == step else { break }
                position = end
            }
        }
        return found
    }

    /// Whether a device without an outcome is in one of the parts: that of its user's wave, or of the last wave, which
    /// takes all devices that are left.
    private func isRest(_ device: Int64, _ telephone: String?, in byWave: [Int: [Rest]]) -> Bool {
        func isRest(_ wave: Int) -> Bool {
            byWave[wave]?.contains { $0.after < device && device <= $0.last } ?? false
        }
        guard let draw else { return isRest(0) }
        return isRest(draw.wave(of: telephone?.utf8)) || isRest(draw.plan.count - 1)
    }

    /// The devices of a channel that a campaign has no row for, by a range of ids, the app and the campaign.
    private func withoutRow(of channel: Channel) -> SQL {
        let dialect = connection.dialect
        let index = channel.index.map(dialect.indexed(by:)) ?? dialect.notIndexed
        return """
            SELECT v.id, v.token, v.telephone FROM device AS v \(index)
            WHERE v.id > ? AND v.id <= ? AND v.app_id = ? AND v.removed_at IS NULL
                AND \(channel.isChannel(of: ListedDevice.plannedEnvironment))
                AND NOT EXISTS (SELECT 1 FROM delivery AS d WHERE d.campaign_id = ? AND d.device_id = v.id)
            ORDER BY v.id LIMIT ?
            """
    }

    // MARK: One device

    /// The outcome of the push to one device; with a telephone, only if the device was that user's.
    package func delivery(to device: ListedDevice, telephone: String?) throws -> Delivery? {
        if let recorded = try row(of: device.id) ?? packed(device.id) {
            guard let telephone else { return recorded.shown }
            // A row without a telephone was filtered; unless it was filtered for want of a user, its user is the device's.
            let isUsers = recorded.reason == FilterReason.noTelephone.rawValue ? nil : device.telephone
            return TelephoneRule.matches(recorded.telephone ?? isUsers, telephone) ? recorded : nil
        }
        guard !device.isRemoved, telephone == nil || TelephoneRule.matches(device.telephone, telephone) else {
            return nil
        }
        if !isPlanned, let leftLast, device.id > leftLast { return nil }
        if isPlanned {
            // Its user's wave, or the last one.
            let wave = draw?.wave(of: device.telephone?.utf8) ?? 0
            let isListed = try connection.exists(
                """
                SELECT 1 FROM shard WHERE campaign_id = ?1 AND cursor < ?2 AND last >= ?2 AND wave IN (?3, ?5)
                    AND environment = ?4
                """, campaign.row, device.id, wave, device.channel, draw.map { $0.plan.count - 1 } ?? 0)
            guard isListed else { return nil }
        }
        return unreached(device.id, device.token, device.telephone)
    }

    private func row(of device: Int64) throws -> Delivery? {
        try connection.first(
            """
            SELECT \(Self.columns) FROM delivery AS d
            \(connection.dialect.join) device AS v ON v.id = d.device_id AND v.\(CampaignTable.isOfItsApp)
            WHERE d.campaign_id = ?1 AND d.device_id = ?2
            """, campaign.row, device
        ) { delivery(&$0) }
    }

    private func packed(_ device: Int64) throws -> Delivery? {
        guard let batch = try DeliveryBatchTable.batch(around: device, of: campaign.row, connection),
            let entry = try batch.entries().first(where: { $0.device == device })
        else { return nil }
        return try delivery(entry, in: batch)
    }

    // MARK: Rows

    /// The columns of a row of the ledger (d) and of its device (v).
    private static var columns: SQL {
        "v.id, v.token, d.telephone, d.state, d.reason, d.attempts, d.next_attempt_at, d.updated_at"
    }

    private func delivery(_ row: inout Columns<some SQLRow>) -> Delivery {
        var delivery = Delivery(
            campaign: id, app: appKey, device: row.integer(), token: row.text(), telephone: row.optionalText(),
            state: row.state() ?? .cancelled, reason: row.optionalText(), attempts: Int(row.integer()),
            nextAttemptAt: row.optionalTime(), updatedAt: row.time())
        if isLeftOut, delivery.state == .retrying { (delivery.state, delivery.nextAttemptAt) = (.cancelled, nil) }
        return delivery
    }

    private func delivery(_ entry: DeliveryBatch.Entry, in batch: DeliveryBatch) throws -> Delivery? {
        let token = try connection.first(
            "SELECT token FROM device WHERE id = ? AND app_id = ?", entry.device, app
        ) { $0.text() }
        return token.map { token in
            Delivery(
                campaign: id, app: appKey, device: entry.device, token: token, telephone: batch.telephone(of: entry),
                state: entry.outcome.state, reason: entry.outcome.reason?.rawValue, attempts: entry.outcome.attempts,
                nextAttemptAt: nil, updatedAt: batch.updatedAt)
        }
    }

    private func unreached(_ device: Int64, _ token: String, _ telephone: String?) -> Delivery {
        Delivery(
            campaign: id, app: appKey, device: device, token: token, telephone: telephone, state: unreachedState,
            reason: nil, attempts: 0, nextAttemptAt: nil, updatedAt: restSince)
    }
}
