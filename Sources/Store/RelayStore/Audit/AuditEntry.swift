// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
package import WireFormat

/// One row of the audit trail.
package struct AuditEntry: Hashable, Sendable {
    /// Ascending in the order in which rows were written; 0: not stored yet.
    package var id: Int64 = 0
    package var at: Timestamp
    package var actor: Principal
    /// The name of an `AuditAction`, or of an action that only a later release knows.
    package var action: String
    /// nil: it is about no app, or about all.
    package var app: AppKey?
    /// The campaign's public id.
    package var campaign: String?
    /// The thing that was changed, where app and campaign do not name it: a version, a name, a masked token or telephone.
    package var object: String?
    /// The values that the change altered, as they were before it: a JSON object. nil: there were none.
    package var before: String?
    /// The same values after the change. nil: there are none.
    package var after: String?

    package init(at: Timestamp, actor: Principal, action: String) {
        self.at = at
        self.actor = actor
        self.action = action
    }

    package init(
        _ action: AuditAction, by signature: Signature, of app: AppKey? = nil, campaign: String? = nil,
        object: String? = nil, from before: AuditValues? = nil, to after: AuditValues? = nil
    ) {
        self.init(at: signature.at, actor: signature.author, action: action.rawValue)
        (self.app, self.campaign, self.object) = (app, campaign, object)
        (self.before, self.after) = AuditValues.difference(before, after)
    }
}

/// The values of one thing under their names in the API; nil: there is no such value.
package struct AuditValues: ExpressibleByDictionaryLiteral, Sendable {
    private var members: [JSONMember]

    package init(dictionaryLiteral elements: (Field, JSONValue?)...) {
        members = elements.map { JSONMember(name: $0.0.rawValue, value: $0.1 ?? .null) }
    }

    /// The terms of a requirement; nil: there is none.
    init(_ terms: RequirementTerms?) {
        members = RequirementField.allCases.map { field in
            JSONMember(name: field.name.description, value: terms?[field].map { .string($0.text) } ?? .null)
        }
    }

    package subscript(name: Field) -> JSONValue? { self[name.rawValue] }

    private subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    package static func + (left: AuditValues, right: AuditValues) -> AuditValues {
        var all = left
        all.members += right.members
        return all
    }

    /// Whether any value differs.
    package func differs(from other: AuditValues) -> Bool {
        (members + other.members).contains { self[$0.name] ?? .null != other[$0.name] ?? .null }
    }

    /// Both sides as JSON, without the values that are equal; nil for a side that is nil.
    fileprivate static func difference(
        _ before: AuditValues?, _ after: AuditValues?
    ) -> (before: String?, after: String?) {
        func text(_ values: AuditValues?, besides other: AuditValues?) -> String? {
            guard let values else { return nil }
            let left = values.members.filter { $0.value != other?[$0.name] ?? .null }
            return String(
                decoding: JSONValue.object(left).bytes(),
                as: UTF8.self)
        }
        return (text(before, besides: after), text(after, besides: before))
    }
}
