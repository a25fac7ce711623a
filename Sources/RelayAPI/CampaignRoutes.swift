// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import WireFormat

extension API {
    func campaigns(_ query: inout Query) throws -> Response {
        let limit = query.limit(default: 50)
        let cursor = query.cursor(.campaigns)
        try query.finish()
        let records = try store.campaigns(before: cursor.map(CampaignKey.init(row:)), limit: limit + 1)
        return .page(records, limit: limit, cursor: { Cursor.text(.campaigns, $0.key.row) }) {
            $0.campaign(control.status($1))
        }
    }

    func campaign(_ id: String) throws -> Response {
        let status = control.status(try record(id))
        return .json { $0.campaign(status) }
    }

    func campaignEvents(_ id: String) throws -> Response {
        let record = try record(id)
        guard let slot = streams.take() else {
            throw ProblemDetails(
                503, "\(settings.limits.eventStreams) event streams are open, which is the most that are served",
                headers: [("Retry-After", "5")])
        }
        let events = CampaignEvents(api: self, campaign: record.key, slot: slot)
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
            ],
            body: .stream(events))
    }

    /// - Throws: a 404.
    func record(_ id: String) throws -> CampaignRecord {
        guard let record = try store.campaign(id: id) else {
            throw ProblemDetails(404, "there is no campaign \"\(JSONValue.shortened(id))\"")
        }
        return record
    }
}
