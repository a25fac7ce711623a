// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import WireFormat

/// What a person fills in to raise or block a version, as the body that the API takes.
struct RaiseForm {
    var fields: FormFields

    static let names: [StaticString] = [
        "required", "latest", "blocked", "minimumOs", "requiredFrom", "downloadUrl", "message", "telephones",
    ]

    /// CONTRACT, "A bump's body": the same checks, and the same words where something is wrong.
    func body(isConfirmed: Bool) -> [UInt8] {
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
            if isConfirmed { writer.member("confirm", true) }
            if fields["now"] != nil { writer.member("now", true) }
        }
        return writer.bytes
    }

    /// By commas, spaces or lines. One more than are taken is enough to be refused.
    private static func list(_ text: String) -> [String] {
        text.split(maxSplits: ListBound.telephones.limit) { $0 == "," || $0.isWhitespace }.map(String.init)
    }
}
