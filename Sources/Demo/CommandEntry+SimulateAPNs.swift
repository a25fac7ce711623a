import APNsSimulator
import ClientCommands
import Configuration
import HTTPServer
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
                busyShare, busyTries, deadTokens, badTokens, busyTokens, serviceErrors, goAwayAfter, cutAfter, silentAfter, \
                shrinkSettings, refuseEvery and latencyMs.

                Clients that show a certificate of the authority in --client-ca are judged by it and need no provider token; \
                all others are judged by theirs.

                The relay pushes to it with apns: { server: "https://127.0.0.1:2197", trustedCertificates: "/…/ca.pem" }.
                """,
            options: SimulatorOptions.specs,
            examples: [
                "upgrade-relay simulate-apns --topic com.example.app --team-id ABCDE12345 --key-id FGHIJ67890 \\",
                "    --write-key key.p8 --write-ca ca.pem --dead-share 1%",
            ])
    ) { arguments, context in
        let options = try SimulatorOptions(arguments)
        let isJSON = arguments.flag("json")
        let simulator = try APNsSimulator(options.configuration)
        if let path = options.authorityPath, let authority = simulator.trustedCertificate {
            try PrivateFile.write(authority, to: path, mode: 0o644)
        }
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
