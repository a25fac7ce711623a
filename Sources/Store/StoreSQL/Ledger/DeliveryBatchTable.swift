// SPDX-License-Identifier: Apache-2.0
package import Registry
package import RelayEngine
package import RelayStore
package import Requirements
import UpgradeRules

/// The table `delivery_batch`. The batches of a campaign do not overlap, so that a device can only be in the first
/// batch that does not end before it.
package enum DeliveryBatchTable {
    // MARK: Reading

    /// The batch whose range a device is in.
    package static let find: SQL = "SELECT \(DeliveryBatch.columns) \(around)"

    private static let around: SQL = """
        FROM delivery_batch WHERE campaign_id = ?1 AND first <= ?2 AND last =
            (SELECT last FROM delivery_batch WHERE campaign_id = ?1 AND last >= ?2 ORDER BY last LIMIT 1)
        """

    package static func batch(
        around device: Int64, of campaign: Int64, _ connection: some SQLConnection
    ) throws -> DeliveryBatch? {
        try connection.first(DeliveryBatch.self, around, campaign, device)
    }

    /// Reads no telephones, which lie on pages of their own.
    package static func outcome(
        of device: Int64, in campaign: Int64, _ connection: some SQLConnection
    ) throws -> PlainOutcome? {
        let batch = try connection.first(
            "SELECT first, last, outcomes \(around)", campaign, device
        ) { (first: $0.integer(), last: $0.integer(), outcomes: $0.blob()) }
        guard let batch else { return nil }
        return try DeliveryBatch.outcome(of: device, in: batch.outcomes, first: batch.first, last: batch.last)
    }

    /// The devices from `first` to `last` that a batch has, read without the telephones.
    package static func devices(
        from first: Int64, through last: Int64, of campaign: Int64, _ connection: some SQLConnection
    ) throws -> Set<Int64> {
        var devices: Set<Int64> = []
        var from = first
        while from <= last {
            let batch = try connection.first(
                """
                SELECT first, last, outcomes FROM delivery_batch WHERE campaign_id = ? AND last >= ? ORDER BY last LIMIT 1
                """, campaign, from
            ) { (first: $0.integer(), last: $0.integer(), outcomes: $0.blob()) }
            guard let batch, batch.first <= last else { break }
            devices.formUnion(
                try DeliveryBatch.devices(in: batch.outcomes, first: batch.first, last: batch.last))
            guard batch.last < last else { break }
            from = batch.last + 1
        }
        return devices
    }

    /// The devices among `devices`, which ascend, that are in a batch.
    package static func devices(
        among devices: [Int64], of campaign: Int64, _ connection: some SQLConnection
    ) throws -> Set<Int64> {
        var found: Set<Int64> = []
        var rest = devices[...]
        while let device = rest.first {
            let batch = try connection.first(
                """
                SELECT first, last, outcomes FROM delivery_batch WHERE campaign_id = ? AND last >= ? ORDER BY last LIMIT 1
                """, campaign, device
            ) { (first: $0.integer(), last: $0.integer(), outcomes: $0.blob()) }
            guard let batch else { break }
            let within = rest.filter { batch.first...batch.last ~= $0 }
            if !within.isEmpty {
                let packed = try DeliveryBatch.devices(in: batch.outcomes, first: batch.first, last: batch.last)
                found.formUnion(Set(packed).intersection(within))
            }
            rest = rest.drop { $0 <= batch.last }
        }
        return found
    }

    // MARK: Writing

    /// Writes the packer's outcomes, and empties it.
    package static func insert(
        _ packer: inout DeliveryPacker, of campaign: CampaignKey, at now: Timestamp, _ connection: some SQLConnection
    ) throws {
        guard packer.count > 0 else { return }
        try connection.run(
            """
            INSERT INTO delivery_batch (campaign_id, last, first, updated_at, accepted, filtered, outcomes, telephones)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, campaign.row, packer.last, packer.first, now,
            packer.accepted, packer.filtered, packer.outcomes, packer.telephones)
        packer.removeAll()
    }

    /// Turns every batch with a device from `first` to `last` into rows of `delivery`, as they would have been written one
    /// by one. For the rare case that such a device is recorded again.
    package static func unpack(
        from first: Int64, through last: Int64, of campaign: CampaignKey, _ connection: some SQLConnection
    ) throws {
        var from = first
        while from <= last {
            let batch = try connection.first(
                DeliveryBatch.self,
                """
                FROM delivery_batch WHERE campaign_id = ? AND last >= ?
                ORDER BY last LIMIT 1 \(connection.dialect.forUpdate)
                """, campaign.row, from)
            guard let batch, batch.first <= last else { return }
            try unpack(batch, of: campaign, connection)
            from = batch.last + 1
        }
    }

    private static func unpack(
        _ batch: DeliveryBatch, of campaign: CampaignKey, _ connection: some SQLConnection
    ) throws {
        for entry in try takeEntries(of: batch, campaign, connection) {
            try connection.run(
                """
                INSERT INTO delivery (campaign_id, device_id, state, attempts, reason, telephone, updated_at, upgraded)
                VALUES (?1, ?2, ?, ?, ?, ?, ?,
                    CASE WHEN EXISTS (SELECT 1 FROM delivery_upgrade WHERE campaign_id = ?1 AND device_id = ?2)
                        THEN 1 ELSE 0 END)
                """, campaign.row, entry.device, entry.outcome.state, entry.outcome.attempts,
                entry.outcome.reason?.rawValue, batch.telephone(of: entry), batch.updatedAt)
        }
        try connection.run("DELETE FROM delivery_batch WHERE campaign_id = ? AND last = ?", campaign.row, batch.last)
        try connection.run(
            "DELETE FROM delivery_upgrade WHERE campaign_id = ? AND device_id BETWEEN ? AND ?", campaign.row,
            batch.first, batch.last)
    }

    /// The entries of a batch that will be written anew, for the devices that still exist. Another program may have deleted
    /// some, and no row can name a device that is gone ("REFERENCES device"): those leave the campaign's counts.
    private static func takeEntries(
        of batch: DeliveryBatch, _ campaign: CampaignKey, _ connection: some SQLConnection
    ) throws -> [DeliveryBatch.Entry] {
        let entries = try batch.entries()
        let present = Set(
            try connection.all(
                "SELECT id FROM device WHERE id BETWEEN ? AND ?", batch.first, batch.last
            ) { $0.integer() })
        let gone = entries.filter { !present.contains($0.device) }
        guard !gone.isEmpty else { return entries }
        let accepted = Int64(gone.count { $0.outcome == .accepted })
        var counts = CampaignCounts()
        (counts.accepted, counts.filtered) = (-accepted, accepted - Int64(gone.count))
        try RunTable.add(counts, to: campaign, connection)
        for reason in gone.compactMap(\.outcome.reason) {
            try connection.run(
                "UPDATE campaign_reason SET devices = devices - 1 WHERE campaign_id = ? AND kind = 'filtered' AND reason = ?",
                campaign.row, reason.rawValue)
        }
        return entries.filter { present.contains($0.device) }
    }

    /// Replaces this telephone by `Delivery.erased` in the deliveries to these devices.
    ///
    /// - Parameter devices: ascending.
    /// - Returns: the number of deliveries that named it.
    package static func erase(
        _ telephone: String, of devices: [Int64], in campaign: CampaignKey, _ connection: some SQLConnection
    ) throws -> Int64 {
        var erased: Int64 = 0
        var rest = devices[...]
        while let device = rest.first {
            let found = try connection.first(
                DeliveryBatch.self, "\(around) \(connection.dialect.forUpdate)", campaign.row, device)
            guard let batch = found else {
                rest.removeFirst()
                continue
            }
            let within = Set(rest.prefix { $0 <= batch.last })
            rest = rest.drop { $0 <= batch.last }
            let named = try batch.entries().filter { entry in
                within.contains(entry.device) && TelephoneRule.matches(batch.telephone(of: entry), telephone)
            }
            if named.isEmpty { continue }
            erased += Int64(named.count)
            try erase(Set(named.map(\.device)), in: batch, of: campaign, connection)
        }
        return erased
    }

    private static func erase(
        _ named: Set<Int64>, in batch: DeliveryBatch, of campaign: CampaignKey, _ connection: some SQLConnection
    ) throws {
        let telephones = batch.telephones + Delivery.erased.utf8
        let erased = batch.telephones.count..<telephones.count
        var packer = DeliveryPacker()
        for entry in try takeEntries(of: batch, campaign, connection) {
            let range = named.contains(entry.device) ? erased : entry.telephone
            unsafe telephones.withUnsafeBytes { telephones in
                unsafe packer.append(
                    entry.device, entry.outcome,
                    telephone: range.map { unsafe UnsafeRawBufferPointer(rebasing: telephones[$0]) })
            }
        }
        // A batch is never changed in place: the schema refuses it.
        try connection.run("DELETE FROM delivery_batch WHERE campaign_id = ? AND last = ?", campaign.row, batch.last)
        try insert(&packer, of: campaign, at: batch.updatedAt, connection)
    }

    /// Takes devices out of a batch and puts them in line for a reminder; the others stay together, as they were.
    ///
    /// - Returns: the number of devices taken; 0 where the batch is gone.
    package static func remind(
        _ devices: [Int64: Channel], ofBatchUpTo last: Int64, of campaign: CampaignKey, at now: Timestamp,
        _ connection: some SQLConnection
    ) throws -> Int64 {
        let found = try connection.first(
            DeliveryBatch.self,
            "FROM delivery_batch WHERE campaign_id = ? AND last = ? \(connection.dialect.forUpdate)",
            campaign.row, last)
        guard let batch = found else { return 0 }
        try connection.run("DELETE FROM delivery_batch WHERE campaign_id = ? AND last = ?", campaign.row, last)
        var packer = DeliveryPacker()
        var taken: Int64 = 0
        for entry in try takeEntries(of: batch, campaign, connection) {
            guard entry.outcome == .accepted, let channel = devices[entry.device] else {
                unsafe batch.telephones.withUnsafeBytes { telephones in
                    unsafe packer.append(
                        entry.device, entry.outcome,
                        telephone: entry.telephone.map { unsafe UnsafeRawBufferPointer(rebasing: telephones[$0]) })
                }
                continue
            }
            taken += 1
            try connection.run(
                """
                INSERT INTO delivery (campaign_id, device_id, state, attempts, telephone, next_attempt_at, environment,
                    updated_at, again, upgraded)
                VALUES (?1, ?2, 3, ?3, ?4, ?5, ?6, ?5, ?7,
                    CASE WHEN EXISTS (SELECT 1 FROM delivery_upgrade WHERE campaign_id = ?1 AND device_id = ?2)
                        THEN 1 ELSE 0 END)
                """, campaign.row, entry.device, entry.outcome.attempts, batch.telephone(of: entry), now, channel,
                RequeueReasons([.untried, .reminder]))
            try connection.run(
                "DELETE FROM delivery_upgrade WHERE campaign_id = ? AND device_id = ?", campaign.row, entry.device)
        }
        try insert(&packer, of: campaign, at: batch.updatedAt, connection)
        return taken
    }
}

extension DeliveryBatch: Selection {
    package static let columns: SQL = "first, last, updated_at, outcomes, telephones"

    package static func read(_ row: inout Columns<some SQLRow>) -> DeliveryBatch {
        DeliveryBatch(
            first: row.integer(), last: row.integer(), updatedAt: row.time(), outcomes: row.blob(),
            telephones: row.blob())
    }
}
