// SPDX-License-Identifier: Apache-2.0
import Foundation
import WireFormat

@testable import ClientCommands

/// A daemon that answers every caller with the OpenAPI document's examples, the same each time. Answers without an example
/// there are written here.
struct DocumentedTransport: APITransport {
    private struct Operation {
        var method: String
        /// nil: a name in braces.
        var segments: [String?]
        var answers: [(type: String, body: [UInt8])]
    }

    private static let operations: [Operation] = {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/C/COpenAPI/openapi.json")
        guard let bytes = try? Data(contentsOf: path), let document = try? JSONReader.read(Array(bytes)) else {
            return []
        }
        var operations: [Operation] = []
        for path in members(document.find(["paths"])) {
            for method in members(path.value) {
                let answers = members(method.value.find(["responses"])).filter { $0.name.hasPrefix("2") }
                    .flatMap { members($0.value.find(["content"])) }
                    .compactMap { content -> (type: String, body: [UInt8])? in
                        guard let example = content.value.find(["example"]) else { return nil }
                        if case .string(let text) = example { return (content.name, Array(text.utf8)) }
                        return (content.name, example.bytes())
                    }
                let segments = path.name.split(separator: "/").map { $0.hasPrefix("{") ? nil : String($0) }
                operations.append(Operation(method: method.name.uppercased(), segments: segments, answers: answers))
            }
        }
        // A path without names in braces goes before one with them.
        return operations.sorted { $0.segments.count { $0 == nil } < $1.segments.count { $0 == nil } }
    }()

    private static func members(_ value: JSONValue?) -> [JSONMember] {
        if case .object(let members)? = value { members } else { [] }
    }

    /// The texts that replace others, by the name of their field.
    var words: [String: String] = [:]

    func send(_ request: APIRequest) async throws -> APIAnswer {
        let path = request.path.prefix { $0 != "?" }
        let key = "\(request.method) \(path)"
        if let text = Self.others[key] {
            return APIAnswer(status: 200, body: worded(Array(text.replacing("\n", with: "").utf8)))
        }
        if let lines = Self.streams[key] {
            return APIAnswer(status: 200, body: Array(lines.utf8))
        }
        let segments = path.split(separator: "/").map(String.init)
        let found = Self.operations.first { operation in
            operation.method == request.method && operation.segments.count == segments.count
                && zip(operation.segments, segments).allSatisfy { $0 == nil || $0 == $1 }
        }
        let answer = found?.answers.first { $0.type == request.accept } ?? found?.answers.first
        if found?.method == "DELETE", answer == nil { return APIAnswer(status: 204, body: []) }
        guard let answer else {
            return APIAnswer(status: 404, body: Array(#"{"title":"Not Found","detail":"no example of \#(key)"}"#.utf8))
        }
        return APIAnswer(status: 200, body: worded(answer.body))
    }

    private func worded(_ body: [UInt8]) -> [UInt8] {
        guard !words.isEmpty, let json = try? JSONReader.read(body) else { return body }
        func changed(_ value: JSONValue) -> JSONValue {
            switch value {
            case .array(let elements): .array(elements.map(changed))
            case .object(let members):
                .object(
                    members.map { member in
                        var member = member
                        member.value =
                            if case .string = member.value, let word = words[member.name] { .string(word) } else {
                                changed(member.value)
                            }
                        return member
                    })
            default: value
            }
        }
        return changed(json).bytes()
    }

    func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer {
        let answer = try await send(request)
        guard answer.isSuccess else { return answer }
        _ = try receive(answer.body)
        return APIAnswer(status: answer.status, body: [])
    }

    // MARK: Answers without an example

    private static let version = """
        "app":"com.example.app","platform":"ios","latest":"2.1.0","required":"2.0.0",
        "downloadUrl":"https://apps.apple.com/app/id1173193999","message":"Please upgrade.","telephones":null,
        "builds":{"latest":null,"required":null},"updatedAt":"2026-01-31T09:05:07.250Z"
        """
    private static let inForce = """
        "inForce":"2.0.0","inForceSince":"2026-01-31T10:00:00.000Z","inForceBy":"appStore",
        "inForceReason":"the App Store offers 2.1.0","announced":"2.1.0"
        """

    private static func campaign(_ id: String, _ state: String, _ reason: String, accepted: Int, pending: Int) -> String
    {
        """
        {"id":"\(id)","app":"com.example.app","platform":"ios","required":"2.0.0","inForce":"2.0.0","latest":"2.1.0",
        "downloadUrl":"https://apps.apple.com/app/id1173193999","message":null,"telephones":null,"canary":null,
        "state":"\(state)","reason":\(reason),"createdAt":"2026-01-31T09:05:07.250Z","startedAt":"2026-01-31T09:05:07.300Z",
        "finishedAt":null,"expiresAt":"2026-02-07T09:05:07.250Z","waitingUntil":null,"wait":null,
        "rollout":{"steps":["5 % of the users","30 % of the users","everybody"],"begun":3,"next":null},"now":null,
        "counts":{"audience":10000,"pending":\(pending),"inFlight":0,"accepted":\(accepted),"retrying":0,"rejected":10,
        "unregistered":90,"expired":0,"filtered":900,"cancelled":0},
        "filteredBy":{"noTelephone":500,"alreadyCurrent":400,"notInAudience":0,"knownDead":0,"osTooOld":0},
        "rejectedBy":{"BadDeviceToken":10},"upgraded":1200,"ratePerSecond":812.5,"secondsLeft":5,"rateLimit":1000,
        "wave":null,"rounds":[],"nextReminderAt":null}
        """
    }

    private static let others = [
        "GET /v1/apps":
            "{\"items\":[{\(version),\(inForce),\"waitingReason\":null,\"waitingUntil\":null}],\"next\":null}",
        "GET /v1/apps/com.example.app/ios/version": """
        {\(version),\(inForce),"waitingReason":null,"waitingUntil":null,
        "history":[{\(version),"actor":"webhook-secret","source":"webhook"}],
        "inForceHistory":[{\(inForce),"updatedAt":"2026-01-31T10:00:00.000Z","actor":"appStore","source":"gate"}]}
        """,
        "GET /v1/campaigns": "{\"items\":["
            + campaign("fedcba987654", "running", "null", accepted: 5000, pending: 4000) + ","
            + campaign(
                "0123456789ab", "suspended",
                "\"InvalidProviderToken: APNs does not take the key; check teamId, keyId and the key file\"",
                accepted: 0,
                pending: 9000) + "],\"next\":null}",
        "GET /v1/tokens": """
        {"items":[{"name":"ci","scopes":["versions","status"],"apps":["com.example.app"],
        "createdAt":"2026-01-31T09:05:07.250Z","revokedAt":null},
        {"name":"login-service","scopes":["devices"],"apps":null,"createdAt":"2026-01-30T09:05:07.250Z",
        "revokedAt":"2026-01-31T09:05:07.250Z"}],"next":null}
        """,
        "GET /v1/store": """
        {"path":"/var/lib/upgrade-relay/relay.db","size":1048576,"schemaVersion":2,"newestSchemaVersion":2,
        "chain":[{"version":1,"name":"the first schema","appliedAt":"2026-01-30T09:05:07.250Z"},
        {"version":2,"name":"version codes, alerts, versions seen","appliedAt":"2026-01-31T09:05:07.250Z"}],
        "firstInstalled":{"release":"0.1.0","schemaVersion":1,"openedAt":"2026-01-30T09:05:07.250Z"},
        "current":{"release":"0.2.0","schemaVersion":2,"openedAt":"2026-01-31T09:05:07.250Z"},
        "mark":{"identity":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","decision":38,"sign":"8899aabbccddeeff","recorded":5},
        "wentBack":{
        "seenMark":{"identity":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","decision":41,"sign":"00112233aabbccdd","recorded":7},
        "foundMark":{"identity":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","decision":38,"sign":"8899aabbccddeeff","recorded":5}}}
        """,
        "POST /v1/store/accept": """
        {"mark":{"identity":"f0e1d2c3b4a5968778695a4b3c2d1e0f","decision":39,"sign":"aa99aabbccddeeff","recorded":5}}
        """,
    ]

    private static let streams = [
        "GET /v1/campaigns/0123456789ab/events":
            ["running", "completed"].map { state in
                let json = campaign(
                    "0123456789ab", state, "null", accepted: state == "running" ? 5000 : 9000,
                    pending: state == "running" ? 4000 : 0)
                return "event: campaign\ndata: \(json.replacing("\n", with: ""))\n\n"
            }.joined(),
        "GET /v1/store/check": """
        {"begins":"the database itself"}
        {"begins":"counts of campaigns"}
        {"faults":[{"check":"counts of campaigns","detail":"campaign 0123456789ab counts 9000 accepted, its list 8999"}]}

        """,
        "POST /v1/store/prune": """
        {"campaigns":1,"deliveries":10000,"isDone":false}
        {"campaigns":2,"deliveries":20000,"webhooks":3,"alerts":1,"devices":90,"notifications":4,"isDone":true}

        """,
    ]
}
