// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// Parameters of paths, queries and heads.
extension APIDocument {
    /// A parameter that several operations have in common, with a name among the components.
    private struct Shared {
        let name: String
        let place: String
        let schema: Schema
        var id: String
    }

    private static let shared: [Shared] = [
        Shared(name: "If-None-Match", place: "header", schema: .text, id: "IfNoneMatch"),
        Shared(name: "app", place: "path", schema: .text.long(1...255), id: "App"),
        Shared(name: "platform", place: "path", schema: .words(Platform.self), id: "Platform"),
        Shared(name: "webhook-id", place: "header", schema: .text, id: "WebhookID"),
        Shared(name: "webhook-timestamp", place: "header", schema: .text, id: "WebhookTimestamp"),
        Shared(name: "token", place: "path", schema: .token, id: "DeviceToken"),
        Shared(name: "cursor", place: "query", schema: .filled.matching("^[A-Za-z0-9_-]+$"), id: "Cursor"),
        Shared(name: "id", place: "path", schema: .filled, id: "CampaignID"),
        Shared(name: "format", place: "query", schema: format, id: "Format"),
        Shared(name: "app", place: "query", schema: .filled, id: "AppFilter"),
        Shared(name: "platform", place: "query", schema: .words(Platform.self), id: "PlatformFilter"),
        Shared(
            name: "state", place: "query", schema: .words(DeliveryState.allCases.map(\.name)), id: "DeliveryState"),
        Shared(name: "reason", place: "query", schema: .filled, id: "DeliveryReason"),
        Shared(name: "Accept-Language", place: "header", schema: .text, id: "AcceptLanguage"),
    ]

    private static let format = Schema.words(["json", "csv", "ndjson"])

    static func parameters(_ texts: Texts) -> JSONValue {
        .object(
            shared.map { shared in
                let text = texts.neededDescribed(shared.id)
                let value = parameter(
                    shared.name, in: shared.place, shared.schema, text.description, text.example,
                    isRequired: shared.place == "path")
                return JSONMember(name: shared.id, value: value)
            })
    }

    /// The parameters of a route: those of its path, its query and its head. A parameter that has texts of its own differs
    /// from the common one of its name.
    static func parameters(
        of operation: APIOperation, _ route: Route, _ texts: Texts, shared common: Texts
    ) -> [JSONValue] {
        func one(_ name: String, in place: String, isRequired: Bool) -> JSONValue {
            if place == "query", let fact = Shown.Fact(rawValue: name) { return query(of: fact) }
            let text = texts.described(name)
            guard text.description == nil,
                let shared = shared.first(where: { $0.name == name && $0.place == place })
            else {
                _ = texts.neededDescribed(name)
                return parameter(
                    name, in: place, schema(of: name, in: place, of: operation), text.description, text.example,
                    isRequired: isRequired)
            }
            return ["$ref": .string("#/components/parameters/\(shared.id)")]
        }
        let inPath = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
        var heads = operation.headers
        if route.right == .signature { heads = [.init(name: "webhook-id"), .init(name: "webhook-timestamp")] + heads }
        if route.parameters.contains("lang") { heads.append(.init(name: "Accept-Language")) }
        if route.keeping == .everybody { heads.append(.init(name: "If-None-Match")) }
        return inPath.map { one(String($0), in: "path", isRequired: true) }
            + route.parameters.map { one($0, in: "query", isRequired: operation.needs.contains($0)) }
            + heads.map { one($0.name, in: "header", isRequired: $0.isRequired) }
    }

    private static func parameter(
        _ name: String, in place: String, _ schema: Schema, _ description: JSONValue?, _ example: JSONValue?,
        isRequired: Bool, mayBeEmpty: Bool = false
    ) -> JSONValue {
        [
            "name": .string(name), "in": .string(place), "description": description,
            "required": .bool(isRequired), "allowEmptyValue": mayBeEmpty ? .bool(true) : nil, "schema": schema.json,
            "example": example,
        ]
    }

    /// A fact that was shown before an act.
    private static func query(of fact: Shown.Fact) -> JSONValue {
        parameter(
            fact.rawValue, in: "query", fact.bounded(fact.isNumber ? .integer : .text),
            .string(fact.text(ofNone: "empty")), nil,
            isRequired: false, mayBeEmpty: true)
    }

    private static func schema(of name: String, in place: String, of operation: APIOperation) -> Schema {
        if place == "header" { return .text }
        // Apps and proxies send what they have; all but a check takes any text.
        switch (operation.id, name) {
        case ("checkVersion", "app"): return .text.long(1...255)
        case ("checkVersion", "platform"): return .words(Platform.self)
        case ("checkVersion", "version"), (_, "below"): return .version
        case ("enforceVersion", "deny"): return .words(["403", "426"])
        case ("checkVersion", _), ("enforceVersion", _), ("getLaunchGate", _), ("listCampaigns", "app"),
            ("listApprovals", "app"):
            return .text
        case ("listCampaigns", "state"): return .words(CampaignState.self)
        case ("listApprovals", "state"): return .words(Approval.State.self)
        case ("listNotifications", "state"): return .words(NotificationRecord.State.self)
        case ("listAudit", "action"): return .words(AuditAction.self)
        case ("listAudit", "since"): return .anyInstant
        case (_, "name"): return .text.long(1...64)
        case (_, "limit"): return .integer.within(1...1000)
        case (_, "environment"): return .environment
        case (_, "dead"), (_, "dryRun"): return .words(["true", "false"])
        case (_, "format"): return format
        default: return .filled
        }
    }
}
