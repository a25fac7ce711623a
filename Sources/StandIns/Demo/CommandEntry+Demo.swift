// SPDX-License-Identifier: Apache-2.0
import ClientCommands
package import Terminal

extension CommandEntry {
    package static let demo = CommandEntry("demo") { arguments, context in
        let devices = try arguments.integer("devices", in: 1...10_000_000, default: 10_000)
        let platform = arguments.value("platform").flatMap(DemoPlatform.init)
        let relays = try arguments.integer("relays", in: 1...3, default: 1)
        let store = arguments.value("store").flatMap(DemoStore.init) ?? (relays > 1 ? .postgres : .sqlite)
        guard relays == 1 || store == .postgres else {
            throw CommandFailure(
                .usage, "a file in SQLite is one relay's", hint: "Several share a database: --store postgres")
        }
        let (keeps, isJSON) = (arguments.flag("keep"), arguments.flag("json"))
        let ground = try DemoGround(environment: context.environment, relays: relays)
        defer { if !keeps { ground.remove() } }
        let stage = DemoStage(
            ground: ground, store: store, keeps: keeps, platforms: platform.map { [$0] } ?? DemoPlatform.allCases,
            devices: devices, console: context.console, isJSON: isJSON)
        let result = try await untilInterrupted { try await stage.play() }
        guard let result else { throw CommandFailure(.failed, "interrupted") }
        if isJSON {
            context.console.writeLine(result.json.text())
        } else if keeps {
            context.console.writeLine("Kept: \(ground.directory)")
        }
        return result.isRight ? .done : .failed
    }

    /// Returns nil where a signal came first; the work is then cancelled and has cleaned up.
    private static func untilInterrupted<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value)
        async throws
        -> Value?
    {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                _ = await Interruption.wait()
                return nil
            }
            defer { group.cancelAll() }
            let first = try await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}
