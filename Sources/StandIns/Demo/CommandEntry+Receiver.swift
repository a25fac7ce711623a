// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import Configuration
import HTTPServer
import Signing
import Telemetry
package import Terminal
import WireFormat

extension CommandEntry {
    package static let simulateReceiver = CommandEntry("simulate-receiver") { arguments, context in
        let isJSON = arguments.flag("json")
        let address = try SimulatorOptions.address(arguments, port: 2199)
        let receiver = try WebhookReceiver(
            secret: secret(arguments), refused: arguments.integer("refuse-first", in: 0...1_000_000, default: 0),
            record: arguments.value("record"))
        let server = HTTPService(ServerSettings(listen: address, controlSocket: nil, log: .discarding))
        try server.start(receiver)
        let port = server.port ?? address.port
        let url = "http://\(ListenAddress(host: address.host, port: port))/"
        sayReady(at: url, port: port, isJSON: isJSON, context.console)
        _ = await Interruption.wait()
        server.stop()
        let figures = receiver.figures
        if isJSON {
            let json: JSONValue = [
                "verified": .integer(figures.verified), "unverified": .integer(figures.unverified),
                "refused": .integer(figures.refused),
            ]
            context.console.writeLine(json.text())
        } else {
            context.console.writeLine(
                "verified \(figures.verified), not verified \(figures.unverified), refused as asked \(figures.refused)")
        }
        return .done
    }

    /// The secret of the file that `--secret` names, or a new one, written to the file that `--write-secret` names.
    private static func secret(_ arguments: ParsedArguments) throws -> WebhookSecret {
        switch (arguments.value("secret"), arguments.value("write-secret")) {
        case (let path?, nil):
            return try WebhookSecret(SimulatorOptions.contents(path, option: "secret"))
        case (nil, let path?):
            let secret = try WebhookSecret.made()
            try PrivateFile.write(Array(secret.utf8), to: path)
            return try WebhookSecret(secret)
        default:
            throw UsageError("one of --secret and --write-secret is needed: what the relay signs with")
        }
    }
}
