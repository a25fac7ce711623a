// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Terminal

@testable import ClientCommands
@testable import Terminal

extension Transcript {
    /// Runs a command whose daemon is `transport`.
    func run(_ words: [String], _ transport: any APITransport) async -> ExitCode {
        await ConnectionOptions.$transport.withValue(transport) {
            await run(
                words,
                of: CommandTree(
                    commands: CommandTree.client, leadingOptions: ConnectionOptions.specs, lookup: Proposals.of))
        }
    }
}
