// SPDX-License-Identifier: Apache-2.0

/// One field at fault, as CONTRACT's `errors: [{field, reason}]`.
package struct FieldFault: Hashable, Sendable, CustomStringConvertible {
    /// For example "telephones[0]".
    package var field: String
    /// What would be right, and what it held.
    package var reason: String

    package init(field: String, reason: String) {
        self.field = field
        self.reason = reason
    }

    package var description: String { "\(field): \(reason)" }
}

/// Why a request's body cannot be used.
package enum BodyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no JSON at all.
    case notJSON(JSONSyntaxError)
    /// It is JSON, with these faults.
    case fields([FieldFault])

    package var description: String {
        switch self {
        case .notJSON(let error): "not JSON, \(error)"
        case .fields(let faults): faults.map(\.description).joined(separator: "; ")
        }
    }
}
