// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry

struct LogLevelCommand: Command {
    static let spec = CommandSpec(
        path: ["log", "level"],
        purpose: "Shows or changes how talkative the daemon's log is",
        discussion:
            "The change holds until the configuration is read anew or the daemon starts again; log.level of the "
            + "configuration is what lasts.",
        positionals: [
            PositionalSpec(
                "LEVEL", "debug, info, notice, warning or error; without it, the present one is shown",
                isRequired: false)
        ],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay log level debug", "upgrade-relay log level"],
        exitCodes: ConnectionOptions.exitCodes)

    private let connection: ConnectionOptions
    private let level: LogLevel?

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        level = try arguments.positional("LEVEL").map { name in
            guard let level = LogLevel(name: name) else {
                throw UsageError("LEVEL: \"\(name)\" is not a level; debug, info, notice, warning or error")
            }
            return level
        }
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let client = try connection.client(context)
        let reply =
            if let level {
                try await client.request("PUT", "/v1/log", json: .object(["level": .string(level.name)]))
            } else {
                try await client.request("GET", "/v1/log")
            }
        context.console.writeLine(connection.isJSON ? reply.text : "the log's level is \(reply.tree.shown("level"))")
        return .done
    }
}
