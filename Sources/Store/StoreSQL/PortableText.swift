// SPDX-License-Identifier: Apache-2.0
import RelayStore

/// Texts as a database holds them. SQLite stores any bytes as a text; PostgreSQL takes UTF-8 without U+0000
/// (postgresql.org/docs, "Character Types"), and the API passes on nothing else.
package enum PortableText {
    /// Why other databases would refuse the text; nil: every database takes it.
    package static func fault(_ bytes: [UInt8]) -> String? {
        // The mark of an erased user, which each driver stores in its own way.
        if bytes.first == 0, bytes.elementsEqual(Delivery.erased.utf8) { return nil }
        var isPlain = true
        for byte in bytes {
            guard byte != 0 else { return "has the character U+0000" }
            if byte >= 0x80 { isPlain = false }
        }
        return isPlain || String(validating: bytes, as: UTF8.self) != nil ? nil : "is not UTF-8"
    }

    /// Columns by which a row is found, and which hold no data of a user.
    private static let naming: Set<String> = [
        "id", "app_id", "campaign_id", "device_id", "requirement_id", "notification_id", "event_id", "number", "last",
        "app",
        "platform", "hook", "kind",
    ]

    /// Names a row by its keys: "device (id 7, app_id 1)".
    package static func name(_ table: String, _ columns: [String], _ row: some SQLRow) -> String {
        let keys = columns.enumerated().compactMap { place, column -> String? in
            let place = Int32(truncatingIfNeeded: place)
            guard naming.contains(column), !row.isNull(place) else { return nil }
            let value = (row.optionalText(place) ?? "").unicodeScalars.map {
                $0.properties.generalCategory == .control ? "\u{FFFD}" : $0
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: value.prefix(64))
            return "\(column) \(text)"
        }
        return keys.isEmpty ? table : "\(table) (\(keys.prefix(4).joined(separator: ", ")))"
    }
}

extension StoreExamination {
    /// Checks that each text is valid in every database. Only for SQLite: PostgreSQL holds no other texts.
    mutating func texts() throws {
        guard connection.dialect == .sqlite else { return }
        let columns = try connection.all(
            """
            SELECT m.name, c.name, c.type, c.hidden FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c
            WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid
            """
        ) { (table: $0.text(), name: $0.text(), isText: $0.text() == "TEXT", isThere: $0.integer() == 0) }
        var tables: [(name: String, columns: [(name: String, isText: Bool)])] = []
        for column in columns where column.isThere {
            if tables.last?.name != column.table { tables.append((column.table, [])) }
            tables[tables.count - 1].columns.append((column.name, column.isText))
        }
        var bytes: [UInt8] = []
        for table in tables where table.columns.contains(where: \.isText) {
            let names = table.columns.map(\.name)
            let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
            var found: [String] = []
            try connection.rows(SQL(typed: "SELECT \(list) FROM \"\(table.name)\""), values: [], atMost: .max) { row in
                for (place, column) in table.columns.enumerated() where column.isText {
                    bytes.removeAll(keepingCapacity: true)
                    row.append(Int32(truncatingIfNeeded: place), to: &bytes)
                    guard let fault = PortableText.fault(bytes), found.count < Self.most else { continue }
                    found.append("\(PortableText.name(table.name, names, row)): \(column.name) \(fault)")
                }
            }
            for detail in found { note(detail) }
        }
    }
}
