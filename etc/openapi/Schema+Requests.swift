// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements
import WireFormat

/// Bodies that have no name among the document's schemas.
extension Schema {
    /// An event as a release tool sends it, whatever is in it.
    static func event(of sender: String) -> Schema {
        map(of: .anything).described("An event as \(sender) sends it.")
    }

    static let gitLabEvent = event(of: "GitLab").having([Property("object_kind", text.matching("^[^\\u0000]*$"))])

    static let appStoreEvent = event(of: "App Store Connect").having([
        Property(
            "data",
            Schema(["type": .string("object")]).having([
                Property("type", text), Property("id", text.long(1...256).described("Lengths in bytes.")),
            ]))
    ])

    /// A page of dead tokens.
    static let deadPage = object(
        nil,
        [
            Property("items", list(of: ref("DeadDevice"))),
            Property("next", text.orNull.described("The cursor of the next page; null at the end.")),
            Property(
                "since",
                text.described("The `since` of the next request: behind the last item, or where this page began.")),
        ])

    static let acceptedMark = StoreMark.acceptedShape.schema

    /// A floor, or blocks, whose withdrawal is about another set of shown facts: without a version.
    static let withdrawal: Schema = {
        let reason = text.orNull.long(1...200).matching("^[^\\u0000-\\u0009\\u000B-\\u001F\\u007F-\\u009F]*$")
        let own = [
            Property("required", .version, isRequired: false),
            Property(
                "blocked", list(of: .version).with("minItems", 1).with("maxItems", 20), isRequired: false),
            Property("reason", reason, isRequired: false),
        ]
        func needing(_ names: String...) -> Schema { Schema(["required": .array(names.map(JSONValue.string))]) }
        let both = anyOf([needing("required", "blocked"), needing("blocked", "ifVersion")])
        return object(nil, own + Property.shown(by: .withdraw)).merging(
            anyOf([needing("required"), needing("blocked")])
        )
        .with("not", both.json)
    }()
}
