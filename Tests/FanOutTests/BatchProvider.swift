// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import UpgradeRules

/// A push service of the kind that takes many tokens in a request and names the dead ones in its answer: "dead: a,b", with status
/// 200. "ok" is a good answer's body.
struct BatchProvider: PushProvider {
    struct Judge: AnswerJudge {
        func isGood(_ body: Span<UInt8>) -> Bool { body.count == 2 && body[0] == UInt8(ascii: "o") }
        func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
            (status == 403 ? .doubt : .keep, AnswerReading())
        }
        var longestBody: Int { 1 << 20 }
    }

    var pushesPerRequest = 100
    var name: String { "Batch" }
    var identity: AnyHashable { pushesPerRequest }
    var credential: AnyHashable { "batch" }
    var answerJudge: any AnswerJudge { Judge() }
    var transport: Transport { .libcurl }
    var bytesPerPush: Int { 70 }

    func check(_ payload: UpgradePayload, longestTelephone: Int) throws {}

    func template(
        for payload: UpgradePayload, of campaign: String, authority: String, expiresAt: Timestamp, at now: Timestamp
    ) throws -> PushTemplate {
        let fields: [RequestTemplate.Field] = [
            .init(":method", "POST"), .init(":scheme", "https"), .init(":authority", authority),
            .init(":path", "/send"),
        ]
        return PushTemplate(
            request: RequestTemplate(fields: fields, body: [.slot(0)], slotCount: 1), credentialMadeAt: now)
    }

    func append(_ targets: [PushTarget], of arena: [UInt8], campaign: [UInt8], to batch: RequestBatch) {
        for start in stride(from: 0, to: targets.count, by: pushesPerRequest) {
            let part = targets[start..<min(targets.count, start + pushesPerRequest)]
            batch.append(pushes: part.count) { request in
                request.appendSlot { bytes in
                    for (place, target) in part.enumerated() {
                        if place > 0 { bytes.append(UInt8(ascii: ",")) }
                        bytes += arena[target.token.range]
                    }
                }
            }
        }
    }

    func refusals(
        of targets: [PushTarget], in arena: [UInt8], _ payload: UpgradePayload
    ) -> [(place: Int, reason: String)] { [] }

    func outcome(of answer: Answer, in batch: RequestBatch, at now: Timestamp) -> PushOutcome {
        switch answer.kind {
        case .answered: break
        case .lost: return .retry(.transport, reason: "ConnectionLost")
        case .unreachable:
            return .retry(.unreachable(rest: .seconds(Int64(max(1, answer.retryAfter)))), reason: "NoConnection")
        case .open, .unsent: return .retry(.notSent, reason: "NotSent")
        }
        switch answer.status {
        case 200: return .accepted
        case 403: return .fault(reason: "Forbidden", .credential)
        default: return .retry(.service(retryAfter: nil), reason: "HTTP \(answer.status)")
        }
    }

    func outcomes(
        namedBy answer: Answer, in batch: RequestBatch, among targets: ArraySlice<PushTarget>, of arena: [UInt8],
        at now: Timestamp
    ) -> [PushException]? {
        guard answer.kind == .answered, answer.status == 200, answer.body >= 0 else { return nil }
        let text = String(decoding: batch.bodies[Int(answer.body)], as: UTF8.self)
        guard text.hasPrefix("dead: ") else { return nil }
        let dead = Set(text.dropFirst(6).split(separator: ",").map { Array($0.utf8) })
        return targets.indices.filter { dead.contains(Array(arena[targets[$0].token.range])) }
            .map { PushException(push: $0, outcome: .unregistered(reason: "Dead", since: now)) }
    }

    func renewCredential(after template: PushTemplate, at now: Timestamp) throws -> CredentialRenewal { .kept }
    var knownReasons: Set<String> { ["Dead", "Forbidden", "NotSent", "NoConnection", "ConnectionLost"] }

    func explain(
        _ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)?, _ place: SendingPlace
    ) -> String { "\(reason): \(fault)" }
}
