// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Telemetry
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import HTTPServer
@testable import RelayAPI

@Suite("The OpenAPI document", .ownThread)
struct OpenAPITests {
    static let entries = DocumentCheck.entries

    static func route(of entry: DocumentCheck.Entry) -> Route? {
        let segments = entry.path.dropFirst().split(separator: "/").map { segment in
            guard segment.hasPrefix("{") else { return String(segment) }
            let name = segment.dropFirst().dropLast()
            return DocumentCheck.example(name, of: entry) ?? ""
        }
        guard case .route(let route, _) = Router.api.route(method: entry.method, segments: segments) else { return nil }
        return route
    }

    @Test("it is served as it is, to anyone")
    func served() throws {
        let bench = try Bench()
        let answer = try bench.askNetwork("GET", "/openapi.json")
        #expect(answer.status == 200)
        #expect(answer[header: "content-type"] == "application/json")
        #expect(answer[header: "x-request-id"] != nil)
        #expect(answer.bytes == OpenAPIDocument.bytes)
        #expect(answer.text("openapi") == "3.1.1")
        #expect(Self.entries.count >= 27)
    }

    // MARK: Routes

    @Test("every path and method of the document is routed")
    func entriesAreRouted() {
        for entry in Self.entries where Self.route(of: entry) == nil {
            Issue.record("\(entry.method) \(entry.path) is documented, but not routed")
        }
    }

    @Test("every route is in the document, and every entry of CONTRACT's table")
    func routesAreDocumented() throws {
        #expect(Route.all.count >= 25)
        let documented = Set(Self.entries.map { "\($0.method) \($0.path)" })
        for route in Route.all where !documented.contains(route.pattern) {
            Issue.record(
                "\(route.pattern) has no operation in the document: add one to APIOperation.all, and run \"make openapi\""
            )
        }
        for entry in RouterTests.table {
            let target = try RequestTarget(entry.path)
            #expect(
                DocumentCheck.entry(entry.method, target.segments) != nil,
                "\(entry.method) \(entry.path) has no operation in the document")
        }
    }

    @Test("the query's parameters in the document are those that are taken")
    func parameters() throws {
        for entry in Self.entries {
            let route = try #require(Self.route(of: entry), "\(entry.method) \(entry.path)")
            let inQuery = entry.parameters.filter { $0["in"]?.text == "query" }
            #expect(Set(inQuery.compactMap { $0["name"]?.text }) == Set(route.parameters), "\(route.pattern)")
        }
    }

    @Test("the problems that follow from a route's form are in the document")
    func problems() throws {
        for entry in Self.entries {
            let route = try #require(Self.route(of: entry), "\(entry.method) \(entry.path)")
            // Every route refuses an unknown parameter, a target or a head that is too long, and a target that is no path in
            // percent-encoded UTF-8.
            var statuses: Set<Int> = [400, 414, 422, 431]
            if route.path.contains("{") { statuses.insert(404) }
            switch route.answer {
            case .body, .signed: statuses.insert(413)
            case .head, .form, .stream: break
            }
            // A body in a content coding is refused, too.
            if route.answer.takesBody { statuses.insert(415) }
            switch route.right {
            case .nothing: break
            case .signature: statuses.insert(401)
            case .scope, .signedIn, .operatorOnly: statuses.formUnion([401, 403])
            }
            let answers = try #require(entry.operation["responses"]).members
            for status in statuses {
                #expect(
                    answers.first { $0.name == String(status) }?.value["$ref"]?.text
                        == "#/components/responses/Problem\(status)",
                    "\(route.pattern) \(status)")
            }
            for answer in answers where answer.name.hasPrefix("4") && answer.value["$ref"] != nil {
                #expect(
                    answer.value["$ref"]?.text == "#/components/responses/Problem\(answer.name)", "\(route.pattern)")
            }
        }
    }

    static let knownWords: [(schema: String, path: [String], words: [String])] = [
        ("Campaign", ["properties", "state"], CampaignState.allCases.map(\.rawValue)),
        ("Delivery", ["properties", "state"], DeliveryState.allCases.map(\.name)),
        ("Device", ["properties", "environment"], Channel.Environment.allCases.map(\.name)),
        ("Device", ["properties", "platform"], Platform.allCases.map(\.rawValue)),
        ("Notification", ["properties", "state"], NotificationRecord.State.allCases.map(\.rawValue)),
        ("LogLevel", ["properties", "level"], LogLevel.allCases.map(\.name)),
        ("NewToken", ["properties", "scopes", "items"], Scope.allCases.map(\.rawValue)),
        ("Wait", ["properties", "reason"], Wait.Kind.allCases.map(\.rawValue)),
    ]

    @Test("words that the program knows are those of the document", arguments: knownWords)
    func words(schema: String, path: [String], words: [String]) throws {
        var value = try #require(DocumentCheck.check.resolve("#/components/schemas/\(schema)"), "\(schema)")
        for step in path { value = try #require(value[step], "\(schema) \(path)") }
        #expect(value["enum"]?.elements.compactMap(\.text) == words)
    }

    @Test("counts, kinds of events and lengths too")
    func names() throws {
        func properties(_ schema: String) -> JSONValue? {
            DocumentCheck.check.resolve("#/components/schemas/\(schema)")?["properties"]
        }
        #expect(
            properties("CampaignCounts")?.members.map(\.name) == ["audience"] + DeliveryState.allCases.map(\.name))
        #expect(properties("FilterCounts")?.members.map(\.name) == FilterReason.allCases.map(\.rawValue))
        #expect(
            ["CampaignEvent", "ApprovalEvent", "DeadTokensEvent", "VersionEvent", "PartEvent"].flatMap { schema in
                properties(schema)?["type"]?["enum"]?.elements.compactMap(\.text) ?? []
            } == EventType.allCases.map(\.rawValue) + [NotificationDocument.testType])
        func length(_ schema: String, _ property: String) -> String? {
            guard case .number(let text)? = properties(schema)?[property]?["maxLength"] else { return nil }
            return text
        }
        #expect(length("Bump", "downloadUrl") == String(DownloadURL.maximumLength))
        let text = DocumentCheck.check.resolve("#/components/schemas/MessageText")
        #expect(text?["maxLength"] == .number(String(BumpBody.maximumMessage)))
        #expect(length("NewAlert", "message") == String(BumpBody.maximumMessage))
        #expect(length("DeviceRegistration", "telephone") == String(BodyFields.maximumTelephone))
    }

    @Test("the rights in the document are those that are asked for")
    func rights() throws {
        for entry in Self.entries {
            let route = try #require(Self.route(of: entry), "\(entry.method) \(entry.path)")
            #expect(Self.right(entry.operation) == route.right, "\(entry.method) \(entry.path)")
            // The name in the log.
            #expect(route.pattern == "\(entry.method) \(entry.path)")
        }
    }

    /// The right that the operation's security requires.
    static func right(_ operation: JSONValue) -> Right? {
        guard let security = operation["security"] else { return nil }
        let names = security.elements.flatMap { $0.members.map(\.name) }
        if names.isEmpty { return .nothing }
        if names == ["controlSocket"] { return .operatorOnly }
        if security.elements.first?["apiToken"]?.elements.isEmpty == true || names == ["session"] { return .signedIn }
        if names.starts(with: ["standardWebhook", "gitHubSignature", "appleSignature"]) { return .signature }
        let scopes = security.elements.first?["apiToken"]?.elements.compactMap(\.text) ?? []
        guard names == ["apiToken", "controlSocket"], scopes.count == 1, let scope = Scope(rawValue: scopes[0]) else {
            return nil
        }
        return .scope(scope)
    }

    @Test("GitLab's token is documented where it is taken, and there alone")
    func gitLabToken() {
        let places = Self.entries.filter { entry in
            entry.operation["security"]?.elements.contains { $0["gitLabToken"] != nil } == true
        }
        #expect(places.map(\.path) == ["/v1/webhooks/gitlab/{app}/{platform}"])
    }

    @Test("what receivers of notifications are sent is the document's, in every state")
    func webhooksOut() throws {
        let post = try #require(DocumentCheck.document["webhooks"]?["campaignChanged"]?["post"])
        let schema = try #require(post["requestBody"]?["content"]?["application/json"]?["schema"])
        let bench = try Bench()
        let bump = VersionBump(app: AppKey(app: "com.example.app", platform: .ios), required: try Version("2.0.0"))
        let now = Timestamp(seconds: 1_800_000_000)
        let applied = try bench.store.apply(
            bump, actor: "t", source: "test", at: now,
            draft: CampaignDraft(downloadURL: "https://apps.example.com/app", timeToLive: .seconds(3600)), receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        guard case .applied(let outcome, _) = applied, var campaign = outcome.campaign else {
            Issue.record("no campaign: \(applied)")
            return
        }
        for state in CampaignState.allCases {
            campaign.facts.state = state
            let event = RelayEvent(
                id: "0f4ad1b2", type: EventType(state), at: now, subject: .campaign(campaign))
            let sent = NotificationDocument.json(of: event)
            let faults = DocumentCheck.check.faults(try JSONReader.read(sent), schema)
            #expect(faults.isEmpty, "\(state): \(faults)")
        }
        let partPost = try #require(DocumentCheck.document["webhooks"]?["partChanged"]?["post"])
        let partSchema = try #require(partPost["requestBody"]?["content"]?["application/json"]?["schema"])
        for type in [EventType.certificateEnds, .degraded, .recovered] {
            let event = RelayEvent(id: "0f4ad1b2", type: type, at: now, subject: .part("store", reason: "it is full"))
            let faults = DocumentCheck.check.faults(
                try JSONReader.read(NotificationDocument.json(of: event)), partSchema)
            #expect(faults.isEmpty, "\(type): \(faults)")
        }
        let headers = post["parameters"]?.elements.compactMap { $0["name"]?.text }
        #expect(headers == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        let answers = try #require(post["responses"]).members.map(\.name)
        #expect(answers == ["2XX", "410", "429", "default"])
    }

    // MARK: The document itself

    @Test("names are unique, references lead somewhere, parameters are those of the path")
    func wholeness() {
        let ids = Self.entries.compactMap { $0.operation["operationId"]?.text }
        #expect(ids.count == Self.entries.count)
        #expect(Set(ids).count == ids.count)
        let tags = (DocumentCheck.document["tags"]?.elements ?? []).compactMap { $0["name"]?.text }
        for entry in Self.entries {
            #expect(entry.operation["tags"]?.elements.compactMap(\.text).allSatisfy(tags.contains) == true)
            let inPath = entry.parameters.filter { $0["in"]?.text == "path" }
            let named = entry.path.matches(of: /\{(.+?)\}/).map { String($0.output.1) }
            #expect(inPath.compactMap { $0["name"]?.text } == named, "\(entry.path)")
            #expect(entry.operation["responses"]?["5XX"]?["$ref"]?.text == "#/components/responses/Problem5XX")
        }
        var references: [String] = []
        Self.walk(DocumentCheck.document) { value in
            if let reference = value["$ref"]?.text { references.append(reference) }
        }
        #expect(references.count > 100)
        for reference in Set(references) {
            #expect(DocumentCheck.check.resolve(reference) != nil, "\(reference)")
        }
        // Every part is referred to.
        for kind in ["schemas", "parameters", "headers"] {
            for part in DocumentCheck.document["components"]?[kind]?.members ?? [] {
                #expect(references.contains("#/components/\(kind)/\(part.name)"), "\(part.name) is used nowhere")
            }
        }
        let schemes = (DocumentCheck.document["components"]?["securitySchemes"]?.members ?? []).map(\.name)
        let used = Self.entries.flatMap { $0.operation["security"]?.elements.flatMap { $0.members.map(\.name) } ?? [] }
        #expect(Set(used) == Set(schemes))
    }

    @Test("every example is of its schema")
    func examples() {
        var count = 0
        Self.walk(DocumentCheck.document) { value in
            guard let example = value["example"], let schema = value["schema"] else { return }
            count += 1
            var faults = DocumentCheck.check.faults(example, schema)
            if let item = value["x-itemSchema"], let text = example.text {
                let lines = text.split(separator: "\n").filter { !$0.hasPrefix("event:") }
                #expect(!lines.isEmpty)
                faults += lines.flatMap { line -> [String] in
                    let json = line.hasPrefix("data: ") ? line.dropFirst(6) : line
                    guard let value = try? JSONReader.read(Array(json.utf8)) else { return ["not JSON: \(line)"] }
                    return DocumentCheck.check.faults(value, item)
                }
            }
            #expect(faults == [])
        }
        #expect(count > 40)
    }

    @Test("every operation that takes or gives JSON shows how")
    func everyBodyHasAnExample() {
        for entry in Self.entries {
            for media in entry.operation["requestBody"]?["content"]?.members ?? [] {
                #expect(media.value["example"] != nil, "\(entry.method) \(entry.path)")
            }
        }
    }

    private static func walk(_ value: JSONValue, _ visit: (JSONValue) -> Void) {
        visit(value)
        for member in value.members { walk(member.value, visit) }
        for element in value.elements { walk(element, visit) }
    }
}
