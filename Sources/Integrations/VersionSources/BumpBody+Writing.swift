// SPDX-License-Identifier: Apache-2.0
package import Requirements
import UpgradeRules
import WireFormat

extension BumpBody {
    /// A bump as a body that `read` takes, for one that is done later. Without its phone numbers, which are kept apart.
    package static func text(of bump: VersionBump) -> String {
        var members: [JSONMember] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        add("latest", bump.latest.map { .string($0.text) })
        add("required", bump.required.map { .string($0.text) })
        add("downloadUrl", bump.downloadURL.map(JSONValue.string))
        add("message", bump.message.map(message))
        let builds = [
            JSONMember(name: "latest", value: bump.builds.latest.map { .integer($0) } ?? .null),
            JSONMember(name: "required", value: bump.builds.required.map { .integer($0) } ?? .null),
        ].filter { $0.value != .null }
        if !builds.isEmpty { add("builds", .object(builds)) }
        if !bump.blocked.isEmpty { add("blocked", .array(bump.blocked.map { .string($0.text) })) }
        for (name, value) in bump.terms.members { add(name, value.map(JSONValue.string) ?? .null) }
        add("confirm", confirmation(bump.confirmation))
        if bump.isUrgent { add("now", .bool(true)) }
        return String(decoding: JSONValue.object(members).bytes(), as: UTF8.self)
    }

    private static func message(_ text: LocalizedText) -> JSONValue {
        guard !text.translations.isEmpty else { return .string(text.text) }
        let translations = text.translations.map { JSONMember(name: $0.language.text, value: .string($0.text)) }
        return .object([JSONMember(name: LocalizedText.others, value: .string(text.text))] + translations)
    }

    private static func confirmation(_ confirmed: ConfirmedDoubts) -> JSONValue? {
        switch confirmed {
        case .nothing, .dryRun: return nil
        case .usual: return .bool(true)
        case .named(let doubts):
            return .array(
                doubts.sorted { ($0.reason.rawValue, $0.version) < ($1.reason.rawValue, $1.version) }.map {
                    .object([
                        JSONMember(name: "reason", value: .string($0.reason.rawValue)),
                        JSONMember(name: "version", value: .string($0.version.text)),
                    ])
                })
        }
    }
}
