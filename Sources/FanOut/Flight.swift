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
        /// Tokens that the other world called bad.
        let isSecondTry: Bool
        /// For each request, the row that it is for.
        var rowOfRequest: [Int32] = []

        init(environment: PushEnvironment, batch: RequestBatch, capacity: Int, isSecondTry: Bool = false) {
            self.environment = environment
            self.batch = batch
            self.isSecondTry = isSecondTry
            rowOfRequest.reserveCapacity(capacity)
        }
    }

    /// The campaign that it flies for; nil while it stands in the hangar.
    private(set) var run: CampaignRun?
    private(set) var source = Source.retries
    private(set) var template: APNsProvider.Template?
    /// Flights are numbered as they are filled.
    private(set) var tag = 0
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
    /// Tokens that their environment called bad were not tried in the other one, for the service wants a pause.
    var isDeniedSecondTries = false
    /// What was recorded as refused before it was clear that the credential is at fault, and is to be tried again.
    var recalled: LedgerCommit?

    /// Which lane it goes to: a shard stays with its own.
    var pin: Int {
        switch source {
        case .shard(let shard, _): shard.number
        case .retries: 0
        }
    }

    // MARK: Before sending

    /// Filters the devices that were read and builds the requests for the rest.
    ///
    /// - Parameters:
    ///   - most: requests; the devices from the first that would be one more on are left for a later batch.
    ///   - tag: the flight's own number; the batches carry it, one for each environment.
    func fill(
        for run: CampaignRun, source: Source, atMost most: Int = .max, tag: Int, at now: Timestamp
    ) throws {
        self.run = run
        self.source = source
        self.tag = tag
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
            ledgerRow.wave = row.wave
            if let reason = filter.reason(against: row, in: devices) {
                ledgerRow.reason = reason.rawValue
            } else if isTooLarge(row.telephone.range, payload) {
                ledgerRow.state = .rejected
                ledgerRow.reason = "PayloadTooLarge"
            } else if !APNsProvider.isSendable(token: row.token.range, of: devices.bytes) {
                ledgerRow.state = .rejected
                ledgerRow.reason = "MalformedDeviceToken"
            } else if requestCount >= most {
                devices.cut(to: index)
                if case .shard(let shard, _) = source { self.source = .shard(shard, isLast: false) }
                break
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
        // It lands when all of it is back, so it waits as a whole: for production, where most of it goes there. Else the few
        // pushes to a service that cannot be reached would keep the others' answers, and in the end their campaign.
        for part in parts { part.batch.waitsForConnection = part.environment == .production && isMain(part) }
        partsOut = parts.count
    }

    /// Whether at least half of the pushes go there.
    private func isMain(_ part: Part) -> Bool { part.batch.count * 2 >= requestCount }

    private func append(
        _ row: DeviceRow, index: Int, templates: RouteTemplates, campaign: [UInt8], tag: Int
    ) {
        // One part nearly always: development builds are few.
        let part =
            parts.first { $0.environment == row.environment }
            ?? add(row.environment, templates, tag: tag, capacity: devices.count - index)
        append(row, index: index, campaign: campaign, to: part)
    }

    private func add(
        _ environment: PushEnvironment, _ templates: RouteTemplates, tag: Int, capacity: Int, isSecondTry: Bool = false
    ) -> Part {
        let part = Part(
            environment: environment,
            batch: RequestBatch(
                template: templates[environment].request, tag: tag, capacity: capacity,
                bytesPerRequest: APNsProvider.bytesPerPush),
            capacity: capacity, isSecondTry: isSecondTry)
        parts.append(part)
        return part
    }

    private func append(_ row: DeviceRow, index: Int, campaign: [UInt8], to part: Part) {
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
        parts.filter { !$0.isSecondTry }.map { ($0.environment, $0.batch) }
    }

    /// Where most of it goes: what the first part says is told of it all.
    var mainEnvironment: PushEnvironment { parts.first?.environment ?? .production }

    // MARK: The other world

    /// Whether tokens that one world called bad were sent to the other.
    var hasSecondTries: Bool { parts.contains(where: \.isSecondTry) }

    /// Whether one of its answers wants a pause of the credential.
    var wantsPause: Bool {
        guard let provider = run?.route.provider else { return false }
        return parts.contains { part in part.batch.answers.contains { provider.wantsPause($0, in: part.batch) } }
    }

    /// Builds requests to the other world for all tokens that their own called bad, once in a flight.
    ///
    /// - Returns: the batches to send; none where no token was bad.
    func addSecondTries(
        for run: CampaignRun, at now: Timestamp, where isOpen: (PushEnvironment) -> Bool
    ) throws -> [(PushEnvironment, RequestBatch)] {
        guard !hasSecondTries else { return [] }
        let campaign = Array(run.record.id.utf8)
        var templates: RouteTemplates?
        for part in Array(parts) where isOpen(part.environment.other) {
            let bad = part.rowOfRequest.indices.filter {
                run.route.provider.isBadToken(part.batch.answers[$0], in: part.batch)
            }
            guard !bad.isEmpty else { continue }
            let made = try templates ?? run.templates(at: now)
            templates = made
            let second = add(part.environment.other, made, tag: tag, capacity: bad.count, isSecondTry: true)
            second.batch.waitsForConnection = false
            for request in bad {
                let row = Int(part.rowOfRequest[request])
                append(devices.rows[row], index: row, campaign: campaign, to: second)
            }
        }
        let second = parts.filter(\.isSecondTry).map { ($0.environment, $0.batch) }
        partsOut = second.count
        return second
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

    /// Requests that no connection could be had for.
    var unreached: Int {
        parts.reduce(0) { sum, part in sum + part.batch.answers.count { $0.kind == .unreachable } }
    }

    /// Whether that is so of all of them.
    var metNobody: Bool {
        requestCount > 0 && parts.allSatisfy { $0.batch.answers.allSatisfy { $0.kind == .unreachable } }
    }

    /// Turns the answers into ledger rows.
    func settle(with settlement: inout Settlement) {
        // Second tries come behind what they are the second of.
        for part in parts {
            let leg = Settlement.Leg(batch: part.batch, environment: part.environment)
            for (request, row) in part.rowOfRequest.enumerated() {
                let (row, answer) = (Int(row), part.batch.answers[request])
                if part.isSecondTry {
                    settlement.settleSecondTry(&rows[row], device: devices.rows[row], answer: answer, on: leg)
                } else {
                    settlement.settle(&rows[row], device: devices.rows[row], answer: answer, on: leg)
                }
            }
        }
    }

    /// What its answers say of the services that gave them; `isMain`: at least half of its pushes went there.
    func serviceAnswers(
        _ settlement: Settlement
    ) -> [(environment: PushEnvironment, answers: OutageHold.Answers, isMain: Bool)] {
        parts.filter { !$0.isSecondTry }.map { part in
            let failures = settlement.failures[part.environment] ?? Settlement.Failures()
            let answers = OutageHold.Answers(
                good: part.batch.count - failures.failed - failures.silent, failed: failures.failed,
                repeated: failures.repeated, retryAfter: failures.retryAfter)
            return (part.environment, answers, isMain(part))
        }
    }

    /// Puts refused pushes back in line: the credential was at fault, not they.
    func hold(_ reasons: some Collection<String>, until time: Timestamp) {
        for index in rows.indices where isRefused(rows[index], reasons) {
            rows[index].state = .retrying
            rows[index].nextAttemptAt = time
        }
    }

    /// The rows of refused pushes, with their users' telephones.
    func refusals(_ reasons: some Collection<String>) -> [(LedgerRow, telephone: [UInt8])] {
        rows.filter { isRefused($0, reasons) }.map { ($0, Array(devices.bytes[$0.telephone.range])) }
    }

    private func isRefused(_ row: LedgerRow, _ reasons: some Collection<String>) -> Bool {
        row.state == .rejected && row.attempts > 0 && row.reason.map { reasons.contains($0) } ?? false
    }

    /// What the ledger gets.
    func commit(for campaign: CampaignKey, _ settlement: Settlement) -> LedgerCommit {
        var commit =
            switch source {
            case .retries:
                LedgerCommit(
                    campaign: campaign, shard: nil, cursor: 0, shardDone: false, rows: rows, devices: devices,
                    retirements: settlement.retirements)
            case .shard(let shard, let isLast):
                LedgerCommit(
                    campaign: campaign, shard: shard.number,
                    cursor: isLast ? shard.last : rows.last?.device ?? shard.last, shardDone: isLast, rows: rows,
                    devices: devices, retirements: settlement.retirements)
            }
        commit.corrections = settlement.corrections
        if run?.draw != nil { commit.waves = WaveTally.tallies(of: rows, areRetries: source == .retries) }
        return commit
    }

    /// How often its requests were sent beyond the first time.
    var resends: Int {
        parts.reduce(0) { sum, part in part.batch.answers.reduce(sum) { $0 + max(0, Int($1.sends) - 1) } }
    }

    func count(into tally: inout PushTally) { tally.add(rows) }

    /// Rows that are tried again later, the earliest moment.
    var earliestRetry: Timestamp? {
        rows.lazy.compactMap { $0.state == .retrying ? $0.nextAttemptAt : nil }.min()
    }

    /// Frees what holds the lanes' memory, keeps its own.
    func land() {
        // First, so that the buffers below have one owner again and are emptied in place.
        settled = nil
        isDeniedSecondTries = false
        suspension = nil
        recalled = nil
        devices.removeAll()
        rows.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        template = nil
        run = nil
        requestCount = 0
    }
}
