// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import Configuration
import HTTPServer
import PushSimulator
package import Terminal
import WireFormat

extension CommandEntry {
    package static let simulateAPNs = CommandEntry(
        CommandSpec(
            path: ["simulate-apns"],
            purpose: "Stands in for APNs: TLS, HTTP/2, strict checks of every request, faults by script",
            discussion: """
                Runs until SIGINT or SIGTERM and then prints what it received. Which tokens are dead, bad or busy follows from \
                the token itself, so it is the same in every run. A script of faults has the fields deadShare, badShare, \
                busyShare, busyTries, busyRetryAfter, deadTokens, badTokens, busyTokens, tokenReasons, serviceErrors, quota, \
                shares, goAwayAfter, cutAfter, silentAfter, shrinkSettings, refuseEvery, retryAfterDate and latencyMs.

                Clients that show a certificate of the authority in --client-ca are judged by it and need no provider token; \
                all others are judged by theirs.

                The relay pushes to it with apns: { server: "https://127.0.0.1:2197", trustedCertificates: "/…/ca.pem" }.
                """,
            options: SimulatorOptions.apnsSpecs,
            examples: [
                "upgrade-relay simulate-apns --topic com.example.app --team-id ABCDE12345 --key-id FGHIJ67890 \\",
                "    --write-key key.p8 --write-ca ca.pem --dead-share 1%",
            ])
    ) { arguments, context in
        try await simulate(SimulatorOptions(apns: arguments), arguments, context)
    }

    package static let simulateFCM = CommandEntry(
        CommandSpec(
            path: ["simulate-fcm"],
            purpose: "Stands in for FCM: token endpoint and sending, strict checks of every request, faults by script",
            discussion: """
                Runs until SIGINT or SIGTERM and then prints what it received. It answers to one service account, whose key \
                file it makes where there is none. Which tokens are dead, bad or busy follows from the token itself, so it is \
                the same in every run. A script of faults has the fields that simulate-apns has, with Google's words for \
                refusals (UNREGISTERED, QUOTA_EXCEEDED, UNAVAILABLE, …), and accessRevokedAfter, revokedKey, clockAhead and \
                tokenEndpoint ({ afterN, count, status, error, description }).

                The relay pushes to it with fcm: { serviceAccount: { file: "/…/account.json" }, \
                server: "https://127.0.0.1:2198", trustedCertificates: "/…/ca.pem" }.
                """,
            options: SimulatorOptions.fcmSpecs,
            examples: ["upgrade-relay simulate-fcm --account account.json --write-ca ca.pem --dead-share 1%"])
    ) { arguments, context in
        let path = try arguments.require("account")
        return try await simulate(SimulatorOptions(fcm: arguments), arguments, context) { simulator in
            try FCMAccount.furnish(path, for: simulator)
        }
    }

    /// - Parameter furnish: before it takes requests.
    private static func simulate(
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
        if isJSON {
            let ready: JSONValue = ["listening": .string(url), "port": .integer(simulator.port)]
            context.console.writeLine(ready.text())
        } else {
            context.console.writeLine("listening on \(url)")
        }
        _ = await Interruption.wait()
        simulator.stop()
        let figures = simulator.figures
        context.console.writeLine(isJSON ? figures.json.text() : figures.text)
        if let failure = simulator.failure { throw CommandFailure(.failed, failure) }
        return .done
    }
}
