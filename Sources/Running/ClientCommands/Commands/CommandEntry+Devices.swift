// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayStore
import Requirements
import Terminal
import UpgradeRules
import WireFormat

extension CommandEntry {
    /// A device by its token, or a user's devices by the phone number.
    private enum Target {
        case token(String)
        case telephone(String)

        init(_ run: ClientRun) throws(UsageError) {
            let tokens = [
                run.arguments.positional("TOKEN"), run.arguments.value("device"), run.connection.deviceToken,
            ].compactMap(\.self)
            let telephone = run.arguments.value("telephone")
            guard tokens.count + (telephone == nil ? 0 : 1) == 1 else {
                throw UsageError("one of TOKEN, --token (with --url: --device) and --telephone is needed")
            }
            if telephone == "" { throw UsageError("--telephone: a phone number is needed") }
            self = telephone.map(Target.telephone) ?? .token(tokens.first ?? "")
        }
    }

    static let devicesShow = client(
        "devices show",
        tokenIsDevice: true
    ) { run in
        switch try Target(run) {
        case .telephone(let telephone):
            let reply = try await devices(of: telephone, run)
            guard !reply.items.isEmpty else {
                throw CommandFailure(
                    .failed, "no device has this phone number",
                    hint: UserText.similar(reply.json).map(UserText.known)
                        ?? "it must be spelt as the app sends it")
            }
            run.show(reply.text, reply.items.map(details).joined(separator: "\n"))
            if !run.connection.isJSON, reply.json[.next]?.string != nil {
                run.console.writeError("there are more: \"upgrade-relay devices export --telephone\" writes all\n")
            }
        case .token(let token):
            let (_, reply) = try await search(token, run)
            run.show(reply.text, details(reply.json))
        }
        return .done
    }

    private static func details(_ device: JSONValue) -> String {
        var fields = [
            ("token", device.shown(.token)), ("app", device.place),
            ("phone number", device.shown(.telephone, or: "-")),
            ("version", device.shown(.version, or: "-")),
        ]
        for field in DeviceField.values {
            let value = device.shown(of: field)
            if let noun = field.noun, !value.isEmpty { fields.append(("\(noun)", value)) }
        }
        if let provider = device[.provider]?.string { fields.append(("provider", provider)) }
        fields += [
            ("environment", device.shown(.environment, or: "-")), ("registered", device.shown(.registeredAt, or: "-")),
        ]
        if let retired = device[.retiredAt]?.string { fields.append(("dead since", retired)) }
        return TextTable.fields(fields)
    }

    static let devicesRemove = client(
        "devices remove",
        tokenIsDevice: true
    ) { run in
        switch try Target(run) {
        case .telephone(let telephone):
            let known = try await devices(of: telephone, run)
            try await Confirmation.obtain(run, ActWords(.eraseUser, "this user")) { devicesTable(known) }
            // With more than a page, the number of devices is unknown.
            let isWhole = known.json[.next]?.string == nil
            let shown = isWhole ? [JSONValue.member(.devices, .integer(Int64(known.items.count)))] : []
            let query = try [("telephone", telephone)] + AppArguments.query(run)
            let request = try APIRequest("DELETE", ["v1", "users"], query: query).carrying(shown)
            let reply = try await run.client().reply(to: request)
            run.show(reply.text, reply.json.sentence)
        case .token(let token):
            let (place, device) = try await search(token, run)
            try await Confirmation.obtain(run, ActWords(.removeDevice, "this device")) { details(device.json) }
            let shown = [JSONValue.member(.text, device.json[.telephone])]
            _ = try await run.client().reply(
                to: APIRequest("DELETE", place.path("devices", token)).carrying(shown))
            run.show(
                [
                    "app": .string(place.app), "platform": .string(place.platform), "token": .string(token),
                    "removed": .bool(true),
                ],
                ActWords(.removeDevice, DisplayWidth.sanitised("the device of \(place.app) \(place.platform)")).lines)
        }
        return .done
    }

    private static func devices(of telephone: String, _ run: ClientRun) async throws -> RelayClient.Reply {
        let query = try [("telephone", telephone)] + AppArguments.query(run) + [("limit", "1000")]
        return try await run.client().reply(to: APIRequest("GET", ["v1", "devices"], query: query))
    }

    /// The devices as the confirmation shows them.
    private static func devicesTable(_ reply: RelayClient.Reply) -> String {
        var table = TextTable(["APP", "PLATFORM", "TOKEN", "VERSION", .time("REGISTERED")])
        for item in reply.items {
            table.add([
                item.shown(.app), item.shown(.platform), item.shown(.token), item.shown(.version, or: "-"),
                item.shown(.registeredAt, or: "-"),
            ])
        }
        if table.rows.isEmpty {
            let known = UserText.similar(reply.json).map(UserText.known)
            return "no device has this phone number; \(known ?? "there may be deliveries with it")\n"
        }
        return table.text + (reply.json[.next]?.string == nil ? "" : "and more\n")
    }

    /// Finds the one device with the token, in one app or in all.
    ///
    /// - Throws: `CommandFailure` where no device or more than one has it.
    private static func search(
        _ token: String, _ run: ClientRun
    ) async throws -> (AppArguments.Place, RelayClient.Reply) {
        let client = try run.client()
        var found: [(place: AppArguments.Place, RelayClient.Reply)] = []
        for place in try await AppArguments.places(run) {
            let answer = try await client.transport.send(APIRequest("GET", place.path("devices", token)))
            // A token that this platform cannot have is not on any of its devices.
            if answer.status == 404 || (answer.status == 422 && run.arguments.value("app") == nil) { continue }
            guard answer.isSuccess else { throw Problem(answer).failure }
            found.append((place, try RelayClient.Reply(answer)))
        }
        guard let first = found.first else { throw CommandFailure(.failed, "no device has this token") }
        guard found.count == 1 else {
            let places = found.map { "\($0.place.app) \($0.place.platform)" }.joined(separator: ", ")
            throw CommandFailure(.failed, "several apps have this token: \(places)", hint: "say --app and --platform")
        }
        return first
    }

    static let devicesExport = client("devices export") { run in
        let query = try exportQuery(run.arguments)
        guard let export = try Export.asked(run, usual: .ndjson) else { return .failed }
        for place in try await AppArguments.places(run) {
            try await export.take(place.path("devices"), query: query)
        }
        try export.finish()
        return .done
    }

    private static func exportQuery(_ arguments: ParsedArguments) throws -> [(String, String?)] {
        if arguments.flag("dead"), arguments.flag("alive") {
            throw UsageError("--dead and --alive exclude each other")
        }
        if let text = arguments.value("below") {
            do {
                _ = try Version(text)
            } catch {
                throw UsageError("--below: \(error)")
            }
        }
        return [
            ("telephone", arguments.value("telephone")), ("below", arguments.value("below")),
            ("environment", arguments.value("environment")),
            ("dead", arguments.flag("dead") ? "true" : arguments.flag("alive") ? "false" : nil),
        ]
    }
}
