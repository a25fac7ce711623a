// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// A user's state in one app in one line, before the details.
extension View {
    /// - Parameter isNamed: whether the line begins with the app, as there are several.
    func summary(_ html: inout HTML, _ summary: UserSummary, isNamed: Bool) {
        let urgency: Attribute? =
            switch summary.state {
            case .lockedOut: .class("notice bad")
            case .unknownVersion, .willBeAsked: .class("notice")
            case .mayGoOn, .noDevice, .notConfigured: nil
            }
        html.tag("p", urgency.map { [$0] } ?? []) { html in
            if isNamed {
                html.foreign(name(summary.app))
                html.text(" – ")
            }
            for part in summary.parts {
                var values = part.values[...]
                for (index, text) in TextPattern.texts(of: say(part.pattern)).enumerated() {
                    if index > 0, let value = values.popFirst() { self.value(&html, value) }
                    html.text(text)
                }
            }
        }
    }

    private func value(_ html: inout HTML, _ value: UserSummary.Part.Value) {
        switch value {
        case .text(let text): html.foreign(text)
        case .time(let time): html.time(time)
        case .push(of: nil): html.text(say("Push"))
        case .push(of: let target?):
            html.text(
                target.isBlock
                    ? say("Push of the block of %", target.version.text) : say("Push of %", target.version.text))
        case .answer(.yes): html.text(say("yes"))
        case .answer(.notYet): html.text(say("not yet"))
        case .answer(.no): html.text(say("no"))
        case .answer(.unknown): html.text(say("not known"))
        }
    }
}
