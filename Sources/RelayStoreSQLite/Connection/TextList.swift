// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A list of texts as a JSON array, which is how a column of the schema holds one.
enum TextList {
    static func json(_ texts: [String]) -> String {
        var writer = JSONWriter()
        writer.array(texts) { $0.string($1) }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads the array with SQLite's own parser. A number that another program wrote counts as its digits.
    static func texts(_ json: String?, _ connection: SQLiteConnection) throws -> [String]? {
        guard let json else { return nil }
        return try connection.all("SELECT value FROM json_each(?)", .text(json)) { $0.text(0) }
    }
}
