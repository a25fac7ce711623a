// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The actions on an app's requirements, other than raising.
enum VersionAction: String {
    case release, withdraw, unblock

    /// The kind of act, which decides the facts that the form carries.
    var act: ActKind {
        switch self {
        case .release: .release
        case .withdraw: .withdraw
        case .unblock: .unblock
        }
    }

    /// The subject whose facts the question shows.
    func subject(_ key: AppKey, _ version: String?) -> ActSubject {
        switch self {
        case .release: .release(key, nil, nil)
        case .withdraw: .required(key)
        case .unblock: .blocks(key, version.flatMap { try? Version($0) }.map { [$0] } ?? [])
        }
    }
}

extension View {
    /// - Parameter version: the version to unblock.
    func confirm(
        _ action: VersionAction, _ key: AppKey, version: String?, fault: String? = nil, stale: Stale? = nil
    ) throws -> Response {
        try need(.versions)
        try api.require(key)
        let shown = try api.shown(action.subject(key, version))
        let what = version ?? shown.facts[.version].flatMap { $0 == .nothing ? nil : $0.words } ?? "–"
        let state = shown.facts[.state].flatMap { $0 == .nothing ? nil : $0.words }
        var audience: Int64 = 0
        if case .number(let devices)? = shown.facts[.devices] { audience = devices }
        let title = "\(self.title(action, what)): \(name(key))"
        return page(title, at: .overview, status: stale != nil ? 409 : fault == nil ? 200 : 422) { html in
            notice(&html, stale)
            for effect in CampaignEffect.of(action.act, (try? Version(what))) { html.tag("p", text: words(effect)) }
            html.tag("p") { html in
                html.tag("strong") { $0.foreign(name(key)) }
                html.text(": \(what); ")
                if let state { html.text("\(standing(state)); ") }
                html.text(devices(audience))
            }
            html.form(self, path(key, action.rawValue)) { html in
                if action == .release {
                    html.checkbox(say("Whatever the hour"), name: "now")
                } else {
                    html.hidden("version", what)
                    html.field(say("Why, for the history"), name: "reason")
                    html.field(
                        say("Type the app's name, %", key.app), name: "app", fault: fault, [.flag("required")])
                }
                html.carries(action.act, shown)
                let label = action == .release ? say("Approve") : self.title(action, what)
                buttons(&html, label, isDangerous: action != .release, back: path(key))
            }
        }
    }

    private func title(_ action: VersionAction, _ version: String) -> String {
        switch action {
        case .release: say("Approve %", version)
        case .withdraw: say("Withdraw %", version)
        case .unblock: say("Unblock %", version)
        }
    }

    /// The state of a version, in words for the reader.
    private func standing(_ name: String) -> String {
        switch name {
        case "waiting", "asked": say("waits")
        case "announced": say("is announced")
        case "canary": say("is in force for the canary")
        case "waves": say("is in force in waves")
        case "inForce": say("is in force")
        default: name
        }
    }

    func perform(_ action: VersionAction, _ key: AppKey, _ fields: FormFields) throws -> Response {
        try need(.versions)
        // A hidden field of the form, so it is the version that was shown, byte for byte.
        let version = fields.exact("version")
        if action != .release, fields["app"] != key.app {
            return try confirm(
                action, key, version: version, fault: say("This is not the name of the app: %", key.app))
        }
        return try perform(action.act, fields) { caller in
            var body = JSONWriter()
            switch action {
            case .release:
                body.object { if fields["now"] != nil { $0.member("now", true) } }
                _ = try api.release(key, body: body.bytes, by: caller)
            case .withdraw, .unblock:
                body.object { writer in
                    if action == .withdraw {
                        writer.member("required", version)
                    } else {
                        writer.member("blocked", [version ?? ""])
                    }
                    if let reason = fields["reason"] { writer.member("reason", reason) }
                }
                _ = try api.withdraw(key, body: body.bytes, by: caller)
            }
            return PageHeaders.redirect(to: path(key))
        } again: {
            try confirm(action, key, version: action == .unblock ? version : nil, stale: $0)
        }
    }
}
