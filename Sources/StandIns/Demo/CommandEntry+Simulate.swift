// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import Configuration
import HTTPServer
import PushSimulator
package import Terminal
import WireFormat

extension CommandEntry {
    /// The command of each push service's simulator.
    package static let simulators: [CommandEntry] = [.simulateAPNs, .simulateFCM]

    /// - Parameter furnish: called before the simulator takes requests.
    static func simulate(
        _ options: SimulatorOptions, _ arguments: ParsedArguments, _ context: CommandContext,
        furnish: (PushSimulator) throws -> Void = { _ in }
    ) async throws -> ExitCode {
        let isJSON = arguments.flag("json")
        let simulator = try PushSimulator(options.configuration)
        if let path = options.authorityPath, let authority = simulator.trustedCertificate {
            try PrivateFile.write(authority, to: path, mode: 0o644)
        }
        try furnish(simulator)
        try simulator.start()
        let url = "https://\(ListenAddress(host: options.address.host, port: simulator.port))"
        sayReady(at: url, port: simulator.port, isJSON: isJSON, context.console)
        _ = await Interruption.wait()
        simulator.stop()
        let figures = simulator.figures
        context.console.writeLine(isJSON ? figures.json.text() : figures.text)
        if let failure = simulator.failure { throw CommandFailure(.failed, failure) }
        return .done
    }

    /// Writes the first line of output of a simulator or receiver.
    static func sayReady(at url: String, port: UInt16, isJSON: Bool, _ console: Console) {
        let ready: JSONValue = ["listening": .string(url), "port": .integer(port)]
        console.writeLine(isJSON ? ready.text() : "listening on \(url)")
    }
}
