// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Requirements
import Telemetry
import WireFormat

extension API {
    func logLevel() -> Response {
        .json { $0.object(settings.log.minimum, LogLevel.shape) }
    }

    /// Sets the level until the configuration is read again or the daemon restarts.
    func setLogLevel(body: [UInt8], by caller: Caller) throws -> Response {
        var fields = try BodyFields(body)
        let name = fields.requiredString("level", example: "debug")
        let level = name.flatMap(LogLevel.init(name:))
        if let name, level == nil {
            fields.refuse(
                "level",
                "debug, info, notice, warning or error is needed; got \(JSONValue.string(name).sight)")
        }
        try fields.finish()
        guard let level else { throw ProblemDetails(field: "level", "is missing") }
        let before = settings.log.minimum
        // Logged at the more verbose of the two levels, so that the change is in the log either way.
        settings.log.minimum = min(before, level)
        settings.log(.notice, "the log's level was changed", [("from", before.name), ("to", level.name)])
        settings.log.minimum = level
        store.note(
            AuditEntry(
                .logLevel, by: Signature(by: caller.actor, at: now()), from: [.level: .string(before.name)],
                to: [.level: .string(level.name)]), log: settings.log)
        return logLevel()
    }
}

extension LogLevel {
    static let shape = Shape<LogLevel>(
        "LogLevel", "The lowest level that is logged.",
        [
            .member(.level, .words(LogLevel.allCases.map(\.name))) { $0.name }
        ])
}
