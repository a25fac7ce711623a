// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayStore
import Requirements

/// A form that acts carries the facts that its question showed, byte for byte. Where they no longer hold, the question is
/// asked again.
extension View {
    /// Does the act that was confirmed.
    ///
    /// - Parameters:
    ///   - deed: does the act for the caller, with the facts that were confirmed.
    ///   - again: asks again, with the changed facts.
    func perform(
        _ act: ActKind, _ fields: FormFields, of campaign: CampaignRecord? = nil, _ deed: (Caller) throws -> Response,
        again: (Stale) throws -> Response
    ) throws -> Response {
        guard let shown = fields.shown(act) else { return try again(Stale(changes: [])) }
        do {
            return try deed(caller.confirming(shown, of: campaign?.key))
        } catch is ApprovalAsked {
            return PageHeaders.redirect(to: PagePath("page", "approvals"))
        } catch let stale as StaleConfirmation {
            return try again(Stale(changes: stale.changes))
        }
    }

    /// Why a question is asked again.
    struct Stale {
        /// Empty where the form lacks a fact, as it comes from another release.
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
    mutating func hidden(_ name: StaticString, _ value: String) { hidden(name.description, value) }

    mutating func hidden(_ name: String, _ value: String) {
        void("input", [.named("type", "hidden"), .named("name", name), .named("value", value)])
    }

    /// Hidden fields with the facts that the question showed; an empty value means that there was nothing.
    ///
    /// - Parameter prefix: what the fields' names begin with, where a form acts on several objects.
    mutating func carries(_ act: ActKind, _ shown: Shown, prefix: String = "") {
        for fact in act.facts {
            let value = shown.facts[fact] ?? .nothing
            void(
                "input",
                [
                    .named("type", "hidden"), .named("name", "\(prefix)\(fact.rawValue)"),
                    .named("value", value == .nothing ? "" : value.words),
                ])
        }
    }
}

extension FormFields {
    /// The facts that a form carried; nil where one is missing or malformed.
    func shown(_ act: ActKind, prefix: String = "") -> Shown? {
        var shown = Shown()
        for fact in act.facts {
            guard let text = exact("\(prefix)\(fact.rawValue)") else { return nil }
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
