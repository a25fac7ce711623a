// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import UpgradeRules

/// A batch of devices on its way: read, filtered, sent, answered, and turned into what the ledger gets.
///
/// Belongs to the fan-out's thread; only its request batches travel to the lanes and back. Reused for its memory.
final class Flight {
    /// Where the devices came from.
    enum Source: Equatable {
        case shard(CampaignMachine.ShardRange, isLast: Bool)
        case retries
    }

    /// Requests for one of the service's two worlds.
    private final class Part {
        let environment: PushEnvironment
        let batch: RequestBatch
        /// For each request, the row that it is for.
        var rowOfRequest: [Int32] = []

        init(environment: PushEnvironment, batch: RequestBatch, capacity: Int) {
            self.environment = environment
            self.batch = batch
            rowOfRequest.reserveCapacity(capacity)
        }
    }

    /// The campaign that it flies for; nil while it stands in the hangar.
    private(set) var run: CampaignRun?
    private(set) var source = Source.retries
    private(set) var template: APNsProvider.Template?
    var devices = DeviceRows()
    /// One row for each device, once `settle` has run; until then only filtered ones are final.
    private var rows: [LedgerRow] = []
    private var parts: [Part] = []
    private var partsOut = 0

    /// Requests on their way.
    private(set) var requestCount = 0
    /// What the ledger gets, once it is known: a commit that fails is tried again as it was.
    var settled: LedgerCommit?
    /// Why its answers stop the campaign; nil also as soon as the store knows.
    var suspension: String?

    // MARK: Before sending

    /// Filters the devices that were read and builds the requests for the rest.
    ///
    /// - Parameter tag: the flight's own number; the batches carry it, one for each environment.
    func fill(for run: CampaignRun, source: Source, tag: Int, at now: Timestamp) throws {
        self.run = run
        self.source = source
        let payload = run.payload
        let filter = run.filter
        rows.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        requestCount = 0
        var made: RouteTemplates?
        let campaignID = Array(run.record.id.utf8)
        for index in devices.rows.indices {
            let row = devices.rows[index]
            var ledgerRow = LedgerRow(
                device: row.id, state: .filtered, attempts: row.attempts, telephone: row.telephone)
            if let reason = filter.reason(against: row, in: devices) {
                ledgerRow.reason = reason.rawValue
            } else if isTooLarge(row.telephone.range, payload) {
                ledgerRow.state = .rejected
                ledgerRow.reason = "PayloadTooLarge"
            } else if !APNsProvider.isSendable(token: row.token.range, of: devices.bytes) {
                ledgerRow.state = .rejected
                ledgerRow.reason = "MalformedDeviceToken"
            } else {
                let templates = try made ?? run.templates(at: now)
                made = templates
                template = templates.production
                append(row, index: index, templates: templates, campaign: campaignID, tag: tag)
                ledgerRow.state = .inFlight
                requestCount += 1
            }
            rows.append(ledgerRow)
        }
        partsOut = parts.count
    }

    private func append(
        _ row: DeviceRow, index: Int, templates: RouteTemplates, campaign: [UInt8], tag: Int
    ) {
        let part: Part
        // One part nearly always: development builds are few.
        if let known = parts.first(where: { $0.environment == row.environment }) {
            part = known
        } else {
            let capacity = devices.count - index
            part = Part(
                environment: row.environment,
                batch: RequestBatch(
                    template: templates[row.environment].request, tag: tag, capacity: capacity,
                    bytesPerRequest: APNsProvider.bytesPerPush),
                capacity: capacity)
            parts.append(part)
        }
        APNsProvider.append(
            token: row.token.range, telephone: row.telephone.range, of: devices.bytes, campaign: campaign,
            device: row.id, to: part.batch)
        part.rowOfRequest.append(Int32(index))
    }

    /// APNs takes 4096 bytes; a character of a telephone takes at most six in JSON (RFC 8259, 7).
    private func isTooLarge(_ telephone: Range<Int>, _ payload: UpgradePayload) -> Bool {
        guard telephone.count * 6 > payload.roomForTelephone else { return false }
        return UpgradePayload.escapedSize(devices.bytes[telephone]) > payload.roomForTelephone
    }

    /// The batches to send, each to its world's pool.
    var batches: [(PushEnvironment, RequestBatch)] {
        parts.map { ($0.environment, $0.batch) }
    }

    // MARK: After sending

    /// One of the batches is back; returns whether it was the last.
    func batchReturned() -> Bool {
        partsOut -= 1
        return partsOut <= 0
    }

    /// Whether nothing was sent at all, so that the batch can simply be read again later. What was refused until the pool
    /// gave up has a schedule to keep.
    var isUntouched: Bool {
        requestCount > 0
            && parts.allSatisfy { part in
                part.batch.answers.allSatisfy { $0.kind == .unsent && $0.sends < PoolMachine.sendLimit }
            }
    }

    /// Turns the answers into ledger rows.
    func settle(with settlement: inout Settlement) {
        for part in parts {
            for (request, row) in part.rowOfRequest.enumerated() {
                settlement.settle(
                    &rows[Int(row)], device: devices.rows[Int(row)], answer: part.batch.answers[request],
                    in: part.batch)
            }
        }
    }

    /// Puts refused tokens back in line: the credential was at fault, not they.
    func holdBadTokens(_ reasons: Set<String>, until time: Timestamp) {
        for index in rows.indices where rows[index].state == .rejected {
            guard let reason = rows[index].reason, reasons.contains(reason) else { continue }
            rows[index].state = .retrying
            rows[index].nextAttemptAt = time
        }
    }

    /// What the ledger gets.
    func commit(for campaign: CampaignKey, retirements: [TokenRetirement]) -> LedgerCommit {
        switch source {
        case .retries:
            return LedgerCommit(
                campaign: campaign, shard: nil, cursor: 0, shardDone: false, rows: rows, devices: devices,
                retirements: retirements)
        case .shard(let shard, let isLast):
            return LedgerCommit(
                campaign: campaign, shard: shard.number, cursor: isLast ? shard.last : rows.last?.device ?? shard.last,
                shardDone: isLast, rows: rows, devices: devices, retirements: retirements)
        }
    }

    /// Rows that are tried again later, the earliest moment.
    var earliestRetry: Timestamp? {
        rows.lazy.compactMap { $0.state == .retrying ? $0.nextAttemptAt : nil }.min()
    }

    /// Frees what holds the lanes' memory, keeps its own.
    func land() {
        // First, so that the buffers below have one owner again and are emptied in place.
        settled = nil
        suspension = nil
        devices.removeAll()
        rows.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        template = nil
        run = nil
        requestCount = 0
    }
}
