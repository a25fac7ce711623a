// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
package import Requirements
import WireFormat

extension API {
    func campaigns(_ query: inout Query, _ caller: Caller) throws -> Response {
        let limit = query.limit(default: 50)
        let cursor = query.cursor(.campaigns)
        let app = query.text("app")
        let state = query.choice("state", of: CampaignState.allCases, \.rawValue)
        try query.finish()
        let page = try Page(
            limit: limit, after: cursor, position: \.key.row, cursor: { Cursor.text(.campaigns, $0) },
            isVisible: { record in
                caller.maySee(record.app) && (app ?? record.app.app) == record.app.app
                    && (state ?? record.state) == record.state
            }
        ) { try store.campaigns(before: $0.map(CampaignKey.init(row:)), limit: $1) }
        let statuses = try page.items.map(control.requirements.status)
        return .json { $0.page(statuses, next: page.next) { $0.campaign($1, for: caller.sight) } }
    }

    func campaign(_ id: String, _ caller: Caller) throws -> Response {
        let record = try record(id, caller)
        let status = try control.requirements.status(record)
        let latency = try latency(of: record)
        return .json { $0.campaign(status, for: caller.sight, hasEffects: true, latency: latency) }
    }

    func adoption(_ id: String, _ caller: Caller) throws -> Response {
        let key = try record(id, caller).key
        guard let adoption = try store.adoption(of: key) else { throw ProblemDetails(500, "a campaign was lost") }
        let now = settings.clock()
        let shares = try store.versionShares(of: adoption.record.app)
        return .json { $0.object(ShownAdoption(adoption: adoption, shares: shares, at: now), ShownAdoption.shape) }
    }

    /// Without a body, the rejected, cancelled and expired deliveries are sent again.
    func retryCampaign(_ id: String, body: [UInt8], _ caller: Caller) throws -> Response {
        let campaign = try record(id, caller)
        var states = Set(CampaignRound.retried)
        let carried = try Self.carried(.retry, body, mayBeUrgent: true) { fields in
            states = Self.states(&fields) ?? states
        }
        let status = try control.requirements.retry(
            campaign: campaign.id, states: states, isUrgent: carried.isUrgent,
            by: caller.actor.confirming(carried.shown, of: campaign.key))
        return .json { $0.campaign(status, for: caller.sight, after: .retry) }
    }

    /// The body of an act.
    struct Carried {
        var shown = Shown()
        var isUrgent = false
        /// Why a person acts alone; nil: it does not.
        var alone: String?
    }

    /// Reads an act's optional body: the confirmed facts, `{"now": true}` where the act begins pushes, and `alone` where
    /// the act may wait for a second person.
    ///
    /// - Parameter more: reads further members.
    static func carried(
        _ act: ActKind, _ body: [UInt8], mayBeUrgent: Bool, more: (inout BodyFields) -> Void = { _ in }
    ) throws -> Carried {
        guard !body.isEmpty else { return Carried() }
        var fields = try BodyFields(body)
        more(&fields)
        var carried = Carried()
        carried.isUrgent = mayBeUrgent && fields.bool(Field.now.rawValue)
        if act.mayWait { carried.alone = Self.alone(&fields) }
        carried.shown = Shown(act, in: &fields)
        try fields.finish()
        return carried
    }

    /// Returns nil where the states are left out or refused.
    private static func states(_ fields: inout BodyFields) -> Set<DeliveryState>? {
        guard let value = fields.take(Field.states.rawValue) else { return nil }
        let names = CampaignRound.retried.map(\.name)
        let states = value.array?.compactMap { element in
            CampaignRound.retried.first { $0.name == element.string }
        }
        guard let states, !states.isEmpty, states.count == value.array?.count else {
            fields.refuse(
                Field.states.rawValue,
                "an array of one or more of \(names.joined(separator: ", ")) is needed; got \(value.sight)")
            return nil
        }
        return Set(states)
    }

    func campaignEvents(_ id: String, _ call: Call) throws -> Response {
        let record = try record(id, call.caller)
        let limits = settings.limits
        let slot = try (call.head.door == .control ? localStreams : streams).take(
            for: call.caller.places,
            busy:
                "too many event streams are open: \(limits.eventStreams) are served, \(limits.eventStreamsOfToken) to one API token or "
                + "app, and to none more than are left for others",
            retryAfter: 5)
        return .events(CampaignEvents(api: self, campaign: record.key, sight: call.sight, slot: slot))
    }

    /// - Throws: a 404, also for a campaign that the caller may not see.
    package func record(_ id: String, _ caller: Caller) throws -> CampaignRecord {
        guard let record = try store.campaign(id: id), caller.maySee(record.app) else {
            throw ProblemDetails(404, "there is no campaign \"\(JSONValue.shortened(id))\"")
        }
        return record
    }
}
