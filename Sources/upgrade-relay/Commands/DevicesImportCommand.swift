// SPDX-License-Identifier: Apache-2.0
import Foundation
import UpgradeRules

struct DevicesImportCommand: Command {
    static let spec = CommandSpec(
        path: ["devices", "import"],
        purpose: "Registers devices from a file",
        discussion: """
            The file is CSV with a header line (RFC 4180) or NDJSON, whichever its first line is; the columns are \
            \(DeviceLine.columns.joined(separator: ", ")). What is empty is unknown; environment defaults to production. \
            Known tokens are updated.

            A line that is refused is told with its number and the reason, and keeps no other line out; the exit code is \
            1 then.
            """,
        positionals: [PositionalSpec("FILE", "the file, or - for standard input")],
        options: [
            .value("app", "APP", "the app of lines that name none"),
            .value("platform", "PLATFORM", "the platform of lines that name none: ios or android"),
        ] + ConnectionOptions.specs,
        examples: [
            "upgrade-relay devices import devices.csv",
            "generate | upgrade-relay devices import - --app com.example.app --platform ios",
        ],
        exitCodes: ConnectionOptions.exitCodes)

    /// So many refused lines are shown to a person.
    private static let shownRefusals = 20

    private let connection: ConnectionOptions
    private let file: String
    private let app: String?
    private let platform: Platform?

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        file = try arguments.require("FILE")
        app = arguments.value("app")
        platform = try arguments.value("platform").map(AppArguments.platform)
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let input = try InputFile(file)
        let client = try connection.client(context)
        let display = ProgressDisplay(
            context.console, label: "importing", total: input.size, unit: .bytes,
            isQuiet: connection.isQuiet || connection.isJSON)
        var reader = DeviceReader(app: app, platform: platform?.rawValue)
        var upload = DeviceUpload(client)
        do {
            while true {
                let bytes = try input.read()
                var items: [DeviceReader.Item] = []
                if bytes.isEmpty {
                    try reader.finish { items.append($0) }
                } else {
                    try reader.feed(bytes) { items.append($0) }
                }
                for item in items { try await upload.add(item) }
                if bytes.isEmpty { break }
                display.update(done: input.consumed, note: "\(Quantity.count(upload.tally.stored)) devices stored")
            }
            try await upload.finish()
            display.finish(done: input.consumed, note: "\(Quantity.count(upload.tally.stored)) devices stored")
        } catch var failure as CommandFailure {
            display.finish()
            if upload.tally.stored > 0 {
                failure.message += "\n\(Quantity.count(upload.tally.stored)) devices were stored before that"
            }
            throw failure
        }
        try report(upload.tally, context.console)
        return upload.tally.refusedCount == 0 ? .done : .failed
    }

    private func report(_ tally: DeviceUpload.Tally, _ console: Console) throws {
        if connection.isJSON {
            let refused = tally.refused.map { line in
                JSONValue.object(["line": .integer(Int64(line.line)), "reason": .string(line.reason)])
            }
            let said: [String: JSONValue] = [
                "stored": .integer(tally.stored), "refusedCount": .integer(tally.refusedCount),
                "refused": .array(refused),
            ]
            console.writeLine(try RelayClient.text(.object(said)))
            return
        }
        for line in tally.refused.prefix(Self.shownRefusals) {
            console.writeError("line \(line.line): \(DisplayWidth.sanitised(line.reason))\n")
        }
        let more = tally.refusedCount - Int64(min(tally.refused.count, Self.shownRefusals))
        if more > 0 { console.writeError("… and \(Quantity.count(more)) more\n") }
        console.writeLine("\(Quantity.count(tally.stored)) stored, \(Quantity.count(tally.refusedCount)) refused")
    }
}
