// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
package import UpgradeRules

/// A value in a column of a database.
package enum SQLParameter: Sendable {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

extension SQLParameter {
    /// Whether it is a text that no store keeps (`StoreText.nul`). Each driver keeps `Delivery.erased` in its own way.
    package var hasNUL: Bool {
        guard case .text(let text) = self, text.utf8.contains(0) else { return false }
        return !text.utf8.elementsEqual(Delivery.erased.utf8)
    }
}

/// A value that can be bound to a parameter of a statement outside the hot path; nil is NULL.
package protocol SQLValue {
    var parameter: SQLParameter { get }
}

extension FixedWidthInteger where Self: SQLValue {
    package var parameter: SQLParameter { .integer(Int64(self)) }
}

extension Int64: SQLValue {}
extension Int: SQLValue {}
extension UInt8: SQLValue {}

extension Bool: SQLValue {
    package var parameter: SQLParameter { .integer(self ? 1 : 0) }
}

extension String: SQLValue {
    package var parameter: SQLParameter { .text(self) }
}

extension [UInt8]: SQLValue {
    package var parameter: SQLParameter { .bytes(self) }
}

extension Timestamp: SQLValue {
    package var parameter: SQLParameter { .integer(milliseconds) }
}

extension Version: SQLValue {
    package var parameter: SQLParameter { .text(text) }
}

extension RawRepresentable where Self: SQLValue, RawValue: SQLValue {
    package var parameter: SQLParameter { rawValue.parameter }
}

extension AuditAction: SQLValue {}
extension Requirement.State: SQLValue {}
extension RequeueReasons: SQLValue {}
extension CampaignState: SQLValue {}
extension DeliveryState: SQLValue {}
extension Platform: SQLValue {}
extension Channel: SQLValue {}
extension TokenDoubt.Kind: SQLValue {}
extension StoreKind: SQLValue {}

/// A statement's current row. Columns count from 0; a boolean is 0 or 1.
package protocol SQLRow {
    var columnCount: Int32 { get }
    func isNull(_ column: Int32) -> Bool
    func integer(_ column: Int32) -> Int64
    /// nil for NULL.
    func optionalText(_ column: Int32) -> String?
    func blob(_ column: Int32) -> [UInt8]
    /// Appends the bytes of a text or a blob, as the database has them; NULL has none.
    func append(_ column: Int32, to bytes: inout [UInt8])
}

/// For code on a hot path, which names its columns.
extension SQLRow {
    package func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }

    package func optionalTime(_ column: Int32) -> Timestamp? { isNull(column) ? nil : time(column) }

    /// A stored version. The schema refuses text that is no version, so that a text that fails here was not written under it.
    package func version(_ column: Int32) -> Version? { optionalText(column).flatMap { try? Version($0) } }

    package func channel(_ column: Int32) -> Channel { Channel(rawValue: UInt8(truncatingIfNeeded: integer(column))) }
}

extension Columns {
    @inlinable
    package mutating func channel() -> Channel { Channel(rawValue: UInt8(truncatingIfNeeded: integer())) }
}
