// SPDX-License-Identifier: Apache-2.0

/// A set of a device's fields, for example those that an observation leaves out, or that differ.
///
/// Inlinable, because stores compare the fields of each row of an import.
@usableFromInline package struct DeviceFieldSet: SetAlgebra, Hashable, Sendable {
    @usableFromInline var bits: UInt16

    @inlinable
    init(bits: UInt16) { self.bits = bits }

    @inlinable
    package init() { bits = 0 }

    @inlinable
    static func bit(of field: DeviceField) -> UInt16 { 1 &<< UInt16(field.rawValue) }

    @inlinable
    package func contains(_ field: DeviceField) -> Bool { bits & Self.bit(of: field) != 0 }

    @inlinable
    @discardableResult
    package mutating func insert(_ field: DeviceField) -> (inserted: Bool, memberAfterInsert: DeviceField) {
        let isNew = !contains(field)
        bits |= Self.bit(of: field)
        return (isNew, field)
    }

    @inlinable
    @discardableResult
    package mutating func update(with field: DeviceField) -> DeviceField? {
        insert(field).inserted ? nil : field
    }

    @inlinable
    @discardableResult
    package mutating func remove(_ field: DeviceField) -> DeviceField? {
        guard contains(field) else { return nil }
        bits &= ~Self.bit(of: field)
        return field
    }

    @inlinable
    package func union(_ other: DeviceFieldSet) -> DeviceFieldSet { DeviceFieldSet(bits: bits | other.bits) }

    @inlinable
    package func intersection(_ other: DeviceFieldSet) -> DeviceFieldSet { DeviceFieldSet(bits: bits & other.bits) }

    @inlinable
    package func subtracting(_ other: DeviceFieldSet) -> DeviceFieldSet { DeviceFieldSet(bits: bits & ~other.bits) }

    @inlinable
    package func symmetricDifference(_ other: DeviceFieldSet) -> DeviceFieldSet {
        DeviceFieldSet(bits: bits ^ other.bits)
    }

    @inlinable
    package mutating func formUnion(_ other: DeviceFieldSet) { bits |= other.bits }

    @inlinable
    package mutating func formIntersection(_ other: DeviceFieldSet) { bits &= other.bits }

    @inlinable
    package mutating func subtract(_ other: DeviceFieldSet) { bits &= ~other.bits }

    @inlinable
    package mutating func formSymmetricDifference(_ other: DeviceFieldSet) { bits ^= other.bits }

    /// The number of members that come before a field.
    @inlinable
    func count(below field: DeviceField) -> Int { (bits & (Self.bit(of: field) - 1)).nonzeroBitCount }
}
