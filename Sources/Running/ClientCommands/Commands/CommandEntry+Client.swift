// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayStore
import StoreDrivers
import Terminal
import WireFormat

/// One run of a command that talks to the daemon.
struct ClientRun: Sendable {
    let arguments: ParsedArguments
    let connection: ConnectionOptions
    let context: CommandContext

    var console: Console { context.console }

    func client() throws -> RelayClient { try connection.client(context) }

    /// Writes the result: with `--json` as JSON, else as text for people.
    func show(_ json: @autoclosure () -> String, _ text: @autoclosure () throws -> String) rethrows {
        if connection.isJSON { console.writeLine(json()) } else { console.write(try text()) }
    }

    func show(_ json: JSONValue, _ text: @autoclosure () throws -> String) rethrows {
        try show(json.text(), try text())
    }

    func progress(_ label: String, total: Int64? = nil, unit: Progress.Unit = .items) -> ProgressDisplay {
        ProgressDisplay(
            console, label: label, total: total, unit: unit, isQuiet: connection.isQuiet || connection.isJSON)
    }

    /// The store that the configuration names.
    func store() throws -> any ClosedStore {
        try StoreDriver.closed(
            try connection.configurationFile(context).load().store, environment: context.environment)
    }

    /// Asks the daemon; where none answers at the control socket, opens the store that the configuration names.
    ///
    /// - Parameter hasBegun: whether the daemon has answered already; then the store is not opened.
    func ask<Value>(
        _ daemon: () async throws -> Value, orStore look: (any ClosedStore) throws -> Value,
        hasBegun: () -> Bool = { false }
    ) async throws -> Value {
        do {
            return try await daemon()
        } catch let error as CommandFailure
            where error.code == .unreachable && connection.address == nil && !hasBegun()
        {
            // The socket may exist but be closed to this user; then so is the store, and its error explains that.
            return try look(store())
        }
    }
}

extension CommandEntry {
    /// A command that talks to the daemon.
    ///
    /// - Parameters:
    ///   - tokenIsDevice: whether `--token` is a device's (`ConnectionOptions`).
    ///   - changesCampaign: whether the command changes the campaign that its arguments name (`CampaignReference`).
    static func client(
        _ name: String, tokenIsDevice: Bool = false, changesCampaign: Bool = false,
        run: @escaping @Sendable (ClientRun) async throws -> ExitCode
    ) -> CommandEntry {
        let spec = CommandSpec.named(name)
        return CommandEntry(name) { arguments, context in
            let connection = try ConnectionOptions(arguments, tokenIsDevice: tokenIsDevice)
            let all = try await CampaignReference.resolved(
                arguments, of: spec, isChanged: changesCampaign,
                note: { if !connection.isJSON { context.console.writeError($0) } },
                { try connection.client(context) })
            // A release has a campaign for each platform: one after the other, up to the first that fails.
            for (place, whole) in all.enumerated() {
                if place > 0, !connection.isJSON { context.console.write("\n") }
                do {
                    let code = try await run(ClientRun(arguments: whole, connection: connection, context: context))
                    guard code == .done else { return code }
                } catch var failure as CommandFailure {
                    if failure.isOfUnknownApp, let app = whole.positional("APP") ?? whole.value("app"),
                        let near = try await AppArguments.suggestion(for: app, connection.client(context))
                    {
                        failure.hint = "did you mean \"\(near)\"?"
                    }
                    if place > 0 { failure.message += "; done before it: \(done(all[..<place]))" }
                    throw failure
                }
            }
            return .done
        }
    }

    private static func done(_ runs: some Sequence<ParsedArguments>) -> String {
        runs.compactMap { $0.positional(CampaignReference.placeholder).map { "campaign \($0)" } }.joined(
            separator: ", ")
    }

    /// A command that sends the daemon one request and shows the answer: with `--json` as it came, else as `text`.
    ///
    /// - Parameters:
    ///   - asks: asks for a confirmation (`Confirmation`), and returns the facts shown, which go with the request.
    ///   - request: makes the request from the arguments, before anything is asked.
    ///   - done: the JSON for `--json` where the daemon answers without a body.
    ///   - note: the text for standard error after the result.
    static func request(
        _ name: String, changesCampaign: Bool = false,
        asks: @escaping @Sendable (ClientRun) async throws -> [JSONMember] = { _ in [] },
        request: @escaping @Sendable (ParsedArguments) throws -> APIRequest,
        done: (@Sendable (ParsedArguments) throws -> JSONValue)? = nil,
        note: @escaping @Sendable (JSONValue) -> String? = { _ in nil },
        text: @escaping @Sendable (ParsedArguments, JSONValue) throws -> String
    ) -> CommandEntry {
        client(name, changesCampaign: changesCampaign) { run in
            let wanted = try request(run.arguments)
            let shown = try await asks(run)
            let reply = try await run.client().reply(to: try wanted.carrying(shown))
            if let asked = ApprovalText.asked(reply.json) {
                run.show(reply.text, asked)
                return .done
            }
            if let done, reply.bytes.isEmpty {
                try run.show(done(run.arguments), text(run.arguments, reply.json))
            } else {
                try run.show(reply.text, text(run.arguments, reply.json))
            }
            if !run.connection.isJSON, let note = note(reply.json) { run.console.writeError(note) }
            return .done
        }
    }
}

extension CommandFailure {
    /// Whether the daemon refused because of the app's name.
    fileprivate var isOfUnknownApp: Bool {
        message.hasPrefix("no app \"") || problem != nil && message.contains(" is not configured ")
    }
}
