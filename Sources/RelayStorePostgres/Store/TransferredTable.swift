// SPDX-License-Identifier: Apache-2.0
import Signing
import StoreSQL

/// A table as another driver's store has it, and what of it becomes a table here: mostly the same columns.
struct TransferredTable: Sendable {
    let name: SQL
    /// What the rows are read from.
    var source: SQL
    /// What a column is there, where it has another name, or none.
    var expressions: [String: SQL] = [:]

    private init(_ name: SQL, from source: SQL? = nil, _ expressions: [String: SQL] = [:]) {
        self.name = name
        self.source = source ?? name
        self.expressions = expressions
    }

    /// In an order in which what a row refers to is there before it. What a new store begins with, and what is forgotten within the hour,
    /// is in none of them.
    static let all: [TransferredTable] = [
        TransferredTable("app"),
        TransferredTable("app_tally", from: "app", ["app_id": "id"]),
        TransferredTable("version_tally", from: "version_seen"),
        TransferredTable("device", ["digest": "token"]),
        TransferredTable(
            "former_telephone", from: "former_telephone AS f JOIN device AS d ON d.id = f.device_id",
            ["telephone": "f.telephone", "device_id": "f.device_id"]),
        TransferredTable("token_doubt"),
        TransferredTable("requirement"), TransferredTable("requirement_canary"), TransferredTable("requirement_text"),
        TransferredTable("requirement_event"), TransferredTable("version"),
        TransferredTable("alert"), TransferredTable("webhook"), TransferredTable("access_token"),
        TransferredTable("provider_token"),
        TransferredTable("campaign"), TransferredTable("campaign_run"), TransferredTable("campaign_reason"),
        TransferredTable("campaign_tally", from: "campaign", ["campaign_id": "id"]),
        TransferredTable("campaign_told"), TransferredTable("campaign_adoption"), TransferredTable("campaign_wave"),
        TransferredTable("campaign_round"), TransferredTable("shard"), TransferredTable("delivery"),
        TransferredTable("delivery_batch"), TransferredTable("delivery_upgrade"),
        TransferredTable("receiver"), TransferredTable("campaign_event"), TransferredTable("notification"),
        TransferredTable("notification_attempt"),
    ]

    struct Column {
        /// As the schema has it.
        let name: SQL
        let form: Form

        enum Form {
            case int2, int4, int8, text, bytes
            /// A text there, packed here.
            case token
            /// Of the app in the column before it and of the token.
            case digest
        }
    }

    var count: SQL { "SELECT count(*) FROM \(source)" }

    /// The columns of the table here, but for those by which sessions keep out of each other's way.
    func columns(_ session: PostgresSession) throws -> [Column] {
        try session.all(
            """
            SELECT a.attname, CAST(CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END AS bigint)
            FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
            WHERE a.attrelid = to_regclass(?) AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'slot'
            ORDER BY a.attnum
            """, name.text
        ) { row in
            let (column, type) = (row.text(0), PostgresType(rawValue: UInt32(row.integer(1))))
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
        "COPY \(name) (\(columns.map(\.name.text).joined(separator: ", "))) FROM STDIN (FORMAT binary)"
    }

    func select(_ columns: [Column]) -> SQL {
        var list = SQL("")
        for column in columns {
            list = list + (list.text.isEmpty ? "" : ", ") + (expressions[column.name.text] ?? column.name)
        }
        return "SELECT \(list) FROM \(source)"
    }
}

extension TransferredTable.Column {
    /// - Parameter place: of the column in the row.
    @inline(__always)
    func write(_ row: some SQLRow, _ place: Int32, into fields: inout BinaryFields) {
        guard !row.isNull(place) else { return fields.null() }
        switch form {
        case .int2: fields.add(Int16(truncatingIfNeeded: row.integer(place)))
        case .int4: fields.add(Int32(truncatingIfNeeded: row.integer(place)))
        case .int8: fields.add(row.integer(place))
        case .bytes: fields.add(row.blob(place))
        case .text: fields.add(ErasedTelephone.stored(row.text(place)))
        case .token: fields.add(PackedToken.packed(row.text(place).utf8))
        case .digest:
            // As the schema's token_digest.
            let app = row.integer(place - 1)
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: app >> (56 - 8 * $0)) }
            fields.add(SHA256.digest(bytes + PackedToken.packed(row.text(place).utf8)).prefix(16))
        }
    }
}
