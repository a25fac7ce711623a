// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import VersionSources

extension API {
    func apps() throws -> Response {
        let records = try store.versions()
        return .json { $0.page(records, next: nil) { $0.version($1) } }
    }

    func version(_ app: AppKey, _ query: inout Query) throws -> Response {
        let limit = query.limit(default: 20)
        try query.finish()
        try require(app)
        let history = try store.history(of: app, limit: limit)
        let record = try store.version(of: app)
        return .json { writer in
            writer.object { writer in
                if let record {
                    writer.versionMembers(record)
                } else {
                    writer.app(app)
                    for name in ["latest", "required", "downloadUrl", "message", "telephones", "updatedAt"] {
                        writer.member(name, nil as String?)
                    }
                }
                writer.name("history")
                writer.array(history) { $0.change($1) }
            }
        }
    }

    func bump(_ app: AppKey, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        return try apply(BumpBody.read(body, app: app), by: caller, receipt: nil)
    }

    func plan(_ app: AppKey, body: [UInt8]) throws -> Response {
        try require(app)
        let report = try control.plan(BumpBody.read(body, app: app))
        return .json { writer in
            writer.object { writer in
                writer.app(app)
                writer.member("audience", report.survey.audience)
                writer.member("toPush", report.survey.toPush)
                writer.name("filteredBy")
                writer.filteredBy(report.survey.filteredBy)
                writer.name("samplePayload")
                writer.raw(report.samplePayload)
                writer.member("samplePayloadBytes", Int64(report.samplePayload.count))
            }
        }
    }

    func apply(_ bump: VersionBump, by caller: Caller, receipt: WebhookReceipt?) throws -> Response {
        let applied = try control.bump(
            bump, actor: caller.actor, source: caller.source, receipt: receipt, render: Self.answer(to:))
        switch applied {
        case .applied(_, let answer), .replayed(let answer): return .json(answer.status, answer.body)
        }
    }

    /// The answer to a bump. Called inside the store's transaction, so it asks nobody: a campaign that was born a moment
    /// ago has no rate.
    static func answer(to outcome: BumpOutcome) -> StoredAnswer {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("version")
            writer.version(outcome.record)
            writer.name("campaign")
            if let campaign = outcome.campaign {
                writer.campaign(
                    CampaignStatus(record: campaign, counts: campaign.counts, ratePerSecond: 0, secondsLeft: nil))
            } else {
                writer.null()
            }
        }
        return StoredAnswer(status: outcome.requiredRose ? 202 : 200, body: writer.bytes)
    }
}
