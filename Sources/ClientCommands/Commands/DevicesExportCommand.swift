// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal
import UpgradeRules

struct DevicesExportCommand: Command {
    static let spec = CommandSpec(
        path: ["devices", "export"],
        purpose: "Writes the registry to standard output, as \"devices import\" reads it",
        discussion: "Telephones and tokens are written in full: keep the file as you would keep the database.",
        options: [.flag("csv", "CSV with a header line instead of NDJSON")] + AppArguments.options
            + ConnectionOptions.specs,
        examples: ["upgrade-relay devices export --csv > devices.csv"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let isCSV: Bool
    private let app: String?
    private let platform: Platform?

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        isCSV = arguments.flag("csv")
        app = arguments.value("app")
        platform = try arguments.value("platform").map(AppArguments.platform)
        if isCSV, connection.isJSON { throw UsageError("--csv and --json exclude each other") }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let client = try connection.client(context)
        let places = try await AppArguments.known(client, app: app, platform: platform)
        let output = BufferedOutput(context.console)
        if isCSV { output.add(DeviceLine.columns.joined(separator: ",")) }
        for place in places {
            let path = APIPath.make(["v1", "apps", place.app, place.platform, "devices"])
            let isCSV = isCSV
            do {
                try await client.lines(path, accept: "application/x-ndjson") { line in
                    guard !line.isEmpty else { return true }
                    output.add(isCSV ? try Self.csv(line) : JSONText.shown(line))
                    return true
                }
            } catch let failure as CommandFailure {
                output.flush()
                throw failure
            }
        }
        output.flush()
        return .done
    }

    static func csv(_ line: [UInt8]) throws -> String {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
            throw CommandFailure(.failed, "the daemon's answer is not NDJSON")
        }
        return DeviceLine.columns.map { CSVParser.quoted(object[$0] as? String ?? "") }.joined(separator: ",")
    }
}
