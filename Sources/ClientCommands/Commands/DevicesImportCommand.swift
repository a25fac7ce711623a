// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Terminal
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
        // Told at once where a person reads, so that a file of nothing but faults fills no memory; an object has an end.
        var refused: [JSONTree] = []
        func tellRefused() {
            let lines = upload.takeRefused()
            if connection.isJSON {
                refused += lines.map { line in
                    .object(["line": .integer(Int64(line.line)), "reason": .string(line.reason)])
                }
            } else if !lines.isEmpty {
                display.interrupt(lines.map { "line \($0.line): \(DisplayWidth.sanitised($0.reason))\n" }.joined())
            }
        }
        do {
            while true {
                let bytes = try input.read()
                var items: [DeviceReader.Item] = []
                if bytes.isEmpty {
                    try reader.finish { items.append($0) }
                } else {
                    try reader.feed(bytes) { items.append($0) }
                }
                try await upload.add(items)
                tellRefused()
                if bytes.isEmpty { break }
                // All read is not all stored: the end is told by `finish`.
                if input.consumed == input.size { continue }
                display.update(done: input.consumed, note: "\(Quantity.count(upload.tally.stored)) devices stored")
            }
            try await upload.finish()
            tellRefused()
            display.finish(done: input.consumed, note: "\(Quantity.count(upload.tally.stored)) devices stored")
        } catch var failure as CommandFailure {
            try? await upload.settle()
            tellRefused()
            display.finish()
            if upload.tally.stored > 0 {
                failure.message += "\n\(Quantity.count(upload.tally.stored)) devices were stored before that"
            }
            throw failure
        }
        let tally = upload.tally
        if connection.isJSON {
            let said: [String: JSONTree] = [
                "stored": .integer(tally.stored), "refusedCount": .integer(tally.refusedCount),
                "refused": .array(refused),
            ]
            context.console.writeLine(try RelayClient.text(.object(said)))
        } else {
            context.console.writeLine(
                "\(Quantity.count(tally.stored)) stored, \(Quantity.count(tally.refusedCount)) refused")
        }
        return tally.refusedCount == 0 ? .done : .failed
    }
}
