// SPDX-License-Identifier: Apache-2.0

/// One field at fault, of a request's body or of the configuration: CONTRACT's `errors: [{field, reason}]`.
package struct FieldFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its path: "telephones[0]", `apps["com.example.app"].ios.push.priority`; empty for the whole file.
    package var field: String
    /// The values that are allowed, and the value that was found.
    package var reason: String

    package init(_ field: String, _ reason: String) {
        self.field = field
        self.reason = reason
    }

    package var description: String { field.isEmpty ? reason : "\(field): \(reason)" }
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
