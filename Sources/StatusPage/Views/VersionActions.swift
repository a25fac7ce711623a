// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import UpgradeRules
import WireFormat

/// What can be done to what an app requires, beside raising it.
enum VersionAction: String {
    case release, withdraw, unblock
}

extension View {
    /// - Parameter version: the one to be unblocked.
    func confirm(_ action: VersionAction, _ key: AppKey, version: String?, fault: String? = nil) throws -> Response {
        try need(.versions)
        try api.require(key)
        let record = try api.store.version(of: key)
        let audience = try api.store.census().devices[key] ?? 0
        let what = version ?? record?.required?.text ?? "–"
        let title = "\(self.title(action, what)): \(name(key))"
        return page(title, at: .overview, status: fault == nil ? 200 : 422) { html in
            html.tag("p", text: explanation(action))
            html.tag("p") { html in
                html.tag("strong") { $0.foreign(name(key)) }
                html.text(": \(what); \(devices(audience))")
            }
            html.form(self, path(key, action.rawValue)) { html in
                if action == .release {
                    html.checkbox(say("Whatever the hour"), name: "now")
                } else {
                    html.void("input", [.named("type", "hidden"), .named("name", "version"), .named("value", what)])
                    html.field(say("Why, for the history"), name: "reason")
                    html.field(
                        say("Type the app's name, %", key.app), name: "app", fault: fault, [.flag("required")])
                }
                buttons(&html, self.title(action, what), isDangerous: action != .release, back: path(key))
            }
        }
    }

    private func title(_ action: VersionAction, _ version: String) -> String {
        switch action {
        case .release: say("Release")
        case .withdraw: say("Withdraw %", version)
        case .unblock: say("Unblock %", version)
        }
    }

    private func explanation(_ action: VersionAction) -> String {
        switch action {
        case .release: say("What is asked for is in force at once, whatever the store offers.")
        case .withdraw:
            say("What was required before is required again, on every channel. Pushes that were sent stay sent.")
        case .unblock: say("The version may be used again.")
        }
    }

    func perform(_ action: VersionAction, _ key: AppKey, _ fields: FormFields) throws -> Response {
        try need(.versions)
        var body = JSONWriter()
        switch action {
        case .release:
            body.object { if fields["now"] != nil { $0.member("now", true) } }
            _ = try api.release(key, body: body.bytes, by: caller)
        case .withdraw, .unblock:
            guard fields["app"] == key.app else {
                return try confirm(
                    action, key, version: fields["version"], fault: say("This is not the name of the app: %", key.app))
            }
            body.object { writer in
                if action == .withdraw {
                    writer.member("required", fields["version"])
                } else {
                    writer.member("blocked", [fields["version"] ?? ""])
                }
                if let reason = fields["reason"] { writer.member("reason", reason) }
            }
            _ = try api.withdraw(key, body: body.bytes, by: caller)
        }
        return PageHeaders.redirect(to: path(key))
    }
}
