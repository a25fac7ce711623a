// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Telemetry

struct ServeCommand: Command {
    static let configOption = OptionSpec.value(
        "config", "FILE", "the configuration",
        default: "$\(RelayConfiguration.pathVariable), else \(RelayConfiguration.defaultPath)")

    static let spec = CommandSpec(
        path: ["serve"],
        purpose: "Runs the daemon: version store, fan-out and HTTP API",
        discussion: "Stays in the foreground and writes its log to standard error; SIGTERM and SIGINT end it in order.",
        options: [
            configOption,
            .value(
                "log-level", "LEVEL", "debug, info, notice, warning or error",
                default: "the configuration's log.level, else info"),
            .flag("stop-at-eof", "stop when standard input ends: a program that starts the daemon takes it along"),
        ],
        examples: ["upgrade-relay serve --config /etc/upgrade-relay/config.json5"],
        exitCodes: [.done, .failed, .usage, .configuration])

    private let configPath: String?
    /// nil: as the configuration says.
    private let logLevel: LogLevel?
    private let stopsWithInput: Bool

    init(_ arguments: ParsedArguments) throws {
        configPath = arguments.value("config")
        logLevel = try arguments.value("log-level").map { name in
            guard let level = LogLevel(name: name) else {
                throw UsageError("--log-level: \"\(name)\" is not a level; debug, info, notice, warning or error")
            }
            return level
        }
        stopsWithInput = arguments.flag("stop-at-eof")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let file = ConfigurationFile.located(option: configPath, environment: context.environment)
        try Daemon(
            file: file, environment: context.environment,
            log: StandardErrorLog.make(minimum: logLevel ?? .info, environment: context.environment),
            isLevelFixed: logLevel != nil
        ).run(stopsWithInput: stopsWithInput)
        return .done
    }
}
