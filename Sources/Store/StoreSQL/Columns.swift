// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules

/// The columns of a statement's current row, each read once and in the order in which the statement lists them.
///
/// A debug build ends a program that reads beyond the last column. Inlinable, since batches are read with it.
package struct Columns<Row: SQLRow> {
    @usableFromInline let row: Row
    /// The number of the column that is read next.
    @usableFromInline var place: Int32 = 0

    @inlinable init(_ row: Row) { self.row = row }

    /// Whether every column was read, or none, as for a row that only has to exist.
    @inlinable package var areRead: Bool { place == 0 || place == row.columnCount }

    @inlinable
    mutating func next() -> Int32 {
        assert(place < row.columnCount, "a row of \(row.columnCount) columns has no more of them")
        defer { place &+= 1 }
        return place
    }

    /// Passes over columns that are not needed.
    @inlinable
    package mutating func skip(_ count: Int = 1) { for _ in 0..<count { _ = next() } }

    /// Passes over the rest of a row that has no record.
    @inlinable
    package mutating func leave() { place = row.columnCount }

    // MARK: Values

    @inlinable
    package mutating func isNull() -> Bool { row.isNull(next()) }

    /// 0 for NULL.
    @inlinable
    package mutating func integer() -> Int64 { row.integer(next()) }

    @inlinable
    package mutating func optionalInteger() -> Int64? {
        let column = next()
        return row.isNull(column) ? nil : row.integer(column)
    }

    /// A boolean; false for NULL.
    @inlinable
    package mutating func bool() -> Bool { integer() != 0 }

    /// Empty for NULL.
    @inlinable
    package mutating func text() -> String { optionalText() ?? "" }

    @inlinable
    package mutating func optionalText() -> String? { row.optionalText(next()) }

    /// Empty for NULL.
    @inlinable
    package mutating func blob() -> [UInt8] { row.blob(next()) }

    @inlinable
    package mutating func optionalBlob() -> [UInt8]? {
        let column = next()
        return row.isNull(column) ? nil : row.blob(column)
    }

    /// Appends the bytes of a text or a blob, as the database has them; NULL has none.
    @inlinable
    package mutating func append(to bytes: inout [UInt8]) { row.append(next(), to: &bytes) }

    @inlinable
    package mutating func time() -> Timestamp { Timestamp(milliseconds: integer()) }

    @inlinable
    package mutating func optionalTime() -> Timestamp? { optionalInteger().map { Timestamp(milliseconds: $0) } }

    /// A stored version. The schema refuses text that is no version, so that a text that fails here was not written under it.
    package mutating func version() -> Version? { optionalText().flatMap { try? Version($0) } }

    /// nil for NULL.
    @inlinable
    package mutating func state() -> DeliveryState? {
        optionalInteger().flatMap { DeliveryState(rawValue: UInt8(truncatingIfNeeded: $0)) }
    }

    package mutating func platform() -> Platform { Platform(rawValue: text()) ?? .ios }

    package mutating func app() -> AppKey { AppKey(app: text(), platform: platform()) }

    /// A record of a LEFT JOIN; nil where the join found nothing, so that the record's first column is NULL.
    package mutating func optional<S: Selection>(_ selection: S.Type) -> S.Record? {
        let isThere = !row.isNull(place)
        let record = S.read(&self)
        return isThere ? record : nil
    }
}

extension SQLRow {
    @inlinable package var columns: Columns<Self> { Columns(self) }
}
