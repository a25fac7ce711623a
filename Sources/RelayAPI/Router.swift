// SPDX-License-Identifier: Apache-2.0
import RelayStore
import UpgradeRules

/// Method and path to route. Pure.
enum Router {
    enum Result: Hashable {
        case route(Route)
        case notFound
        case unknownPlatform(String)
        /// The path is there, but not for this method: for the `Allow` header (RFC 9110, section 15.5.6).
        case wrongMethod(allowed: [String])
    }

    static func route(method: String, segments: [String]) -> Result {
        switch resource(segments) {
        case .failure(.nothing): return .notFound
        case .failure(.platform(let name)): return .unknownPlatform(name)
        case .success(let methods):
            // RFC 9110 section 9.3.2: HEAD is GET without the content.
            if let route = methods[method == "HEAD" ? "GET" : method] { return .route(route) }
            return .wrongMethod(allowed: (methods.keys + (methods["GET"] == nil ? [] : ["HEAD"])).sorted())
        }
    }

    private enum Miss: Error {
        case nothing
        case platform(String)
    }

    /// What the path offers, by method.
    private static func resource(_ segments: [String]) -> Swift.Result<[String: Route], Miss> {
        if segments == ["healthz"] { return .success(["GET": .health]) }
        if segments == ["readyz"] { return .success(["GET": .readiness]) }
        if segments == ["openapi.json"] { return .success(["GET": .openAPI]) }
        if segments == ["metrics"] { return .success(["GET": .metrics]) }
        guard segments.count >= 2, segments[0] == "v1", !segments.contains("") else { return .failure(.nothing) }
        let rest = segments.dropFirst(2)
        let methods: [String: Route]
        switch segments[1] {
        case "apps": return apps(Array(rest))
        case "webhooks": return webhooks(Array(rest))
        case "campaigns": methods = campaigns(Array(rest))
        case "check": methods = rest.isEmpty ? ["GET": .check] : [:]
        case "deliveries": methods = rest.isEmpty ? ["GET": .deliveries] : [:]
        case "notifications": methods = rest.isEmpty ? ["GET": .notifications] : [:]
        case "log": methods = rest.isEmpty ? ["GET": .logLevel, "PUT": .setLogLevel] : [:]
        case "store": methods = store(Array(rest))
        case "tokens": methods = tokens(Array(rest))
        default: methods = [:]
        }
        return methods.isEmpty ? .failure(.nothing) : .success(methods)
    }

    private static func webhooks(_ path: [String]) -> Swift.Result<[String: Route], Miss> {
        switch (path.first, path.count) {
        case ("version", 1): return .success(["POST": .versionWebhook])
        case ("app-store-connect", 2): return .success(["POST": .appStoreConnectWebhook(app: path[1])])
        case ("github", 3), ("gitlab", 3):
            guard let platform = Platform(rawValue: path[2]) else { return .failure(.platform(path[2])) }
            let app = AppKey(app: path[1], platform: platform)
            return .success(["POST": path[0] == "github" ? .gitHubWebhook(app) : .gitLabWebhook(app)])
        default: return .failure(.nothing)
        }
    }

    private static func apps(_ path: [String]) -> Swift.Result<[String: Route], Miss> {
        if path.isEmpty { return .success(["GET": .apps]) }
        if path.count == 2, path[1] == "launchgate.json" { return .success(["GET": .launchGate(app: path[0])]) }
        guard path.count >= 3, ["version", "plan", "alert", "devices"].contains(path[2]) else {
            return .failure(.nothing)
        }
        guard let platform = Platform(rawValue: path[1]) else { return .failure(.platform(path[1])) }
        let app = AppKey(app: path[0], platform: platform)
        switch (path[2], path.count) {
        case ("version", 3): return .success(["GET": .version(app), "PUT": .bump(app)])
        case ("plan", 3): return .success(["POST": .plan(app)])
        case ("alert", 3): return .success(["GET": .alert(app), "PUT": .setAlert(app), "DELETE": .clearAlert(app)])
        case ("devices", 3): return .success(["GET": .exportDevices(app), "POST": .importDevices(app)])
        case ("devices", 4):
            return .success([
                "GET": .device(app, token: path[3]),
                "PUT": .registerDevice(app, token: path[3]),
                "DELETE": .removeDevice(app, token: path[3]),
            ])
        default: return .failure(.nothing)
        }
    }

    private static func campaigns(_ path: [String]) -> [String: Route] {
        switch path.count {
        case 0: return ["GET": .campaigns]
        case 1: return ["GET": .campaign(id: path[0])]
        case 2:
            if path[1] == "deliveries" { return ["GET": .campaignDeliveries(id: path[0])] }
            if path[1] == "events" { return ["GET": .campaignEvents(id: path[0])] }
            return CampaignMove(rawValue: path[1]).map { ["POST": .moveCampaign(id: path[0], $0)] } ?? [:]
        default: return [:]
        }
    }

    private static func store(_ path: [String]) -> [String: Route] {
        switch path {
        case []: ["GET": .store]
        case ["backup"]: ["GET": .backUpStore]
        case ["check"]: ["GET": .checkStore]
        case ["prune"]: ["POST": .pruneStore]
        default: [:]
        }
    }

    private static func tokens(_ path: [String]) -> [String: Route] {
        switch path.count {
        case 0: ["GET": .tokens, "POST": .createToken]
        case 1: ["DELETE": .revokeToken(name: path[0])]
        default: [:]
        }
    }
}
