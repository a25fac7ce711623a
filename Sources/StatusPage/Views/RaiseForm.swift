// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import UpgradeRules
import WireFormat

/// What a person fills in to raise or block a version, as the body that the API takes.
struct RaiseForm {
    var fields: FormFields

    static let names: [StaticString] = [
        "required", "latest", "blocked", "minimumOs", "requiredFrom", "downloadUrl", "message", "telephones",
    ]

    /// CONTRACT, "A bump's body": the same checks, and the same words where something is wrong.
    ///
    /// - Parameter doubts: that are confirmed.
    func body(confirming doubts: [Doubt] = []) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            for name in Self.names {
                let key = name.description
                guard let value = fields[key] else { continue }
                switch key {
                case "blocked", "telephones": writer.member(key, Self.list(value))
                default: writer.member(key, value)
                }
            }
            if !doubts.isEmpty {
                writer.name("confirm")
                writer.array(doubts) { writer, doubt in
                    writer.object([.reason: doubt.reason.rawValue, .version: doubt.version.text])
                }
            }
            if fields["now"] != nil { writer.member("now", true) }
        }
        return writer.bytes
    }

    /// The doubts that the question showed, if they were confirmed: no other that turns up.
    var confirmed: [Doubt] {
        guard fields["confirm"] != nil else { return [] }
        return (fields.exact(Self.doubts.description) ?? "").split(separator: ",", maxSplits: 24).compactMap { text in
            let words = text.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 2, let reason = Doubt.Reason(rawValue: words[0]), let version = try? Version(words[1])
            else { return nil }
            return Doubt(reason, version)
        }
    }

    /// The hidden field of the doubts.
    static let doubts: StaticString = "doubts"

    static func text(_ doubts: [Doubt]) -> String {
        doubts.map { "\($0.reason.rawValue) \($0.version.text)" }.joined(separator: ",")
    }

    /// By commas, spaces or lines. One more than are taken is enough to be refused.
    private static func list(_ text: String) -> [String] {
        text.split(maxSplits: ListBound.telephones.limit) { $0 == "," || $0.isWhitespace }.map(String.init)
    }
}
