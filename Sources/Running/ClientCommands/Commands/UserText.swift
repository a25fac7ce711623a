// SPDX-License-Identifier: Apache-2.0
import Registry
import Terminal
import WireFormat

/// The explanation of one user, in words that support can read out.
enum UserText {
    static func text(_ user: JSONValue) -> String {
        let name = user.shown(.telephone)
        guard user[.known] == .bool(true) else {
            return "nothing is known of \(name)\n\(user.shown(.spelling))\n"
                + (similar(user).map(known) ?? "no other spelling of it is known either") + "\n"
        }
        return summary(user) + "\(name)\n" + user.list(.apps).map { "\n" + app($0) }.joined()
    }

    /// One sentence for each app and platform; it begins with the app's name where there are several apps.
    private static func summary(_ user: JSONValue) -> String {
        let all = user.list(.summary)
        guard !all.isEmpty else { return "" }
        let isNamed = Set(all.map { $0.shown(.app) }).count > 1
        return all.map { (isNamed ? "\($0.shown(.app)): " : "") + $0.shown(.sentence) + "\n" }.joined() + "\n"
    }

    /// Other spellings of the requested telephone; nil where there are none.
    static func similar(_ answer: JSONValue) -> String? {
        let similar = (answer[.similar]?.array ?? []).compactMap(\.string)
        return similar.isEmpty ? nil : similar.joined(separator: ", ")
    }

    static func known(as similar: String) -> String { "known instead: \(DisplayWidth.sanitised(similar))" }

    private static func app(_ app: JSONValue) -> String {
        var text = "\(app.place): \(app.shown(.inForce, or: "nothing")) is required of everybody"
        let announced = app.shown(.announced)
        if !announced.isEmpty, announced != app.shown(.inForce) { text += ", \(announced) is announced" }
        text += "\n"
        let wait = app.shown(.waitingReason)
        if !wait.isEmpty { text += "\(app.shown(.required)) waits: \(wait)\n" }
        if let stage = app[.stage], stage != .null { text += self.stage(stage) }
        for device in app.list(.devices) { text += "\n" + self.device(device) }
        if app.list(.devices).isEmpty { text += "no device has this phone number now\n" }
        guard !app.list(.pushes).isEmpty else { return text + "\nnothing was pushed, and nothing is in line\n" }
        var table = TextTable([
            .time("WHEN"), "REQUIRED", .whole("CAMPAIGN"), .tinted("STATE", by: Tint.ofState), "REASON", "TOKEN",
        ])
        for push in app.list(.pushes) {
            table.add([
                push.shown(.updatedAt, or: "-"), push.shown(.required, or: "-"), push.shown(.campaign),
                push.shown(.state), push.shown(.reason, or: "-"), shortened(push.shown(.token)),
            ])
        }
        return text + "\npushes\n\(table.text)"
    }

    private static func stage(_ stage: JSONValue) -> String {
        let version = stage.shown(.required)
        let reach = stage.shown(.reach)
        let whom = reach == "0" ? "its canary" : "\(reach) % of the users"
        let user =
            stage[.named] == .bool(true)
            ? "this user is named in its canary"
            : stage[.reached] == .bool(true)
                ? "this user is among them" : "it comes to this user with \(stage.shown(.turn)) %"
        return "\(version) is required of \(whom): \(user)\n"
    }

    private static func device(_ device: JSONValue) -> String {
        var text =
            "device \(shortened(device.shown(.token))), version \(device.shown(.version, or: "unknown"))"
        for field in DeviceField.values {
            let value = device.shown(of: field)
            if let noun = field.noun, !value.isEmpty { text += ", \(noun) \(value)" }
        }
        text += "\n"
        let source = device.shown(.versionFrom) == "login" ? "reported at login" : "by its registration or an import"
        text += "  known: \(source), \(device.shown(.versionAt, or: "-"))\n"
        let channels: [(Field, String)] = [
            (.push, "push"), (.login, "login check"), (.enforce, "/v1/enforce"), (.launchDocument, "launch document"),
        ]
        for (field, name) in channels {
            guard let word = device[.channels]?[field] else { continue }
            let says = words[word.shown(.says)] ?? word.shown(.says)
            text += "  \(name): \(says): \(word.shown(.why))\n"
        }
        let notices = device.list(.toldAtLogin).compactMap(\.string).map { DisplayWidth.sanitised($0) }
        text += "  asked at login to upgrade: \(notices.isEmpty ? "never" : "to \(notices.joined(separator: ", "))")\n"
        return text
    }

    /// The verdicts of a channel, in words.
    private static let words = [
        "pushed": "has its push", "due": "will be pushed", "notPushed": "is not pushed",
        "mustUpgrade": "must upgrade", "mayUpgrade": "may upgrade", "alert": "an alert", "nothing": "nothing to do",
        "denied": "is denied", "passes": "passes", "unknown": "version unknown",
    ]

    /// Enough of a token to recognise it.
    private static func shortened(_ token: String) -> String {
        token.count <= 12 ? token : "\(token.prefix(6))…\(token.suffix(4))"
    }
}
