// SPDX-License-Identifier: Apache-2.0
import RelayStore
import StoreSQL

/// A table of another driver's store, and how it becomes a table here: mostly with the same columns.
struct TransferredTable: Sendable {
    let name: SQL
    /// The source of the rows, for FROM.
    var source: SQL
    /// The source's expression for a column that has another name there, or does not exist.
    var expressions: [String: SQL] = [:]

    private init(_ name: SQL, from source: SQL? = nil, _ expressions: [String: SQL] = [:]) {
        self.name = name
        self.source = source ?? name
        self.expressions = expressions
    }

    /// In an order in which each row comes after the rows that it refers to. Tables whose rows a new store has from the
    /// start, and tables whose rows are forgotten within the hour, are left out.
    static let all: [TransferredTable] = [
        TransferredTable("app"),
        TransferredTable("app_tally", from: "app", ["app_id": "id"]),
        TransferredTable("version_tally", from: "version_seen"),
        TransferredTable("device", ["digest": "token"]),
        TransferredTable(
            "former_telephone", from: "former_telephone AS f JOIN device AS d ON d.id = f.device_id",
            ["telephone": "f.telephone", "device_id": "f.device_id"]),
        TransferredTable("token_doubt"),
        TransferredTable("requirement"), TransferredTable("requirement_canary"),
        TransferredTable("requirement_event"), TransferredTable("version"),
        TransferredTable("alert"), TransferredTable("webhook"), TransferredTable("access_token"),
        TransferredTable("provider_token"), TransferredTable("source_evidence"),
        TransferredTable("version_census"), TransferredTable("version_share"), TransferredTable("version_count"),
        TransferredTable("campaign"), TransferredTable("campaign_run"), TransferredTable("campaign_reason"),
        TransferredTable("campaign_tally", from: "campaign", ["campaign_id": "id"]),
        TransferredTable("campaign_told"), TransferredTable("campaign_adoption"), TransferredTable("campaign_latency"),
        TransferredTable("campaign_wave"),
        TransferredTable("campaign_round"), TransferredTable("shard"), TransferredTable("delivery"),
        TransferredTable("delivery_batch"), TransferredTable("delivery_upgrade"),
        TransferredTable("receiver"), TransferredTable("campaign_event"), TransferredTable("notification"),
        TransferredTable("notification_attempt"), TransferredTable("audit"), TransferredTable("approval"),
        TransferredTable("session"),
    ]

    struct Column {
        /// As the schema spells it.
        let name: SQL
        let form: Form

        enum Form {
            case int2, int4, int8, text, bytes
            /// Computed from the app, which is the column before it, and the token, which is a text in the source.
            case digest
            /// The same token, packed: comes after the digest.
            case token
        }
    }

    var count: SQL { "SELECT count(*) FROM \(source)" }

    /// The columns of the table here, except `slot`, which spreads a counter over several rows.
    func columns(_ session: PostgresSession) throws -> [Column] {
        try session.all(
            """
            SELECT a.attname, CAST(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END AS bigint)
            FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
            WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'slot'
            ORDER BY a.attnum
            """, name.text
        ) { row in
            let (column, type) = (row.text(), PostgresType(rawValue: UInt32(row.integer())))
            let form: Column.Form =
                switch (name.text, column, type) {
                case ("device", "token", _): .token
                case ("device", "digest", _): .digest
                case (_, _, .int2): .int2
                case (_, _, .int4): .int4
                case (_, _, .int8): .int8
                case (_, _, .bytea): .bytes
                default: .text
                }
            return Column(name: SQL(typed: column), form: form)
        }
    }

    func command(_ columns: [Column]) -> String {
        "COPY \(name) (\(columns.map(\.name.text).joined(separator: ", "))) FROM STDIN (FORMAT binary, FREEZE)"
    }

    func select(_ columns: [Column]) -> SQL {
        var list = SQL("")
        for column in columns {
            list = list + (list.text.isEmpty ? "" : ", ") + (expressions[column.name.text] ?? column.name)
        }
        return "SELECT \(list) FROM \(source)"
    }
}

/// Writes rows of a table in the form that COPY takes.
struct TransferredRows {
    private let table: String
    private let columns: [TransferredTable.Column]
    private var digests = TokenDigests()
    private var token: [UInt8] = []
    private var text: [UInt8] = []

    init(of table: String, _ columns: [TransferredTable.Column]) {
        self.table = table
        self.columns = columns
    }

    /// - Throws: `StoreError`, with table, row and column, for a text that PostgreSQL cannot hold.
    mutating func write(_ row: some SQLRow, to fields: inout BinaryFields) throws(StoreError) {
        for (index, column) in columns.enumerated() {
            let place = Int32(truncatingIfNeeded: index)
            guard !row.isNull(place) else {
                fields.null()
                continue
            }
            switch column.form {
            case .int2: fields.add(Int16(truncatingIfNeeded: row.integer(place)))
            case .int4: fields.add(Int32(truncatingIfNeeded: row.integer(place)))
            case .int8: fields.add(row.integer(place))
            case .bytes: fields.add { row.append(place, to: &$0) }
            case .text:
                text.removeAll(keepingCapacity: true)
                row.append(place, to: &text)
                if let fault = PortableText.fault(text) {
                    let name = PortableText.name(table, columns.map(\.name.text), row)
                    throw StoreError(
                        .refused, context: "\(name): \(column.name) \(fault), and PostgreSQL has no such text",
                        hint:
                            "\"upgrade-relay store check\" on the file lists all of them; write another text there, or "
                            + "remove the device, and begin again. Nothing was changed")
                }
                fields.add { bytes in
                    let start = bytes.count
                    bytes.append(contentsOf: text)
                    ErasedTelephone.store(from: start, in: &bytes)
                }
            case .digest:
                // The column before this one is the app, and the source has the token in place of the digest.
                token.removeAll(keepingCapacity: true)
                row.append(place, to: &token)
                digests.replace(row.integer(place - 1), unpacked: token)
                fields.add(digests[0])
            case .token: fields.add(digests.token)
            }
        }
    }
}
