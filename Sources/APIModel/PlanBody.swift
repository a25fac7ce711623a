import RelayEngine
// SPDX-License-Identifier: Apache-2.0
package import RelayStore
import UpgradeRules
package import WireFormat

/// What a dry run of a bump came to.
package struct PlanBody<Payload: Sendable>: Sendable {
    package let app: String
    package let platform: String
    package let audience: Int64
    package let toPush: Int64
    /// Every reason, those of nobody too.
    package let filteredBy: [String: Int64]
    package let warnings: [String]
    /// One push: its bytes where it is written, and what the reader makes of JSON where it is read.
    package let samplePayload: Payload
    /// As it goes over the wire, which what was read no longer says.
    package let samplePayloadSize: Int64

    package var filtered: Int64 { audience - toPush }
}

extension PlanBody: Decodable where Payload: Decodable {}

extension PlanBody: APIBody where Payload == [UInt8] {
    package init(app: AppKey, survey: AudienceSurvey, warnings: [String], samplePayload: [UInt8]) {
        self.app = app.app
        platform = app.platform.rawValue
        audience = survey.audience
        toPush = survey.toPush
        filteredBy = Dictionary(
            uniqueKeysWithValues: FilterReason.allCases.map { ($0.rawValue, survey.filteredBy[$0] ?? 0) })
        self.warnings = warnings
        self.samplePayload = samplePayload
        samplePayloadSize = Int64(samplePayload.count)
    }

    package func writeMembers(to writer: inout JSONWriter) {
        writer.member(CodingKeys.app, app)
        writer.member(CodingKeys.platform, platform)
        writer.member(CodingKeys.audience, audience)
        writer.member(CodingKeys.toPush, toPush)
        writer.name(CodingKeys.filteredBy)
        writer.object { writer in
            for reason in FilterReason.allCases { writer.member(reason.rawValue, filteredBy[reason.rawValue]) }
        }
        writer.member(CodingKeys.warnings, strings: warnings)
        writer.name(CodingKeys.samplePayload)
        writer.raw(samplePayload)
        writer.member(CodingKeys.samplePayloadSize, samplePayloadSize)
    }
}
