// SPDX-License-Identifier: Apache-2.0

/// The change of one field of a device.
package enum FieldChange<Value: Hashable & Sendable>: Hashable, Sendable {
    /// The field is not named: it stays as it is.
    case keep
    /// nil: the stored value is removed.
    case set(Value?)

    /// The value for a new device.
    package var value: Value? {
        switch self {
        case .keep: nil
        case .set(let value): value
        }
    }

    package func map<Other>(_ other: (Value) -> Other?) -> FieldChange<Other> {
        switch self {
        case .keep: .keep
        case .set(let value): .set(value.flatMap(other))
        }
    }
}
