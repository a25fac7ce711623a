// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayStore

/// Each form that acts carries what its question showed, byte for byte; where that holds no more, the question is asked anew.
extension View {
    /// Does what was confirmed.
    ///
    /// - Parameters:
    ///   - deed: given who acts, with what was confirmed.
    ///   - again: asks anew, with what has changed.
    func perform(
        _ act: ActKind, _ fields: FormFields, of campaign: CampaignRecord? = nil, _ deed: (Caller) throws -> Response,
        again: (Stale) throws -> Response
    ) throws -> Response {
        guard let shown = fields.shown(act) else { return try again(Stale(changes: [])) }
        do {
            return try deed(caller.confirming(shown, of: campaign?.key))
        } catch let stale as StaleConfirmation {
            return try again(Stale(changes: stale.changes))
        }
    }

    /// Why a question is asked anew.
    struct Stale {
        /// Empty where the form carried nothing: it is of another release.
        var changes: [Shown.Change]
    }

    func notice(_ html: inout HTML, _ stale: Stale?) {
        guard let stale else { return }
        html.tag("div", [.class("notice bad"), .named("role", "alert")]) { html in
            html.tag("p", text: say("Nothing was done: this is not what you were shown. Look again."))
            for change in stale.changes {
                html.tag("p") { html in
                    html.text("\(word(change.fact)): ")
                    html.foreign(change.shown.words)
                    html.text(" → ")
                    html.foreign(change.now.words)
                }
            }
        }
    }

    private func word(_ fact: Shown.Fact) -> String {
        switch fact {
        case .version: say("Version")
        case .state: say("State")
        case .wave: say("Wave")
        case .round: say("Round")
        case .devices: say("Devices")
        case .text: say("Text")
        }
    }
}

extension HTML {
    /// What a form carries, out of sight.
    mutating func hidden(_ name: StaticString, _ value: String) {
        void("input", [.named("type", "hidden"), .named("name", name.description), .named("value", value)])
    }

    /// What was shown of what the act is about; an empty value says that there was nothing.
    mutating func carries(_ act: ActKind, _ shown: Shown) {
        for fact in act.facts {
            let value = shown.facts[fact] ?? .nothing
            void(
                "input",
                [
                    .named("type", "hidden"), .named("name", fact.rawValue),
                    .named("value", value == .nothing ? "" : value.words),
                ])
        }
    }
}

extension FormFields {
    /// What a form carried; nil where it does not have all of it.
    func shown(_ act: ActKind) -> Shown? {
        var shown = Shown()
        for fact in act.facts {
            guard let text = exact(fact.rawValue) else { return nil }
            if text.isEmpty {
                shown.facts[fact] = .nothing
            } else if !fact.isNumber {
                shown.facts[fact] = .text(text)
            } else if let number = Int64(text) {
                shown.facts[fact] = .number(number)
            } else {
                return nil
            }
        }
        return shown
    }
}
