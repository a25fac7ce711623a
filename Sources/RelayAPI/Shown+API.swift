// SPDX-License-Identifier: Apache-2.0
package import RelayStore
import UpgradeRules
package import WireFormat

/// What an act carries in a body or in a query: the members of `Shown.Fact`. What is left out goes by whatever is there; null, or an empty
/// parameter, says that there was nothing.
extension Shown {
    package init(_ act: ActKind, in fields: inout BodyFields) {
        self.init()
        for fact in act.facts {
            let name = fact.rawValue
            guard fields.names(name) else {
                _ = fields.take(name)
                continue
            }
            guard let value = fields.take(name) else {
                facts[fact] = .nothing
                continue
            }
            facts[fact] = Self.value(fact, value) { fields.refuse(name, $0) }
        }
    }

    package init(_ act: ActKind, in query: inout Query) {
        self.init()
        for fact in act.facts {
            let name = fact.rawValue
            guard let text = query.text(name) else { continue }
            let value = text.isEmpty ? .null : fact.isNumber ? JSONValue.number(text) : .string(text)
            facts[fact] = value == .null ? .nothing : Self.value(fact, value) { query.refuse(name, $0) }
        }
    }

    /// The parameters of a query that an act may have.
    static func parameters(_ act: ActKind) -> [String] { act.facts.map(\.rawValue) }

    private static func value(_ fact: Fact, _ value: JSONValue, refuse: (String) -> Void) -> Value? {
        if fact.isNumber {
            if let number = value.integer, number >= 0 { return .number(number) }
            refuse("a whole number is needed, as it was shown, or null; got \(value.sight)")
            return nil
        }
        guard let text = value.string else {
            refuse("a text is needed, as it was shown, or null; got \(value.sight)")
            return nil
        }
        if fact == .version {
            do {
                _ = try Version(text)
            } catch {
                refuse("\(error)")
                return nil
            }
        }
        return .text(text)
    }
}

extension Caller {
    /// Who acts, with what was confirmed.
    package func confirming(_ shown: Shown, of campaign: CampaignKey? = nil) -> Caller {
        var caller = self
        caller.actor = actor.confirming(shown, of: campaign)
        return caller
    }
}

extension JSONWriter {
    /// What a person is shown, as the act takes it back.
    mutating func shown(_ name: Field, _ shown: Shown?) {
        member(name, shown) { writer, shown in
            writer.object { writer in
                for fact in Shown.Fact.allCases {
                    if let value = shown.facts[fact] { writer.member(fact.rawValue, value) }
                }
            }
        }
    }

    /// What is refused unless it is confirmed, as `confirm` takes it.
    mutating func doubts(_ name: Field, _ doubts: [Doubt]) {
        array(name, doubts) { writer, doubt in
            writer.object([.reason: doubt.reason.rawValue, .version: doubt.version.text])
        }
    }
}
