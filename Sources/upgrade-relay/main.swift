// SPDX-License-Identifier: Apache-2.0
import Foundation
import Signing

// Threads that dial are not waited for at the end.
CryptoLibrary.keepUntilTheEnd()
// A peer that hangs up is an error to report (EPIPE), not a reason to die.
signal(SIGPIPE, SIG_IGN)
let tool = CommandLineTool(
    tree: .all, context: CommandContext(console: .standard, environment: ProcessInfo.processInfo.environment))
exit(await tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
