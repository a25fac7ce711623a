// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// What is asked of a person before something that cannot be undone, or only by telling every user again.
enum Confirmation {
    /// Shows what would happen and wants a yes, where somebody sits at a terminal.
    ///
    /// - Parameter facts: asked of the daemon only where they are shown.
    /// - Throws: `CommandFailure` where it is not a yes.
    static func obtain(
        _ run: ClientRun, _ question: String, facts: () async throws -> String
    ) async throws {
        guard !run.arguments.flag("yes"), run.console.canAsk else { return }
        run.console.writeError(DisplayWidth.sanitised(try await facts(), keepsLines: true))
        guard run.console.ask(question) else { throw CommandFailure(.failed, "nothing was changed") }
    }
}

extension ClientRun {
    /// Sends a bump. What it would do to phones is shown and wants a yes on a terminal.
    ///
    /// - Parameter question: about the app of this name, whose plan is this.
    func send(
        bump: JSONValue, question: (_ name: String, _ plan: JSONValue) -> String
    ) async throws -> RelayClient.Reply {
        let client = try client()
        var body = bump.object ?? []
        func confirm() { body.append(JSONMember(name: "confirm", value: .bool(true))) }
        if arguments.flag("yes") {
            confirm()
        } else if console.canAsk {
            let request = try APIRequest("POST", AppArguments.path(arguments, "plan"), json: .object(body))
            let answer = try await client.transport.send(request)
            // What the bump itself is told as well is told there: that a version would fall, that nothing is required.
            if answer.isSuccess {
                let plan = try RelayClient.Reply(answer).json
                let isDoubtful = plan[.needsConfirmation] == .bool(true)
                if plan[.rises] == .bool(true) || isDoubtful {
                    let name = try AppArguments.name(arguments)
                    try await Confirmation.obtain(self, question(name, plan)) { PlanText.summary(plan) }
                    if isDoubtful { confirm() }
                }
            }
        }
        return try await client.reply(
            to: APIRequest("PUT", AppArguments.path(arguments, "version"), json: .object(body)))
    }
}
