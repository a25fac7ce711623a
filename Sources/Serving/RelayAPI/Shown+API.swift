// SPDX-License-Identifier: Apache-2.0
import RelayStore
package import Requirements
import UpgradeRules
package import WireFormat

/// The facts that an act carries in a body or in a query, as members of `Shown.Fact`. A fact that is left out is not checked; null,
/// or an empty parameter, means that there was nothing.
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

    /// The query parameters in which an act may carry its facts.
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
    /// The caller, with the facts that were confirmed.
    package func confirming(_ shown: Shown, of campaign: CampaignKey? = nil) -> Caller {
        var caller = self
        caller.actor = actor.confirming(shown, of: campaign)
        return caller
    }
}

extension Shown {
    /// The facts that a person is shown, in the form in which the act takes them back.
    static let shape = Shape<Shown>(
        "Shown",
        "The facts that a person is shown before an act, as the act takes them back: a fact that differs then is refused with 409 (urn:upgrade-relay:stale-confirmation) and named in `changed`.",
        [
            .all(
                Fact.allCases.map { fact in
                    ShapeMember(property: .init(fact.rawValue, fact.schema, isRequired: false)) { writer, shown, _ in
                        if let value = shown.facts[fact] { writer.member(fact.rawValue, value) }
                    }
                })
        ])
}

extension Doubt {
    /// A doubt in the form in which `confirm` takes it.
    static let shape = Shape<Doubt>(
        "Doubt", "A doubt about a bump that may be meant all the same.",
        [
            .member(
                .reason, .words(Reason.self),
                "implausible-rise: there is no evidence for the version; nothing-above: no known version above the blocked one is free of a block."
            ) { $0.reason.rawValue },
            .member(.version, .version) { $0.version.text },
        ])
}
