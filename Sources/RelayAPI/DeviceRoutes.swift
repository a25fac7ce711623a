// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore

extension API {
    func device(_ app: AppKey, token: String) throws -> Response {
        try require(app)
        guard let record = try store.device(app, token: Self.checked(token, app)) else { throw Self.noDevice(app) }
        return .json { $0.device(record) }
    }

    func registerDevice(_ app: AppKey, token: String, body: [UInt8]) throws -> Response {
        try require(app)
        let registration = try DeviceFields.read(body, app: app, token: Self.checked(token, app))
        let counts = try store.register([registration], at: now())
        guard let record = try store.device(app, token: registration.token) else { throw Self.noDevice(app) }
        // RFC 9110 section 9.3.4: a PUT that creates answers 201.
        return .json(counts.inserted > 0 ? 201 : 200) { $0.device(record) }
    }

    func removeDevice(_ app: AppKey, token: String) throws -> Response {
        try require(app)
        guard try store.removeDevice(app, token: Self.checked(token, app)) else { throw Self.noDevice(app) }
        return .noContent
    }

    func exportDevices(_ app: AppKey) throws -> Response {
        try require(app)
        return Response(
            status: 200, headers: [("Content-Type", "application/x-ndjson")],
            body: .stream(DeviceExport(store: store, app: app, stop: stop)))
    }

    private static func checked(_ token: String, _ app: AppKey) throws -> String {
        switch DeviceFields.normalized(token, platform: app.platform) {
        case .success(let token): token
        case .failure(let fault): throw Problem(field: "token", fault.reason)
        }
    }

    private static func noDevice(_ app: AppKey) -> Problem {
        Problem(404, "no device of this app has this token")
    }
}
