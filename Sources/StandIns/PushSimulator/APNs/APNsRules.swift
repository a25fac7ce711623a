// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// APNs' side of a simulator (PROTOCOLS part 1).
final class APNsRules: ServiceRules {
    private var check: RequestCheck

    init(_ team: APNsTeam) {
        check = RequestCheck(topics: team.topics, teamID: team.teamID, keys: team.keys, world: team.world)
    }

    /// Only one stream until a valid token was seen (PROTOCOLS 1.7).
    var firstStreams: Int? { 1 }
    var credentials: Int { check.providerTokens }

    /// Keeps the client's id for the answer if it has an id's length. Any other is refused, and the answer gets a new id.
    func begin(_ slot: StreamSlot) {
        if let id = slot.headers[.id] { slot.takeID(id) }
        slot.ensureID()
    }

    func answerToOther(_ slot: StreamSlot, now: Int64, under judge: RequestJudge) -> PushAnswer? { nil }

    func verdict(
        on slot: StreamSlot, credential: inout ConnectionCredential, now: Int64, under judge: RequestJudge
    ) -> Verdict {
        let verdict = check.judge(
            slot.headers, payload: slot.payload, payloadSize: slot.payloadSize, credential: &credential, now: now)
        if case .accepted = verdict, let keyID = credential.current?.keyID, judge.faults.isRevoked(keyID: keyID) {
            return .rejected(.invalidProviderToken)
        }
        return verdict
    }

    func target(_ place: Int, of slot: StreamSlot) -> UInt64 { ShortHash.ofToken(slot.headers.deviceToken ?? []) }

    /// Leaves the body of a 200 empty.
    func writeBody(of answer: PushAnswer, into slot: StreamSlot) {
        guard let reason = answer.reason else { return }
        slot.body += #"{"reason":""#.utf8
        reason.word.withUTF8Buffer { unsafe slot.body.append(contentsOf: $0) }
        slot.body.append(UInt8(ascii: "\""))
        if let timestamp = answer.timestamp {
            slot.body += #","timestamp":"#.utf8
            slot.body += String(timestamp).utf8
        }
        slot.body.append(UInt8(ascii: "}"))
    }

    func field(of answer: PushAnswer) -> AnswerHeader { .id }

    func record(_ slot: StreamSlot, into line: inout JSONWriter) {
        let headers = slot.headers
        line.member("apnsId", String(decoding: slot.id, as: UTF8.self))
        line.member("token", Self.text(headers.deviceToken ?? []))
        line.member("topic", Self.text(headers[.topic] ?? []))
        line.name("headers")
        line.object { fields in
            for header in [KnownHeader.pushType, .priority, .expiration, .collapseID] {
                if let value = headers[header] { fields.member(header.name.description, Self.text(value)) }
            }
        }
    }

    /// A header value may hold any byte above 0x7f (RFC 9110 section 5.5); JSON has to be UTF-8.
    private static func text(_ value: ArraySlice<UInt8>) -> String { String(decoding: value, as: UTF8.self) }

    func goAwayText(_ reason: String) -> [UInt8] { Array(#"{"reason":"\#(reason)"}"#.utf8) }

    func scriptChanged() {}
}
