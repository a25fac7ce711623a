// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import StoreSQL
import UpgradeRules

/// Devices that have reached a campaign's requirement since the campaign listed them, all those of one transaction at once.
struct UpgradeMarks: UpgradeTallying {
    private struct Rise {
        var device: Int64
        var old: Version?
        var new: Version
    }

    private var rises: [Int64: [Rise]] = [:]
    /// Always 0: the marks are written together, so that a login costs the same with and without them.
    let work = 0

    /// Notes a version that a device was seen with; each device counts once in each campaign.
    mutating func saw(
        _ version: Version, after old: Version?, device: Int64, app: Int64, _ session: PostgresSession
    ) {
        guard UpgradeTarget.mayBeReached(by: version, from: old) else { return }
        rises[app, default: []].append(Rise(device: device, old: old, new: version))
    }

    mutating func store(_ session: PostgresSession) throws {
        var tally = AdoptionTally()
        for (app, rises) in rises.sorted(by: { $0.key < $1.key }) {
            for campaign in try MarkedCampaign.all(of: app, session) {
                let devices = rises.lazy.filter { campaign.target.isReached(by: $0.new, from: $0.old) }.map(\.device)
                try CampaignMarks(of: campaign, session).mark(Set(devices), &tally)
            }
        }
        try tally.store(session)
    }
}

/// The marks in one campaign's ledger.
struct CampaignMarks {
    private let campaign: MarkedCampaign
    private let session: PostgresSession

    init(of campaign: MarkedCampaign, _ session: PostgresSession) {
        self.campaign = campaign
        self.session = session
    }

    static let notices = PostgresStatement(
        sql: """
            SELECT device_id, \(AdoptionRule.Notice.columns) FROM campaign_told WHERE campaign_id = $1 AND device_id = ANY ($2)
            """)
    /// The batch is locked: a transaction that takes it apart waits, and finds the marks.
    static let packed = PostgresStatement(
        """
        SELECT d.id, b.first, b.last, b.outcomes FROM unnest($2) AS d (id) CROSS JOIN LATERAL (
            SELECT first, last, outcomes FROM delivery_batch WHERE campaign_id = $1 AND last >= d.id
            ORDER BY last LIMIT 1 FOR KEY SHARE) AS b
        WHERE b.first <= d.id
        """)
    static let rows = PostgresStatement(
        sql: """
            SELECT device_id, \(AdoptionRule.Entry.columns)
            FROM delivery WHERE campaign_id = $1 AND device_id = ANY ($2) ORDER BY device_id FOR UPDATE
            """)
    static let markPacked = PostgresStatement(
        """
        INSERT INTO delivery_upgrade (campaign_id, device_id) SELECT $1, d.id FROM unnest($2) AS d (id)
        ON CONFLICT DO NOTHING RETURNING device_id
        """)
    static let markRows = PostgresStatement(
        "UPDATE delivery SET upgraded = 1 WHERE campaign_id = $1 AND device_id = ANY ($2) RETURNING device_id")
    static let markEarly = PostgresStatement(
        sql: """
            UPDATE campaign_told AS t SET upgraded = 1
            WHERE t.campaign_id = $1 AND t.device_id = ANY ($2) AND t.upgraded = 0
                AND \(LoginNoticeTable.isAhead("t.device_id", of: "$1"))
            RETURNING t.device_id
            """)

    private static func statement(_ mark: AdoptionRule.Mark) -> PostgresStatement {
        switch mark {
        case .row: markRows
        case .besideBatch: markPacked
        case .notice: markEarly
        }
    }

    /// Marks those of the devices that count, and adds each new mark to the tally.
    func mark(_ devices: Set<Int64>, _ tally: inout AdoptionTally) throws {
        var notices: [Int64: AdoptionRule.Notice] = [:]
        if campaign.hasNotices {
            try run(Self.notices, devices) { notices[$0.integer()] = AdoptionRule.Notice.read(&$0) }
        }
        let open = devices.filter { !AdoptionRule.isSettled(by: notices[$0]) }
        let entries = try entries(of: open)
        var verdicts: [Int64: AdoptionRule.Verdict] = [:]
        for device in open { verdicts[device] = AdoptionRule.judge(entries[device], notices[device]) }
        for mark in AdoptionRule.Mark.allCases {
            try run(Self.statement(mark), verdicts.lazy.filter { $0.value.mark == mark }.map(\.key)) { row in
                if let verdict = verdicts[row.integer()] { tally.add(verdict, to: campaign.campaign) }
            }
        }
    }

    /// The ledger's entries for devices. No device has both a place in a batch and a row.
    private func entries(of devices: Set<Int64>) throws -> [Int64: AdoptionRule.Entry] {
        var entries: [Int64: AdoptionRule.Entry] = [:]
        try run(Self.packed, devices) { row in
            let (device, first, last) = (row.integer(), row.integer(), row.integer())
            let outcome = try DeliveryBatch.outcome(of: device, in: row.blob(), first: first, last: last)
            if let outcome { entries[device] = AdoptionRule.Entry(outcome) }
        }
        try run(Self.rows, devices.subtracting(entries.keys)) { row in
            entries[row.integer()] = AdoptionRule.Entry.read(&row)
        }
        return entries
    }

    private func run(
        _ statement: PostgresStatement, _ devices: some Sequence<Int64>,
        _ body: (inout Columns<PostgresRow>) throws -> Void
    ) throws {
        let devices = devices.sorted()
        guard !devices.isEmpty else { return }
        let found = try session.run(statement) { values in
            values.add(campaign.campaign)
            values.add(devices)
        }
        try found.each(body)
    }
}
