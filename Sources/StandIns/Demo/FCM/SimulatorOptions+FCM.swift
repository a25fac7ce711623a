// SPDX-License-Identifier: Apache-2.0
import PushSimulator
package import Terminal

extension CommandEntry {
    package static let simulateFCM = CommandEntry("simulate-fcm") { arguments, context in
        let path = try arguments.require("account")
        return try await simulate(SimulatorOptions(fcm: arguments), arguments, context) { simulator in
            try FCMAccount.furnish(path, for: simulator)
        }
    }
}

extension SimulatorOptions {
    /// `simulate-fcm`: reads the files that the options name. A new account is written once the port is known: `FCMAccount`.
    init(fcm arguments: ParsedArguments) throws {
        var project = try FCMAccount.project(arguments)
        let lifetime = try arguments.duration(
            "token-lifetime", in: .seconds(1)...(.seconds(86_400)),
            else: "is not a duration from 1s to 24h, such as 1h")
        if let lifetime { project.tokenLifetime = lifetime.components.seconds }
        var configuration = SimulatorConfiguration(project)
        if let quota = try arguments.integer("quota", in: 0...1_000_000_000) {
            configuration.faults.quota = FaultScript.Quota(requests: quota)
        }
        try self.init(configuration, arguments, port: 2198)
    }
}
