// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import TestPeers
import Testing

@testable import ClientCommands
@testable import Terminal

/// FAULTS 3.4: with a broken configuration every command was "not reachable" where the socket is not at its default.
@Suite struct BrokenConfigurationTests {
    /// Runs a command as the tool does, with no stand-in for the daemon.
    private func run(
        _ words: [String], environment: [String: String] = [:]
    ) async -> (code: ExitCode, out: String, err: String) {
        let transcript = Transcript()
        let tree = CommandTree(
            commands: CommandTree.client, leadingOptions: ConnectionOptions.specs, lookup: Proposals.of)
        let code = await transcript.run(words, of: tree, environment: environment)
        return (code, transcript.out, transcript.err)
    }

    /// A configuration that names the socket, and lacks its end.
    private func broken(socket: String, in folder: String) throws -> String {
        let path = "\(folder)/config.json5"
        try Data("{ listen: { controlSocket: \"\(socket)\" }, apps: {".utf8).write(to: URL(filePath: path))
        return path
    }

    @Test func `A campaign is paused with a configuration that nobody can read`() async throws {
        let daemon = try RealDaemon()
        _ = try await daemon.register()
        let id = try await daemon.announce()
        let config = try broken(socket: "\(daemon.folder)/control.sock", in: daemon.folder)
        let named = await run(["campaigns", "pause", id, "--config", config])
        let said = "campaign \(id) is paused\n2.0.0 of com.example.app ios, 3 devices: "
        #expect(named.code == .done && named.out.hasPrefix(said), "\(named.out) \(named.err)")
        #expect(named.err.hasPrefix("warning: the configuration \(config) cannot be used (not JSON5: line 1"))
        let words = "using the control socket that it names, \(daemon.folder)/control.sock\n"
        #expect(named.err.hasSuffix(words), "\(named.err)")
        let variable = await run(["campaigns", "resume", "latest"], environment: ["UPGRADE_RELAY_CONFIG": config])
        #expect(variable.code == .done, "\(variable.err)")
        #expect(variable.err.split(separator: "\n").count == 1, "it is said once: \(variable.err)")
    }

    @Test func `The socket of the command line or the environment needs no configuration`() async throws {
        let folder = try TestFolder.make()
        let config = try broken(socket: "\(folder)/no.sock", in: folder)
        for (options, variables) in [
            (["--socket", "\(folder)/s"], ["UPGRADE_RELAY_CONFIG": config]),
            ([], ["UPGRADE_RELAY_CONFIG": config, "UPGRADE_RELAY_SOCKET": "\(folder)/s"]),
        ] {
            let result = await run(["campaigns", "list"] + options, environment: variables)
            #expect(result.code == .unreachable)
            #expect(
                result.err.hasPrefix("error: the daemon is not reachable\nhint: no control socket at \(folder)/s;"),
                "\(result.err)")
        }
    }

    @Test func `With --json the problem object says it`() async throws {
        let folder = try TestFolder.make()
        let config = try broken(socket: "\(folder)/s", in: folder)
        let result = await run(["campaigns", "list", "--json", "--config", config])
        #expect(result.code == .unreachable)
        #expect(result.err.hasPrefix("{") && result.err.split(separator: "\n").count == 1, "\(result.err)")
        #expect(result.err.contains("cannot be used"), "\(result.err)")
    }

    @Test func `A file that was named and is not there is refused: the default may be another daemon's`() async throws {
        let result = await run(["campaigns", "list", "--config", "\(try TestFolder.make())/none.json5"])
        #expect(result.code == .configuration && result.err.contains("the file does not exist"), "\(result.err)")
    }

    @Test func `Who presses the tab key reads no warning`() async throws {
        let folder = try TestFolder.make()
        let config = try broken(socket: "\(folder)/s", in: folder)
        let result = await run(["complete", "campaigns", "show", ""], environment: ["UPGRADE_RELAY_CONFIG": config])
        #expect(result.code == .done && result.out.isEmpty && result.err.isEmpty, "\(result.err)")
    }
}
