// SPDX-License-Identifier: Apache-2.0

struct ServeCommand: Command {
    static let configOption = OptionSpec.value(
        "config", "FILE", "the configuration",
        default: "$\(RelayConfiguration.pathVariable), else \(RelayConfiguration.defaultPath)")

    static let spec = CommandSpec(
        path: ["serve"],
        purpose: "Runs the daemon: version store, fan-out and HTTP API",
        discussion: "Stays in the foreground and writes its log to standard error; SIGTERM and SIGINT end it in order.",
        options: [configOption],
        examples: ["upgrade-relay serve --config /etc/upgrade-relay/config.json5"],
        exitCodes: [.done, .failed, .usage, .configuration])

    private let configPath: String?

    init(_ arguments: ParsedArguments) throws {
        configPath = arguments.value("config")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let file = ConfigurationFile.located(option: configPath, environment: context.environment)
        try await Daemon.run(configuration: file.load())
        return .done
    }
}
