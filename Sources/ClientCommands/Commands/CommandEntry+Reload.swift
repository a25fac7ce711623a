// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import WireFormat

extension CommandEntry {
    static let reload = client(
        ["reload"], "Reloads the daemon's configuration and prints the result",
        discussion: """
            All of it is taken or nothing: where something is wrong, the daemon goes on with the configuration of before, \
            and the exit code is 1. systemd reads credentials when it starts the service, so a reload does not renew them; \
            where this command may read both, it warns of those that have changed.
            """,
        examples: ["upgrade-relay reload"]
    ) { run in
        let reply = try await run.client().reply(to: APIRequest("POST", ["v1", "reload"]))
        for name in CredentialCopies().changed() {
            run.console.writeError(
                "warning: the credential \(name) has changed in \(CredentialCopies.usualSources); a reload does not renew "
                    + "it, \"systemctl restart upgrade-relay\" does\n")
        }
        let warnings = reply.json.list(.warnings).compactMap(\.string)
        for warning in warnings { run.console.writeError("warning: \(DisplayWidth.sanitised(warning))\n") }
        run.show(reply.text, "reloaded: \(Quantity.count(reply.json.count(.apps), "app"))\n")
        return .done
    }
}
