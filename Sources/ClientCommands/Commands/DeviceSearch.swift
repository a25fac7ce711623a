// SPDX-License-Identifier: Apache-2.0
import Terminal
import UpgradeRules

/// Finds the one device with a token, in one app or in all.
struct DeviceSearch: Sendable {
    struct Found: Sendable {
        var app: String
        var platform: String
        var path: String
        var reply: RelayClient.Reply
    }

    let token: String
    private let app: String?
    private let platform: Platform?

    init(_ arguments: ParsedArguments) throws {
        token = try arguments.require("TOKEN")
        app = arguments.value("app")
        platform = try arguments.value("platform").map(AppArguments.platform)
    }

    /// - Throws: `CommandFailure` where no device or more than one has the token.
    func run(_ client: RelayClient) async throws -> Found {
        var found: [Found] = []
        for place in try await AppArguments.known(client, app: app, platform: platform) {
            let path = APIPath.make(["v1", "apps", place.app, place.platform, "devices", token])
            // A token that cannot be one of this platform is none of its devices.
            let answer = try await client.transport.send(APIRequest("GET", path))
            if answer.status == 404 || (answer.status == 422 && app == nil) { continue }
            guard answer.isSuccess else { throw Problem(answer).failure }
            found.append(
                Found(app: place.app, platform: place.platform, path: path, reply: try RelayClient.reply(answer)))
        }
        guard let first = found.first else {
            throw CommandFailure(.failed, "no device has this token")
        }
        guard found.count == 1 else {
            let places = found.map { "\($0.app) \($0.platform)" }.joined(separator: ", ")
            throw CommandFailure(.failed, "several apps have this token: \(places)", hint: "say --app and --platform")
        }
        return first
    }
}
