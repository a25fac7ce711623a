// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
import Requirements
import UpgradeRules
import VersionSources
import WireFormat

/// One release for several platforms of an app: each part is decided by itself, in its own transaction, and one answer has the
/// result of each. A body with a fault in any part changes none.
extension API {
    /// A platform's part, before it is decided.
    struct PlatformPart {
        var key: AppKey
        /// Reads the part, and throws for what is wrong in it; changes nothing.
        var read: () throws -> Void
        var decide: () throws -> Response
    }

    /// The bump of several platforms; without `platforms` of all that are configured.
    package func bump(platformsOf app: String, body: [UInt8], by caller: Caller) throws -> Response {
        let usual = Platform.allCases.filter { control.profile(of: AppKey(app: app, platform: $0)) != nil }
        guard !usual.isEmpty else { throw ControlError(.unknownApp, context: "no app \"\(app)\" in the configuration") }
        let bodies = try PlatformBodies(body, usual: usual)
        return try answer(
            bodies.parts.map { part in
                let key = AppKey(app: app, platform: part.platform)
                return PlatformPart(
                    key: key,
                    read: { [self] in
                        try require(key)
                        _ = try read(part.body, key)
                    }, decide: { [self] in try bump(key, body: part.body, by: caller) })
            }, at: "PUT /v1/apps/{app}/version")
    }

    /// A webhook's release for several platforms. Its signature is checked before anything in it is judged, and each part has a
    /// stored answer of its own, so that a repeated webhook decides only what was not decided.
    func versionWebhook(
        ofSeveral body: [UInt8], _ head: RequestHead, _ isSigned: (String) -> Void
    ) throws -> Response {
        let bodies = Result { try PlatformBodies(body, isWebhook: true) }
        let (id, caller) = try verified(head, body, for: try? bodies.get().app, isSigned)
        return try answer(
            bodies.get().parts.map { part in
                let webhook = BumpBody.Webhook(part.body)
                let key = webhook.app ?? AppKey(app: "", platform: part.platform)
                let receipt = WebhookReceipt(id: id, hook: "version/\(key.app)/\(part.platform.rawValue)", body: body)
                return PlatformPart(
                    key: key,
                    read: { [self] in
                        // A stored answer is given again, whatever the configuration says today.
                        if webhook.app != nil, try store.answer(to: receipt) != nil { return }
                        _ = try wish(of: webhook)
                    }, decide: { [self] in try settle(webhook, receipt, by: caller) })
            }, at: "POST /v1/webhooks/version")
    }

    private func answer(_ parts: [PlatformPart], at pattern: String) throws -> Response {
        try check(parts)
        var answers: [PlatformAnswer] = []
        for part in parts {
            do {
                let response = try part.decide()
                answers.append(PlatformAnswer(platform: part.key.platform, response))
            } catch {
                answers.append(PlatformAnswer(platform: part.key.platform, problem(error, at: pattern)))
            }
        }
        if let problem = PlatformAnswer.problem(answers) { throw problem }
        let result = PlatformResult(app: parts.first?.key.app ?? "", answers: answers)
        return .json(answers.map(\.status).max() ?? 200) { $0.object(result, PlatformResult.shape) }
    }

    /// Throws for all faults of all parts together; a fault that all parts have is named once, as it stands in the body.
    private func check(_ parts: [PlatformPart]) throws {
        var found: [(platform: Platform, problem: ProblemDetails)] = []
        for part in parts {
            do {
                try part.read()
            } catch {
                found.append((part.key.platform, ProblemDetails.of(error)))
            }
        }
        guard let first = found.first else { return }
        // No fault of a field: an app that is not configured, or a store that cannot be read.
        if let other = found.first(where: { $0.problem.faults.isEmpty }) { throw other.problem }
        var faults: [FieldFault] = []
        for (platform, problem) in found {
            for fault in problem.faults {
                let isOfAll = found.count == parts.count && found.allSatisfy { $0.problem.faults.contains(fault) }
                let named = isOfAll ? fault : FieldFault("\(platform.rawValue).\(fault.field)", fault.reason)
                if !faults.contains(named) { faults.append(named) }
            }
        }
        var problem = ProblemDetails(faults: faults)
        problem.status = first.problem.status
        throw problem
    }
}

/// The result of one platform's part of a release.
struct PlatformAnswer {
    var platform: Platform
    var status: Int
    /// The answer as this platform alone would have got it; nil: it failed.
    var body: [UInt8]?
    var problem: ProblemDetails?

    init(platform: Platform, _ response: Response) {
        (self.platform, status) = (platform, response.status)
        if case .bytes(let bytes) = response.body { body = bytes }
    }

    init(platform: Platform, _ problem: ProblemDetails) {
        (self.platform, status, self.problem) = (platform, problem.status, problem)
    }

    static let shape = Shape<PlatformAnswer>(
        "PlatformAnswer", "The result of one platform's part of a release.",
        [
            .member(.platform, .words(Platform.self)) { $0.platform.rawValue },
            .member(.status, .integer.within(200...202), "The status that this platform alone would have got.") {
                $0.status
            },
            ShapeMember(
                property: .init(
                    Field.result.rawValue,
                    Schema.anyOf([BumpResult.shape.reference, ShownApproval.askedShape.reference]).described(
                        "The answer that this platform alone would have got."))
            ) { writer, answer, _ in
                writer.name(Field.result.rawValue)
                writer.raw(answer.body ?? Array("null".utf8))
            },
        ])

    /// The problem of a release of which a part failed: that part's, with the results of the others; nil: none failed. A failure
    /// that may pass comes first, so that the sender sends the whole again.
    static func problem(_ answers: [PlatformAnswer]) -> ProblemDetails? {
        let failed = answers.filter { $0.problem != nil }.sorted { $0.status > $1.status }
        guard let worst = failed.first, var problem = worst.problem else { return nil }
        let parts = answers.map { answer in
            let name = answer.platform.rawValue
            guard let failure = answer.problem else {
                return "\(name): done (\(answer.status)); it stays so, and is not done twice"
            }
            return "\(name): not done (\(answer.status)): \(failure.detail)"
        }
        problem.detail = parts.joined(separator: "; ")
        problem.faults = failed.flatMap { answer in
            (answer.problem?.faults ?? []).map { FieldFault("\(answer.platform.rawValue).\($0.field)", $0.reason) }
        }
        problem.parts = answers
        return problem
    }

    /// The result of a part, beside the failure of another.
    static let failureShape = Shape<PlatformAnswer>([
        .member(.platform, .words(Platform.self)) { $0.platform.rawValue },
        .member(.status, .integer.within(200...599), "The status that this platform alone would have got.") {
            $0.status
        },
    ])
}

/// The answer to a release of several platforms.
struct PlatformResult {
    var app: String
    var answers: [PlatformAnswer]

    static let shape = Shape<PlatformResult>(
        "PlatformResult", "One release of several platforms: the result of each.",
        [
            .member(.app, .text) { $0.app },
            .list(.platforms, of: PlatformAnswer.shape) { $0.answers },
        ])
}
