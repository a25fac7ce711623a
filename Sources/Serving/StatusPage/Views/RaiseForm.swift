// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Threading
import UpgradeRules
import WireFormat

/// The form for raising or blocking a version, as the body that the API takes.
struct RaiseForm {
    var fields: FormFields

    static let names: [StaticString] =
        [
            "required", "latest", "blocked",
        ] + RequirementField.allCases.map(\.name) + ["downloadUrl", "message", "telephones"]

    /// The app whose form it is. The fields of another platform's part have names that begin with that platform.
    var key: AppKey

    /// The apps that it is for: its own, and where its box is ticked that of the other platform.
    var keys: [AppKey] {
        [key]
            + Platform.allCases.filter { $0 != key.platform && fields[Self.also($0).description] != nil }.map {
                AppKey(app: key.app, platform: $0)
            }
    }

    /// The name of the box that takes another platform along.
    static func also(_ platform: Platform) -> StaticString { platform == .ios ? "also.ios" : "also.android" }

    /// The beginning of the names of this app's own fields: empty, or the other platform's name.
    func prefix(_ key: AppKey) -> String { key == self.key ? "" : "\(key.platform.rawValue)." }

    /// The name of the field for this app's lowest system.
    func minimumOS(_ key: AppKey) -> StaticString {
        if key == self.key { return RequirementField.minimumOS.name }
        return key.platform == .ios ? "ios.minimumOs" : "android.minimumOs"
    }

    /// The hidden fields of the question: the form as it was sent.
    var carried: [String] {
        Self.names.map(\.description) + ["now", Self.zone.description]
            + keys.dropFirst().flatMap { [Self.also($0.platform).description, minimumOS($0).description] }
    }

    /// The body as the API takes it (CONTRACT, "A bump's body"), so that the same checks and error texts apply.
    ///
    /// - Parameters:
    ///   - key: one of `keys`.
    ///   - doubts: the doubts that the person confirmed.
    func body(of key: AppKey, confirming doubts: [Doubt] = []) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { write(key, doubts, nil, to: &$0) }
        return writer.bytes
    }

    /// The body of one release for all `keys`, with the facts and the doubts that the question showed of each.
    ///
    /// - Returns: nil where the form lacks a fact, as it comes from another release.
    func bodyOfAll() -> [UInt8]? {
        let shown = keys.map { fields.shown(.raise, prefix: prefix($0)) }
        guard shown.allSatisfy({ $0 != nil }) else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("platforms", keys.map(\.platform.rawValue))
            for (key, shown) in zip(keys, shown) {
                writer.name(key.platform.rawValue)
                writer.object { write(key, confirmed(of: key), shown, to: &$0) }
            }
        }
        return writer.bytes
    }

    private func write(_ key: AppKey, _ doubts: [Doubt], _ shown: Shown?, to writer: inout JSONWriter) {
        for name in Self.names {
            let name = name.description
            let isMinimum = name == RequirementField.minimumOS.name.description
            guard let value = fields[isMinimum ? minimumOS(key).description : name] else { continue }
            switch name {
            case "blocked", "telephones": writer.member(name, Self.list(value))
            case _ where Self.moments.contains(name): writer.member(name, moment(value))
            default: writer.member(name, value)
            }
        }
        if !doubts.isEmpty {
            writer.name("confirm")
            writer.array(doubts) { writer, doubt in
                writer.object([.reason: doubt.reason.rawValue, .version: doubt.version.text])
            }
        }
        if fields["now"] != nil { writer.member("now", true) }
        for (fact, value) in shown?.facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) ?? [] {
            writer.member(fact.rawValue, value)
        }
    }

    private static let moments = Set(RequirementField.allCases.filter(\.isMoment).map(\.name.description))

    /// The name of the hidden field for the zone of a moment that is typed without one.
    static let zone: StaticString = "zone"

    /// A moment as the API takes it. A text that is none is left as it is, for the API to refuse.
    private func moment(_ text: String) -> String {
        let usual = fields[Self.zone.description].flatMap(LocalZone.init(named:))
        return ZonedMoment(text, in: usual)?.moment.internetTime ?? text
    }

    /// The doubts that the question showed, if they were confirmed. A doubt that arises later is not among them.
    func confirmed(of key: AppKey) -> [Doubt] {
        guard fields["confirm"] != nil else { return [] }
        return (fields.exact("\(prefix(key))\(Self.doubts)") ?? "").split(separator: ",", maxSplits: 24).compactMap {
            text in
            let words = text.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 2, let reason = Doubt.Reason(rawValue: words[0]), let version = try? Version(words[1])
            else { return nil }
            return Doubt(reason, version)
        }
    }

    /// The name of the hidden field for the doubts.
    static let doubts: StaticString = "doubts"

    static func text(_ doubts: [Doubt]) -> String {
        doubts.map { "\($0.reason.rawValue) \($0.version.text)" }.joined(separator: ",")
    }

    /// Split at commas and white space. One item beyond the limit is kept, so that the API refuses the list.
    private static func list(_ text: String) -> [String] {
        text.split(maxSplits: ListBound.telephones.limit) { $0 == "," || $0.isWhitespace }.map(String.init)
    }
}
