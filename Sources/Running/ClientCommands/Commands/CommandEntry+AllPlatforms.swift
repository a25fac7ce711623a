// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import Terminal
import UpgradeRules
import WireFormat

/// One release on all platforms of an app: one question, one request, and an answer with each platform's part.
extension CommandEntry {
    /// The options that differ by platform, as a version code does.
    private static let ofOnePlatform = ["required-build", "latest-build", "minimum-os", "download-url"]

    static func setOnAll(_ run: ClientRun) async throws -> ExitCode {
        let app = try run.arguments.require("APP")
        for option in ofOnePlatform where run.arguments.value(option) != nil {
            throw UsageError(
                "--\(option) differs by platform; \"\(AppArguments.all)\" takes what is the same on each",
                suggestion: "version set \(app) ios --\(option) …")
        }
        let reply = try await run.send(bump: BumpArguments.body(run.arguments), toAllOf: app)
        let parts = reply.json.list(.platforms).map { part in
            bumped("\(app) \(part.shown(.platform))", part[.result] ?? .null, hasRisen: part[.status]?.integer == 202)
        }
        run.show(reply.text, parts.joined(separator: "\n"))
        return .done
    }
}

extension ClientRun {
    /// Sends a bump for all platforms of an app. On a terminal, its effect on the phones of each is shown first and needs a yes.
    fileprivate func send(bump: JSONValue, toAllOf app: String) async throws -> RelayClient.Reply {
        let client = try client()
        let places = try await AppArguments.places(client, of: app)
        guard !places.isEmpty else {
            throw CommandFailure(.failed, "no app \"\(app)\"", hint: "\"upgrade-relay version show\" lists all")
        }
        let shared = bump.object ?? []
        // Read before the plans, so that a change in between is found when the bump is sent.
        var own: [[JSONMember]] = []
        for place in places {
            own.append(try await look(APIRequest("GET", place.path("version"))).carried(.raise))
        }
        if arguments.flag("yes") {
            for index in own.indices { own[index] += Self.confirmed(Self.named(by: bump)) }
        } else if console.canAsk {
            var (effects, devices, isAsked): ([String], Int64, Bool) = ([], 0, false)
            for (index, place) in places.enumerated() {
                guard let run = try await dryRun(of: shared, at: place) else { continue }
                if run.needsAnswer { isAsked = true }
                devices += run.plan[.toPush]?.integer ?? 0
                effects.append("\(place.platform)\n\(PlanText.summary(run.plan))")
                own[index] += Self.confirmed(run.doubts)
            }
            if isAsked {
                let version = (bump[.required] ?? bump[.latest])?.string ?? app
                let names = places.map(\.platform).joined(separator: " and ")
                let words = ActWords(.raise, "\(version) of \(app) on \(names)", devices: devices)
                try await Confirmation.obtain(self, words) { effects.joined(separator: "\n") }
            }
        }
        let parts = zip(places, own).map { JSONMember(name: $0.platform, value: .object($1)) }
        let platforms = JSONMember(
            name: Field.platforms.rawValue, value: .array(places.map { .string($0.platform) }))
        return try await client.reply(
            to: APIRequest(
                "PUT", ["v1", "apps", app, "version"], json: .object(shared + [platforms] + parts + arguments.alone)))
    }
}
