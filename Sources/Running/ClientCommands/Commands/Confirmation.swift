// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import Terminal
import WireFormat

/// The question to a person before an act that cannot be undone, or only by notifying every user again.
enum Confirmation {
    /// Shows the facts and requires a yes. `--yes` gives it beforehand, also where no person can be asked.
    ///
    /// - Parameters:
    ///   - words: the act's question, and its effects, which are shown below the facts.
    ///   - facts: the text that is shown.
    /// - Throws: `CommandFailure` where the answer is not yes, `UsageError` where no person can be asked.
    static func obtain(
        _ run: ClientRun, _ words: ActWords, facts: () async throws -> String
    ) async throws {
        if run.arguments.flag("yes") { return }
        let question = words.question
        guard run.console.canAsk else {
            throw UsageError(
                "nothing was changed: \"\(question)\" needs an answer, and there is no terminal to ask at; --yes answers it"
            )
        }
        run.console.writeError(DisplayWidth.sanitised(words.facts(try await facts()), keepsLines: true))
        guard run.console.ask(question) else { throw CommandFailure(.failed, "nothing was changed") }
    }
}

extension JSONValue {
    /// The facts about an act's object that the daemon showed, for the act's request; empty where an older daemon shows none.
    ///
    /// - Parameter name: the member that holds the facts.
    func carried(_ act: ActKind, in name: Field = .shown) -> [JSONMember] {
        guard let shown = self[name] else { return [] }
        // The daemon found no object; the act requires that there is still none.
        guard let members = shown.object else { return act.facts.first.map { [Self.member($0, nil)] } ?? [] }
        return members.filter { member in act.facts.contains { $0.rawValue == member.name } }
    }

    /// One fact that a command has read itself.
    static func member(_ fact: Shown.Fact, _ value: JSONValue?) -> JSONMember {
        JSONMember(name: fact.rawValue, value: value ?? .null)
    }
}

extension ClientRun {
    /// Reads an act's object, before the act.
    ///
    /// - Returns: null where there is no object (the act then fails), or where the token may act but not read (the act then has
    ///   no condition).
    func look(_ request: APIRequest) async throws -> JSONValue {
        let answer = try await client().transport.send(request)
        if answer.status == 403 || answer.status == 404 { return .null }
        guard answer.isSuccess else { throw Problem(answer).failure }
        return try RelayClient.Reply(answer).json
    }

    /// Sends a bump. On a terminal, its effect on phones is shown first and needs a yes.
    ///
    /// - Parameter words: makes the act's words from the app's name and the plan.
    func send(
        bump: JSONValue, words: (_ name: String, _ plan: JSONValue) -> ActWords
    ) async throws -> RelayClient.Reply {
        let place = try AppArguments.place(arguments)
        var body = bump.object ?? []
        // Read before the plan, so that a change in between is found when the bump is sent.
        let now = try await look(APIRequest("GET", place.path("version")))
        if arguments.flag("yes") {
            body += Self.confirmed(Self.named(by: bump))
        } else if console.canAsk, let run = try await dryRun(of: body, at: place), run.needsAnswer {
            try await Confirmation.obtain(self, words(AppArguments.name(arguments), run.plan)) {
                PlanText.summary(run.plan)
            }
            body += Self.confirmed(run.doubts)
        }
        body += now.carried(.raise) + arguments.alone
        return try await client().reply(to: APIRequest("PUT", place.path("version"), json: .object(body)))
    }

    /// A bump's effect, before a person is asked.
    struct DryRun {
        var plan: JSONValue
        var doubts: [JSONValue] { plan.list(.doubts) }
        var needsAnswer: Bool { plan[.rises] == .bool(true) || !doubts.isEmpty }
    }

    /// - Returns: nil where the plan is refused, for example because a version would fall: the bump is refused as well.
    func dryRun(of bump: [JSONMember], at place: AppArguments.Place) async throws -> DryRun? {
        let request = APIRequest("POST", place.path("plan"), json: .object(bump))
        let answer = try await client().transport.send(request)
        return answer.isSuccess ? DryRun(plan: try RelayClient.Reply(answer).json) : nil
    }

    static func confirmed(_ doubts: [JSONValue]) -> [JSONMember] {
        doubts.isEmpty ? [] : [JSONMember(name: "confirm", value: .array(doubts))]
    }

    /// The doubts that `--yes` confirms: only those about versions that the command names.
    static func named(by bump: JSONValue) -> [JSONValue] {
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
