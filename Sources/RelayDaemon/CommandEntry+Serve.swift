// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayEngine
import Telemetry
package import Terminal

extension CommandEntry {
    package static let serve = CommandEntry(
        CommandSpec(
            path: ["serve"],
            purpose: "Runs the daemon: version store, fan-out and HTTP API",
            discussion:
                "Stays in the foreground and writes its log to standard error; SIGTERM and SIGINT end it in order.",
            options: [
                ConfigurationFile.option,
                .value(
                    "log-level", "LEVEL", "debug, info, notice, warning or error",
                    default: "the configuration's log.level, else info"),
                .flag("stop-at-eof", "stop when standard input ends: a program that starts the daemon takes it along"),
            ],
            examples: ["upgrade-relay serve --config /etc/upgrade-relay/config.json5"],
            exitCodes: [.done, .failed, .usage, .configuration])
    ) { arguments, context in
        // nil: as the configuration says.
        let logLevel: LogLevel? = try arguments.value("log-level").map { name in
            guard let level = LogLevel(name: name) else {
                throw UsageError("--log-level: \"\(name)\" is not a level; debug, info, notice, warning or error")
            }
            return level
        }
        let file = ConfigurationFile.located(option: arguments.value("config"), environment: context.environment)
        try Daemon(
            file: file, environment: context.environment,
            standardError: StandardErrorLog(minimum: logLevel ?? .info, environment: context.environment),
            isLevelFixed: logLevel != nil
        ).run(stopsWithInput: arguments.flag("stop-at-eof"))
        return .done
    }
}
