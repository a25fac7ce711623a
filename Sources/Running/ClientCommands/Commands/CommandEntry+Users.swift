// SPDX-License-Identifier: Apache-2.0
import Terminal

extension CommandEntry {
    static let usersExplain = client("users explain") { run in
        let query = try [("telephone", run.arguments.positional("TELEPHONE"))] + AppArguments.query(run)
        let reply = try await run.client().reply(to: APIRequest("GET", ["v1", "users"], query: query))
        run.show(reply.text, UserText.text(reply.json))
        return .done
    }
}
