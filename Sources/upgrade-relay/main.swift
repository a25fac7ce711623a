// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import Demo
import Glibc
import RelayDaemon
import Signing
import Terminal
import Threading

extension CommandTree {
    /// Every command of the tool, in the order of the overview.
    static let all = CommandTree(
        commands: [.initialize, .serve, .demo, .checkConfig] + CommandEntry.simulators + [.simulateReceiver] + client,
        leadingOptions: ConnectionOptions.specs, lookup: Proposals.of)
}

// Threads may still be in a TLS handshake when the process exits.
CryptoLibrary.keepUntilTheEnd()
// A peer that hangs up is an error to report (EPIPE), not a reason to die.
signal(SIGPIPE, SIG_IGN)
let tool = CommandLineTool(
    context: CommandContext(console: .standard, environment: ProcessEnvironment.all, tree: .all))
exit(await tool.run(ProcessArguments.words()).rawValue)
