// SPDX-License-Identifier: Apache-2.0
import ClientCommands
package import Terminal

extension CommandEntry {
    package static let demo = CommandEntry(
        CommandSpec(
            path: ["demo"],
            purpose: "Shows the whole job on this machine, with nothing to configure",
            discussion: """
                Starts simulators of APNs and FCM and the real daemon on loopback, registers devices (some without a \
                phone number, some already current, some with dead tokens), announces a new required version by a signed \
                webhook, for iOS and then for Android, and follows each campaign to its end. Then every figure is compared \
                with what the simulator received; the exit code is 0 only if all of them add up.
                """,
            options: [
                .value("devices", "N", "how many devices, half of them of each platform", default: "10,000"),
                OptionSpec.value("platform", "PLATFORM", "ios or android", default: "both").choosing(
                    DemoPlatform.allCases.map(\.rawValue)),
                .flag("keep", "keep the temporary directory: configuration, database, log"),
                .flag("json", "print one JSON object instead of text for people"),
            ],
            examples: ["upgrade-relay demo --devices 100000", "upgrade-relay demo --platform android"])
    ) { arguments, context in
        let devices = try arguments.integer("devices", in: 1...10_000_000, default: 10_000)
        var platforms = DemoPlatform.allCases
        if let name = arguments.value("platform") {
            guard let platform = DemoPlatform(rawValue: name) else {
                throw UsageError("--platform: \"\(name)\" is no platform; there are ios and android")
            }
            platforms = [platform]
        }
        let (keeps, isJSON) = (arguments.flag("keep"), arguments.flag("json"))
        let ground = try DemoGround(environment: context.environment)
        defer { if !keeps { ground.remove() } }
        let stage = DemoStage(
            ground: ground, platforms: platforms, devices: devices, console: context.console, isJSON: isJSON)
        let result = try await untilInterrupted { try await stage.play() }
        guard let result else { throw CommandFailure(.failed, "interrupted") }
        if isJSON {
            context.console.writeLine(result.json.text())
        } else if keeps {
            context.console.writeLine("Kept: \(ground.directory)")
        }
        return result.isRight ? .done : .failed
    }

    /// nil where a signal came first; then the work is cancelled and has cleaned up.
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
