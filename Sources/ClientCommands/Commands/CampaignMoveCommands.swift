// SPDX-License-Identifier: Apache-2.0
import Terminal

/// What moves a campaign from one state to another: commands that differ in one word.
enum CampaignMove {
    static func spec(_ verb: String, purpose: String) -> CommandSpec {
        CommandSpec(
            path: ["campaigns", verb],
            purpose: purpose,
            positionals: [CampaignsShowCommand.campaignPositional],
            options: ConnectionOptions.specs,
            examples: ["upgrade-relay campaigns \(verb) 1f0c2ab93d44"],
            exitCodes: ConnectionOptions.exitCodes)
    }

    /// Asks the daemon for the move that the command is named after, and says in which state the campaign is now.
    static func run(_ verb: String, _ arguments: CampaignArguments, _ context: CommandContext) async throws -> ExitCode
    {
        let path = APIPath.make(["v1", "campaigns", arguments.id, verb])
        let reply = try await arguments.connection.client(context).request("POST", path)
        context.console.writeLine(
            arguments.connection.isJSON
                ? reply.text : "campaign \(arguments.id) is \(CampaignText(reply.tree).state)")
        return .done
    }
}

/// One campaign on the command line.
struct CampaignArguments: Sendable {
    let connection: ConnectionOptions
    let id: String

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        id = try arguments.require("ID")
    }
}

struct CampaignsPauseCommand: Command {
    static let spec = CampaignMove.spec("pause", purpose: "Stops a running campaign until it is resumed")
    private let arguments: CampaignArguments

    init(_ arguments: ParsedArguments) throws { self.arguments = try CampaignArguments(arguments) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await CampaignMove.run("pause", arguments, context)
    }
}

struct CampaignsResumeCommand: Command {
    static let spec = CampaignMove.spec(
        "resume", purpose: "Lets a paused or suspended campaign go on, or the next wave begin that was held")
    private let arguments: CampaignArguments

    init(_ arguments: ParsedArguments) throws { self.arguments = try CampaignArguments(arguments) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await CampaignMove.run("resume", arguments, context)
    }
}

struct CampaignsReleaseCommand: Command {
    static let spec = CampaignMove.spec(
        "release", purpose: "Lets a waiting campaign, or the next wave of a running one, begin now")
    private let arguments: CampaignArguments

    init(_ arguments: ParsedArguments) throws { self.arguments = try CampaignArguments(arguments) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await CampaignMove.run("release", arguments, context)
    }
}

struct CampaignsCancelCommand: Command {
    static let spec = CampaignMove.spec("cancel", purpose: "Ends a campaign; what was not sent yet is never sent")
    private let arguments: CampaignArguments

    init(_ arguments: ParsedArguments) throws { self.arguments = try CampaignArguments(arguments) }

    func run(_ context: CommandContext) async throws -> ExitCode {
        try await CampaignMove.run("cancel", arguments, context)
    }
}
