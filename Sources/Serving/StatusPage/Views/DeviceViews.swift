// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Registry
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The lists of devices and of deliveries.
extension View {
    func devices(_ query: inout Query) throws -> Response {
        try need(.users)
        let app = query.filledText("app")
        let platform = query.filledText("platform").flatMap { Platform(rawValue: $0) }
        let cursor = query.cursor(.devices)
        let state = query.filledText("dead")
        let below = query.filledText("below")
        try query.finish()
        var items: [RequestTarget.QueryItem] = []
        if let state { items.append(.init(name: "dead", value: state)) }
        if let below { items.append(.init(name: "below", value: below)) }
        var filterQuery = Query(items)
        let filter = DeviceFilter(&filterQuery)
        try filterQuery.finish()
        let apps = api.control.apps().filter { maySee($0) }
        let chosen = apps.first { $0.app == app && $0.platform == platform } ?? apps.first
        let list = PagePath("page", "devices").with("app", chosen?.app).with("platform", chosen?.platform.rawValue)
            .with("dead", state).with("below", below)
        func read(_ key: AppKey, _ limit: Int, after start: Int64?) throws -> Page<DeviceRecord> {
            try Page(
                limit: limit, after: start, position: \.id, cursor: { Cursor.text(.devices, $0) },
                isVisible: filter.takes
            ) { try api.store.devices(of: key, after: $0 ?? 0, limit: $1) }
        }
        let found = try chosen.map { try read($0, 50, after: cursor) }
        // The relay keeps the count of all devices, and not of those that a filter takes.
        let all: ListTotal? = try chosen.map { key in
            guard state == nil, below == nil else { return try ListTotal { try read(key, $0, after: nil) } }
            return .exactly(try api.store.census().devices[key] ?? 0)
        }
        return page(say("Devices"), at: .devices) { html in
            filters(&html, PagePath("page", "devices")) { html in
                html.choice(
                    say("App"), name: "app", chosen: chosen?.app ?? "",
                    of: Set(apps.map(\.app)).sorted().map { ($0, $0) })
                html.choice(
                    say("Platform"), name: "platform", chosen: chosen?.platform.rawValue ?? "",
                    of: Platform.allCases.map { ($0.rawValue, $0.rawValue) })
                html.field(say("Older than version"), name: "below", value: below ?? "")
                html.choice(
                    say("Token"), name: "dead", chosen: state ?? "",
                    of: [("", say("Any")), ("false", say("alive")), ("true", say("dead"))])
            }
            total(&html, all)
            html.table(
                say("Devices"),
                [say("Token"), say("User"), say("Version")] + Self.shown.compactMap(\.noun).map { heading($0) }
                    + [say("Registered"), say("Dead since")]
            ) { html in
                for record in found?.items ?? [] { device(&html, record) }
            }
            if found?.items.isEmpty ?? true { html.tag("p", [.class("quiet")], text: say("There is none.")) }
            more(&html, list, found?.next)
            if let chosen {
                html.tag("p") { html in
                    html.link(
                        PagePath("v1", "apps", chosen.app, chosen.platform.rawValue, "devices").with("format", "csv"),
                        say("All devices as CSV"))
                }
            }
        }
    }

    private func device(_ html: inout HTML, _ record: DeviceRecord) {
        let registration = record.registration
        html.row(
            { $0.token(registration.token, sight) },
            [
                { $0.telephone(registration.telephone, sight) },
                { $0.text(registration.version?.text ?? "–") },
            ]
                + Self.shown.map { field in { $0.text(registration[field] ?? "–") } }
                + [{ $0.time(record.registeredAt) }, { $0.time(record.retiredAt) }])
    }

    /// The fields of a device that are shown beside its version.
    private static let shown = DeviceField.values.filter { $0.noun != nil }

    private func heading(_ noun: StaticString) -> String {
        let word = say(noun)
        return word.prefix(1).uppercased() + word.dropFirst()
    }

    /// The values of a device that it has and that are shown beside its version: "system 17.1".
    func values(of device: DeviceRegistration) -> [String] {
        Self.shown.compactMap { field in
            guard let noun = field.noun, let value = device[field] else { return nil }
            return "\(say(noun)) \(value)"
        }
    }

    // MARK: Deliveries

    func deliveries(_ query: inout Query) throws -> Response {
        try need(.status)
        let id = try query.filledText("campaign").map(wholeID)
        let filter = try API.deliveryFilter(&query, caller)
        let cursor = query.cursor(.deliveries)
        try query.finish()
        // Without a campaign, the deliveries of the newest one that the reader may see.
        let record =
            try id.map { try api.record($0, caller) }
            ?? api.store.campaigns(before: nil, limit: 100).first { maySee($0.app) }
        let found = try record.map { try api.store.deliveryPage(of: $0.key, filter, after: cursor ?? 0, limit: 50) }
        let isEmpty = found?.items.isEmpty ?? true
        let similar = try isEmpty ? api.similar(to: filter) { $0 == record?.app } : []
        let list = with(filter, PagePath("page", "deliveries").with("campaign", record?.id))
        return page(say("Deliveries"), at: .deliveries) { html in
            filters(&html, PagePath("page", "deliveries")) { html in
                html.field(say("Campaign"), name: "campaign", value: record?.id ?? "")
                html.choice(
                    say("State"), name: "state", chosen: filter.state?.name ?? "",
                    of: [("", say("Any"))] + DeliveryState.allCases.map { ($0.name, word($0)) })
                html.field(say("Reason"), name: "reason", value: filter.reason ?? "")
                if may(.users) {
                    html.field(
                        say("Phone number"), name: "telephone", value: filter.telephone ?? "",
                        [.named("inputmode", "tel")])
                }
            }
            if let record {
                html.tag("p") { html in
                    html.link(path(record), "\(name(record.app)): \(name(record.requirement.target))")
                }
            }
            if let record { total(&html, count(of: record, filter)) }
            html.table(
                say("Deliveries"),
                [say("Token"), say("User"), say("State"), say("Reason"), say("Attempts"), say("When")]
            ) { html in
                for delivery in found?.items ?? [] { self.delivery(&html, delivery, record) }
            }
            if isEmpty {
                html.tag("p", [.class("quiet")], text: say("There is none on this page."))
                known(&html, as: similar)
            }
            more(&html, list, found?.next.map { Cursor.text(.deliveries, $0) })
            if let record {
                html.tag("p") { html in
                    html.link(
                        with(filter, PagePath("v1", "campaigns", record.id, "deliveries")).with("format", "csv"),
                        say("These as CSV"))
                }
            }
        }
    }

    /// The number of a campaign's deliveries that a filter takes, as far as the campaign counts them.
    private func count(of record: CampaignRecord, _ filter: DeliveryFilter) -> ListTotal? {
        guard filter.telephone == nil, filter.token == nil else { return nil }
        let figures = record.figures
        switch (filter.state, filter.reason) {
        case (nil, nil): return .exactly(figures.counts.audience)
        case (let state?, nil): return .exactly(figures.counts[state])
        case (.filtered?, let reason?):
            return FilterReason(rawValue: reason).map { .exactly(figures.filteredBy[$0] ?? 0) }
        case (.rejected?, let reason?): return .exactly(figures.rejectedBy[reason] ?? 0)
        default: return nil
        }
    }

    /// The reason of a delivery: a rule of the relay in the page's words, a push service's as that says it.
    private func word(ofReason text: String?, _ record: CampaignRecord?) -> String {
        guard let text else { return "–" }
        guard let reason = FilterReason(rawValue: text) else { return text }
        return word(reason, isBlock: record?.requirement.target.isBlock ?? false)
    }

    private func with(_ filter: DeliveryFilter, _ path: PagePath) -> PagePath {
        path.with("state", filter.state?.name).with("reason", filter.reason).with("telephone", filter.telephone)
            .with("token", filter.token)
    }

    private func delivery(_ html: inout HTML, _ delivery: Delivery, _ record: CampaignRecord?) {
        html.row(
            { $0.token(delivery.token, sight) },
            [
                { $0.telephone(delivery.telephone, sight) },
                { $0.text(word(delivery.state)) }, { $0.foreign(word(ofReason: delivery.reason, record)) },
                { $0.text(String(delivery.attempts)) }, { $0.time(delivery.updatedAt) },
            ])
    }
}
