// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import RelayEngine
package import UpgradeRules

/// The provider of devices that the app's configuration has no push service for: it refuses each push before anything is sent.
///
/// Such devices have a token of a service whose part of the configuration is missing, or has been removed.
package struct MissingProvider: PushProvider {
    private let missing: ProviderName

    package init(_ missing: ProviderName) { self.missing = missing }

    /// The reason of each of its pushes.
    package static let reason = "ProviderNotConfigured"

    package var name: String { missing.text }
    package var identity: AnyHashable { "\(missing.rawValue) \(Self.reason)" }
    package var credential: AnyHashable { identity }
    package var answerJudge: any AnswerJudge { Judge() }
    package var bytesPerPush: Int { 0 }

    package func check(_ payload: UpgradePayload, longestTelephone: Int) throws {}

    package func template(
        for payload: UpgradePayload, of campaign: String, authority: String, expiresAt: Timestamp, at now: Timestamp
    ) throws -> PushTemplate {
        PushTemplate(request: RequestTemplate(fields: [], body: [], slotCount: 0), credentialMadeAt: now)
    }

    package func append(_ targets: [PushTarget], of arena: [UInt8], campaign: [UInt8], to batch: RequestBatch) {}

    package func refusals(
        of targets: [PushTarget], in arena: [UInt8], _ payload: UpgradePayload
    ) -> [(place: Int, reason: String)] {
        targets.indices.map { ($0, Self.reason) }
    }

    package func outcome(of answer: Answer, in batch: RequestBatch, at now: Timestamp) -> PushOutcome {
        .rejected(reason: Self.reason)
    }

    package var knownReasons: Set<String> { [Self.reason] }

    package func renewCredential(after template: PushTemplate, at now: Timestamp) throws -> CredentialRenewal { .kept }

    package func explain(
        _ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)?, _ place: SendingPlace
    ) -> String {
        "\(reason): the configuration has no \(place.section).\(missing.rawValue)"
    }

    /// Nothing is sent, so nothing is answered.
    private struct Judge: AnswerJudge {
        func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
            (.keep, AnswerReading())
        }
    }
}
