// SPDX-License-Identifier: Apache-2.0
import Configuration
import Telemetry
package import Terminal

extension CommandEntry {
    package static let serve = CommandEntry("serve") { arguments, context in
        // nil: the configuration decides.
        let logLevel = try arguments.parsed(
            "log-level", else: "is not a level; debug, info, notice, warning or error", LogLevel.init(name:))
        let file = ConfigurationFile.located(option: arguments.value("config"), environment: context.environment)
        try Daemon(
            file: file, environment: context.environment,
            standardError: StandardErrorLog(minimum: logLevel ?? .info, environment: context.environment),
            isLevelFixed: logLevel != nil
        ).run(stopsWithInput: arguments.flag("stop-at-eof"))
        return .done
    }
}
