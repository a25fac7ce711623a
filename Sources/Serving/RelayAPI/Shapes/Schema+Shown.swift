// SPDX-License-Identifier: Apache-2.0
import RelayStore
package import Requirements
package import WireFormat

/// The facts that a person was shown before an act, as the OpenAPI document describes them.
extension Shown.Fact {
    /// - Parameter none: the value that means that there was nothing.
    package func text(ofNone none: String) -> String {
        let (fact, more) =
            switch self {
            case .version: ("The version that was shown", "there was none.")
            case .state: ("The state that was shown", "there was none.")
            case .wave:
                (
                    "The number of the next wave that was shown, from 1",
                    "there was none, as after a person has let it begin."
                )
            case .round: ("The number of the round that a retry would begin, as it was shown", "there was none.")
            case .devices:
                ("The number of devices that was shown", "there was none. A tenth more or less is accepted.")
            case .text: ("The text that was shown, byte for byte", "there was none.")
            }
        return "\(fact); \(none): \(more) If left out, it is not checked."
    }

    /// The schema of the fact in an answer.
    package var schema: Schema { self == .version ? .version.orNull : isNumber ? .integer.orNull : .text.orNull }

    /// The bounds of the fact as an act carries it, in its body or in its query.
    package func bounded(_ schema: Schema) -> Schema { isNumber ? schema.within(0...Int64.max) : schema }

    /// The fact as a member of an act's body.
    fileprivate var property: Schema.Property {
        Schema.Property(rawValue, bounded(schema).described(text(ofNone: "null")), isRequired: false)
    }
}

extension Schema.Property {
    /// The facts that an act may carry in its body.
    package static func shown(by act: ActKind) -> [Schema.Property] { act.facts.map(\.property) }
}
