// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import WireFormat

extension API {
    func device(_ app: AppKey, token: String, by caller: Caller) throws -> Response {
        try require(app)
        guard let record = try store.device(app, token: Self.checked(token, app)) else { throw Self.noDevice(app) }
        return .json { $0.object(record, DeviceRecord.shape, for: caller.sight) }
    }

    func registerDevice(_ app: AppKey, token: String, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        let (registration, old) = try DeviceFields.read(body, app: app, token: Self.checked(token, app))
        let now = now()
        var isNew = false
        var replaced: DeviceReplacement?
        if let old {
            let outcome = try store.register(registration, replacing: old, at: now)
            (isNew, replaced) = (outcome.isNew, outcome.replaced)
        } else {
            isNew = try store.register([registration], at: now).inserted > 0
        }
        // As the store has it now: registering replaces all of it, and revives a retired device. Its id is not shown.
        let record = DeviceRecord(id: 0, registration: registration, registeredAt: now, retiredAt: nil)
        // RFC 9110 section 9.3.4: a PUT that creates answers 201.
        return .json(isNew ? 201 : 200) {
            $0.object(
                RegisteredDevice(record: record, replaced: replaced), RegisteredDevice.shape, for: caller.sight)
        }
    }

    func changeDevice(_ app: AppKey, token: String, body: [UInt8], by caller: Caller) throws -> Response {
        try require(app)
        let change = try DeviceFields.readChange(body, token: Self.checked(token, app), of: app.platform)
        guard let record = try store.change(change, of: app, at: now()) else { throw Self.noDevice(app) }
        return .json { $0.object(record, DeviceRecord.shape, for: caller.sight) }
    }

    func removeDevice(
        _ app: AppKey, token: String, _ query: inout Query, by caller: Caller
    ) throws -> Response {
        try require(app)
        let shown = Shown(.removeDevice, in: &query)
        try query.finish()
        guard
            try store.removeDevice(
                app, token: Self.checked(token, app), by: Signature(by: caller.actor.confirming(shown), at: now()))
        else { throw Self.noDevice(app) }
        return .noContent
    }

    func importDevices(_ call: Call) throws -> any BodyConsumer {
        try require(call.app)
        var query = call.query
        let isDryRun = query.flag("dryRun") ?? false
        try query.finish()
        return DeviceImport(api: self, app: call.app, pattern: call.route.pattern, isDryRun: isDryRun)
    }

    func exportDevices(_ call: inout Call) throws -> Response {
        if let since = call.query.text(Field.since.rawValue) { return try deadDevices(since: since, &call) }
        let app = call.app
        var query = call.query
        for name in ["limit", "cursor"] where query.text(name) != nil {
            query.refuse(name, "goes with dead=true and since; without since the list is answered to its end")
        }
        let form = query.form(call.head.headers["accept"], among: [.ndjson, .csv])
        let filter = DeviceFilter(&query)
        try query.finish()
        try require(app)
        let export = ListExport(
            form, LineFormat<DeviceRecord>.device, for: call.sight, stop: stop,
            isWanted: { $0.registration.app == app && filter.takes($0) },
            read: { [store] last, limit in
                let after = last?.id ?? 0
                let found =
                    try filter.telephone.map {
                        try store.devices(telephone: $0, token: nil, after: after, limit: limit)
                    } ?? store.devices(of: app, after: after, limit: limit)
                return (found, isLast: found.count < limit)
            })
        let similar = try filter.telephone.map { try userSearch.similar(to: $0) { $0 == app } } ?? []
        return export.response.naming(similar, for: call.sight)
    }

    private static func checked(_ token: String, _ app: AppKey) throws -> String {
        switch DeviceFields.normalized(token, platform: app.platform) {
        case .success(let token): token
        case .failure(let fault): throw ProblemDetails(field: "token", fault.reason)
        }
    }

    private static func noDevice(_ app: AppKey) -> ProblemDetails {
        ProblemDetails(404, "no device of this app has this token")
    }
}
