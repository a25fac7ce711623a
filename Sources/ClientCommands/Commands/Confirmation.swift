// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Terminal
import WireFormat

/// What is asked of a person before something that cannot be undone, or only by telling every user again.
enum Confirmation {
    /// Shows what would happen and wants a yes. Where nobody can be asked, `--yes` has said it before.
    ///
    /// - Parameter facts: what is shown.
    /// - Throws: `CommandFailure` where it is not a yes, `UsageError` where nobody can be asked.
    static func obtain(
        _ run: ClientRun, _ question: String, facts: () async throws -> String
    ) async throws {
        if run.arguments.flag("yes") { return }
        guard run.console.canAsk else {
            throw UsageError(
                "nothing was changed: \"\(question)\" has to be answered, and nobody can be asked here; --yes says yes")
        }
        run.console.writeError(DisplayWidth.sanitised(try await facts(), keepsLines: true))
        guard run.console.ask(question) else { throw CommandFailure(.failed, "nothing was changed") }
    }
}

extension JSONValue {
    /// What the daemon showed of what an act is about, as the act takes it back; empty where an older one shows nothing.
    ///
    /// - Parameter name: the member that has it.
    func carried(_ act: ActKind, in name: Field = .shown) -> [JSONMember] {
        guard let shown = self[name] else { return [] }
        // Nothing is there: so it has to be when the act is done.
        guard let members = shown.object else { return act.facts.first.map { [Self.member($0, nil)] } ?? [] }
        return members.filter { member in act.facts.contains { $0.rawValue == member.name } }
    }

    /// One fact that a command has read itself.
    static func member(_ fact: Shown.Fact, _ value: JSONValue?) -> JSONMember {
        JSONMember(name: fact.rawValue, value: value ?? .null)
    }
}

extension ClientRun {
    /// What an act is about, before it is done.
    ///
    /// - Returns: null where there is no such thing, and where the token may act and not look: then the act says it, or goes by what is there.
    func look(_ request: APIRequest) async throws -> JSONValue {
        let answer = try await client().transport.send(request)
        if answer.status == 403 || answer.status == 404 { return .null }
        guard answer.isSuccess else { throw Problem(answer).failure }
        return try RelayClient.Reply(answer).json
    }

    /// Sends a bump. What it would do to phones is shown and wants a yes on a terminal.
    ///
    /// - Parameter question: about the app of this name, whose plan is this.
    func send(
        bump: JSONValue, question: (_ name: String, _ plan: JSONValue) -> String
    ) async throws -> RelayClient.Reply {
        let client = try client()
        var body = bump.object ?? []
        // Read before the plan: what comes between is found when it is sent.
        let now = try await look(APIRequest("GET", AppArguments.path(arguments, "version")))
        if arguments.flag("yes") {
            body += Self.confirmed(Self.named(by: bump))
        } else if console.canAsk {
            let request = try APIRequest("POST", AppArguments.path(arguments, "plan"), json: .object(body))
            let answer = try await client.transport.send(request)
            // What the bump itself is told as well is told there: that a version would fall, that nothing is required.
            if answer.isSuccess {
                let plan = try RelayClient.Reply(answer).json
                let doubts = plan.list(.doubts)
                if plan[.rises] == .bool(true) || !doubts.isEmpty {
                    let name = try AppArguments.name(arguments)
                    try await Confirmation.obtain(self, question(name, plan)) { PlanText.summary(plan) }
                    body += Self.confirmed(doubts)
                }
            }
        }
        body += now.carried(.raise)
        return try await client.reply(
            to: APIRequest("PUT", AppArguments.path(arguments, "version"), json: .object(body)))
    }

    private static func confirmed(_ doubts: [JSONValue]) -> [JSONMember] {
        doubts.isEmpty ? [] : [JSONMember(name: "confirm", value: .array(doubts))]
    }

    /// Who says yes beforehand means the versions that the command names, and nothing else that turns up.
    private static func named(by bump: JSONValue) -> [JSONValue] {
        func doubt(_ reason: Doubt.Reason, _ version: JSONValue) -> JSONValue {
            ["reason": .string(reason.rawValue), "version": version]
        }
        var rises: [JSONValue] = []
        for version in [bump[.required], bump[.latest]].compactMap(\.self) where !rises.contains(version) {
            rises.append(version)
        }
        return rises.map { doubt(.implausibleRise, $0) } + bump.list(.blocked).map { doubt(.nothingAbove, $0) }
    }
}
