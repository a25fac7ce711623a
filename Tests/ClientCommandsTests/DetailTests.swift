// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import Testing
import WireFormat

@testable import ClientCommands
@testable import Terminal

/// A command that shows one object shows each of its members, or the list below says why it does not: a new member of the document
/// cannot be forgotten there.
@Suite struct DetailTests {
    struct Detail: Sendable, CustomTestStringConvertible {
        var command: String
        /// The path of the answer, and the name of its schema.
        var path: String
        var schema: String
        /// Values of members that the document's example does not have.
        var others: String = "{}"
        /// Members that are not shown, each with the reason.
        var leftOut: [String: String] = [:]

        var testDescription: String { command }
    }

    private static let forAct = "for a program: what a person confirms is sent back with it"
    private static let named = "the command names it"
    private static let details = [
        Detail(
            command: "campaigns show 1f0c2ab93d44", path: "/v1/campaigns/1f0c2ab93d44", schema: "Campaign",
            others: """
                {"state":"running","finishedAt":"2026-01-31T10:00:00.000Z","waitingUntil":"2026-01-31T11:00:00.000Z",
                "nextReminderAt":"2026-02-03T09:00:00.000Z","reason":"outside the app's hours","message":"Please upgrade",
                "blocked":"2.1.5","canary":{"phase":"alone","telephones":3,"endedAt":null,"releasedAt":null},
                "telephones":["13800000001"],"wait":{"reason":"hours","standing":"planned","until":null},
                "rollout":{"steps":["its canary","everybody"],"next":"everybody"},"now":{"at":"2026-01-31T09:00:00.000Z","by":"eva"},
                "shown":{"ifState":"running"},"sentence":"2.0.0: paused.","ratePerSecond":1200,"secondsLeft":90,"rejectedBy":{"BadDeviceToken":3},
                "channels":[{"channel":"production","accepted":5,"rejected":0,"unregistered":0}],
                "rounds":[{"type":"retry","states":["rejected"],"dueAt":null,"begunAt":"2026-01-31T09:00:00.000Z","devices":3}]}
                """,
            leftOut: [
                "shown": forAct, "effects": "a question before an act shows its own",
                "sentence": "the answer to an act has it",
                "telephones": "the canary's number of users is shown",
            ]),
        Detail(
            command: "devices show aa --app com.example.app --platform ios",
            path: "/v1/apps/com.example.app/ios/devices/aa", schema: "Device",
            others: """
                {"osVersion":"17.4","country":"NL","provider":"fcm","retiredAt":"2026-01-31T09:00:00.000Z"}
                """),
        Detail(
            command: "version show com.example.app ios", path: "/v1/apps/com.example.app/ios/version",
            schema: "VersionHistory",
            others: """
                {"inForce":"1.9.0","message":"Please upgrade","messages":{"nl":"Werk bij"},"telephones":["13800000001"],
                "minimumOs":"16.0","requiredFrom":"2026-02-01T09:00:00.000Z","blocked":["2.1.5"],
                "inForceReason":"listed by the store","waitingReason":"the store does not offer it yet",
                "waitingUntil":"2026-02-01T09:00:00.000Z","releasable":{"ifVersion":"2.0.0"},"shown":{"ifVersion":"2.0.0"},
                "approvals":[{"id":3,"app":"com.example.app","platform":"ios","act":"raise","deed":"require 2.1.0",
                "version":"2.1.0","askedBy":"ada","askedAt":"2026-01-31T09:00:00.000Z","until":"2026-02-01T09:00:00.000Z",
                "devices":4,"of":10,"state":"open","reason":null}],
                "builds":{"latest":2105,"required":2100},"warnings":["latest is not in the store"],
                "blocks":[{"version":"2.1.5","state":"inForce","inForceSince":"2026-01-31T09:00:00.000Z","waitingReason":null,
                "waitingUntil":null,"minimumOs":null,"downloadUrl":null,"message":null,"messages":null}]}
                """,
            leftOut: [
                "app": named, "platform": named, "shown": forAct, "releasable": forAct,
                "blocked": "its blocks are shown, with their states",
            ]),
    ]

    @Test("each member is shown", arguments: details)
    func showsAll(_ detail: Detail) async throws {
        let document = try Self.document.get()
        let members = Self.members(of: detail.schema, in: document)
        try #require(members.count > 5)
        let whole = try await Self.sample(detail, members)
        let text = try await Self.shown(detail, whole)
        for member in members {
            guard let value = whole[member], value != .null else {
                Issue.record("\(member): a value of it is missing in `others`")
                continue
            }
            let without = JSONValue.object(Self.members(whole).filter { $0.name != member })
            let isShown = try await Self.shown(detail, without) != text
            if let reason = detail.leftOut[member] {
                #expect(!isShown, "\(member) is shown, and the list says why it is not: \(reason)")
            } else {
                #expect(isShown, "\(member) is not shown")
            }
        }
        #expect(Set(detail.leftOut.keys).isSubset(of: members))
    }

    // MARK: The document

    private static let document = Result {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/C/COpenAPI/openapi.json")
        return try JSONReader.read(Array(Data(contentsOf: path)))
    }

    private static func members(_ value: JSONValue?) -> [JSONMember] {
        if case .object(let members)? = value { members } else { [] }
    }

    private static func members(of schema: String, in document: JSONValue) -> [String] {
        members(document.find(["components", "schemas", schema, "properties"])).map(\.name)
    }

    /// The document's example, with `others` in place of its own values: a state in which every member says something.
    private static func sample(_ detail: Detail, _ members: [String]) async throws -> JSONValue {
        let answer = try await DocumentedTransport().send(
            APIRequest("GET", detail.path.split(separator: "/").map(String.init)))
        let example = try JSONReader.read(answer.body)
        let others = try JSONReader.read(Array(detail.others.utf8))
        return .object(
            members.compactMap { name in
                (others[name] ?? example[name]).map { JSONMember(name: name, value: $0) }
            })
    }

    private static func shown(_ detail: Detail, _ answer: JSONValue) async throws -> String {
        let transcript = Transcript()
        let code = await transcript.run(
            detail.command.split(separator: " ").map(String.init),
            ScriptedTransport(["GET \(detail.path)": (200, answer.text())]))
        try #require(code == .done, "\(transcript.err)")
        return transcript.out
    }
}
