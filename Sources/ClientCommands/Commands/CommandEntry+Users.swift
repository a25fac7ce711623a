// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import WireFormat

extension CommandEntry {
    static let usersExplain = client(
        ["users", "explain"], "Says what one user is told now and why, and what was pushed",
        discussion: """
            For who answers "is locked out" or "got no push": the user's devices and versions, what each channel says to each of them \
            at this moment and why, what was pushed and what came of it, and of what the user was told at login. Push tokens are \
            shown shortened; --json has them whole. Without --app and --platform, every app is looked at.
            """,
        positionals: [PositionalSpec("TELEPHONE", "the user's phone number, spelt as the app sends it")],
        options: AppArguments.options,
        examples: ["upgrade-relay users explain 13800138000"]
    ) { run in
        let query = try [("telephone", run.arguments.positional("TELEPHONE"))] + AppArguments.query(run)
        let reply = try await run.client().reply(to: APIRequest("GET", ["v1", "users"], query: query))
        run.show(reply.text, UserText.text(reply.json))
        return .done
    }
}
