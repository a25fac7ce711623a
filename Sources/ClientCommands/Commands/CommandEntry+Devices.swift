// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import VersionSources
import WireFormat

extension CommandEntry {
    private static let token = [PositionalSpec("TOKEN", "the device's push token")]

    static let devicesShow = client(
        ["devices", "show"], "Shows one device of the registry",
        discussion: "Without --app and --platform, every app is searched for the token.",
        positionals: token, options: AppArguments.options,
        examples: ["upgrade-relay devices show 740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"]
    ) { run in
        let (place, reply) = try await search(run)
        let device = reply.json
        var fields = [
            ("token", device.shown(.token, or: try run.arguments.require("TOKEN"))),
            ("app", "\(place.app) \(place.platform)"), ("telephone", device.shown(.telephone, or: "-")),
            ("version", device.shown(.version, or: "-")), ("environment", device.shown(.environment, or: "-")),
            ("registered", device.shown(.registeredAt, or: "-")),
        ]
        if let retired = device[.retiredAt]?.string { fields.append(("dead since", retired)) }
        run.show(reply.text, TextTable.fields(fields))
        return .done
    }

    static let devicesRemove = client(
        ["devices", "remove"], "Forgets a device: nothing is ever sent to it again",
        discussion: "Without --app and --platform, every app is searched for the token; it must be in one only.",
        positionals: token, options: AppArguments.options,
        examples: ["upgrade-relay devices remove TOKEN --app com.example.app --platform ios"]
    ) { run in
        let (place, _) = try await search(run)
        let token = try run.arguments.require("TOKEN")
        _ = try await run.client().reply(to: APIRequest("DELETE", place.path("devices", token)))
        run.show(
            [
                "app": .string(place.app), "platform": .string(place.platform), "token": .string(token),
                "removed": .bool(true),
            ],
            DisplayWidth.sanitised("removed from \(place.app) \(place.platform)") + "\n")
        return .done
    }

    /// The one device with the token, in one app or in all.
    ///
    /// - Throws: `CommandFailure` where no device or more than one has it.
    private static func search(_ run: ClientRun) async throws -> (AppArguments.Place, RelayClient.Reply) {
        let token = try run.arguments.require("TOKEN")
        let client = try run.client()
        var found: [(place: AppArguments.Place, RelayClient.Reply)] = []
        for place in try await AppArguments.places(run) {
            let answer = try await client.transport.send(APIRequest("GET", place.path("devices", token)))
            // A token that cannot be one of this platform is none of its devices.
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

    static let devicesExport = client(
        ["devices", "export"], "Writes the registry to standard output, as \"devices import\" reads it",
        discussion: """
            Telephones and tokens are written in full: keep the file as you would keep the database. registeredAt is when the \
            token was last registered, deadSince when the push service declared it dead; it is empty (null) for a living \
            one. Imported again, the file changes nothing.
            """,
        options: [.flag("csv", "CSV with a header line instead of NDJSON")] + AppArguments.options,
        examples: ["upgrade-relay devices export --csv > devices.csv"]
    ) { run in
        let isCSV = run.arguments.flag("csv")
        if isCSV, run.connection.isJSON { throw UsageError("--csv and --json exclude each other") }
        let places = try await AppArguments.places(run)
        let output = BufferedOutput(run.console)
        // What has come is shown, also where the rest does not.
        defer { output.flush() }
        if isCSV { output.add(DeviceLine.columns.map(\.rawValue).joined(separator: ",")) }
        for place in places {
            let request = APIRequest("GET", place.path("devices"), accept: "application/x-ndjson")
            try await run.client().lines(request) { line in
                if !line.isEmpty { output.add(isCSV ? try csv(line) : JSONText.shown(line)) }
                return true
            }
        }
        return .done
    }

    private static func csv(_ line: [UInt8]) throws -> String {
        if let plain = DeviceLineScan(line, in: 0..<line.count) {
            let values = [
                plain.app, plain.platform, plain.token, plain.telephone, plain.version, plain.environment,
                plain.registeredAt, plain.deadSince,
            ]
            return values.map { CSVParser.quoted($0.map { String(decoding: line[$0], as: UTF8.self) } ?? "") }
                .joined(separator: ",")
        }
        guard let device = try? JSONReader.read(line) else {
            throw CommandFailure(.failed, "the daemon's answer is not NDJSON")
        }
        return DeviceLine.columns.map { CSVParser.quoted(device[$0]?.string ?? "") }.joined(separator: ",")
    }
}
