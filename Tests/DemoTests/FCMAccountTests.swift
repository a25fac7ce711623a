// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import Signing
import Terminal
import Testing

@testable import Demo

/// The account of `simulate-fcm`: made once, then the same each time.
@Suite struct FCMAccountTests {
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }

        func path(_ name: String) -> String { url.appending(path: name).path }
    }

    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    private func options(_ words: String...) throws -> SimulatorOptions {
        let arguments = try ArgumentParser(CommandEntry.simulateFCM.spec).parse(
            ["--account", folder.path("account.json")] + words)
        return try SimulatorOptions(fcm: arguments)
    }

    private func project(_ options: SimulatorOptions) throws -> FCMProject {
        try #require(options.configuration.service.customer as? FCMProject)
    }

    @Test func `An account is made once and used again`() throws {
        let path = folder.path("account.json")
        let first = try options("--project", "taxi-of-the-north", "--listen", "127.0.0.1:0")
        #expect(first.configuration.maximumStreams == 100)
        let simulator = try PushSimulator(first.configuration)
        try FCMAccount.furnish(path, for: simulator)
        let account = try GoogleAccount(keyFile: Array(Data(contentsOf: URL(filePath: path))))
        #expect(account.projectID == "taxi-of-the-north")
        #expect(account.tokenURL == "https://127.0.0.1:\(simulator.port)/token")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600, "it is a key")
        // The same port: the file stays as it is.
        try FCMAccount.furnish(path, for: simulator)
        let again = try project(options())
        #expect(again.key.pem == (try project(first)).key.pem)
        #expect(again.projectID == "taxi-of-the-north")
        #expect(throws: UsageError.self) { try options("--project", "another-project") }
    }

    /// A key file of Google's own must never be used or overwritten.
    @Test func `An account that leads elsewhere is refused`() throws {
        let path = folder.path("account.json")
        let file = try FCMProject().keyFile(tokenURL: "https://oauth2.googleapis.com/token")
        try Data(file).write(to: URL(filePath: path))
        let simulator = try PushSimulator(try options("--listen", "127.0.0.1:0").configuration)
        let failure = #expect(throws: CommandFailure.self) { try FCMAccount.furnish(path, for: simulator) }
        #expect(failure?.message.contains("https://oauth2.googleapis.com/token") == true, "\(failure?.message ?? "")")
        #expect(try Array(Data(contentsOf: URL(filePath: path))) == file)
    }

    @Test func `A file that is no account is a failure with its name`() throws {
        try Data("{}".utf8).write(to: URL(filePath: folder.path("account.json")))
        let failure = #expect(throws: CommandFailure.self) { try options() }
        #expect(failure?.message.contains("account.json") == true)
    }

    @Test func `The options are in the configuration`() throws {
        let made = try options("--quota", "1000", "--token-lifetime", "5m", "--max-streams", "10", "--dead-share", "2%")
        #expect(made.configuration.faults.quota == .init(requests: 1000))
        #expect(made.configuration.faults.deadShare == 0.02)
        #expect(made.configuration.maximumStreams == 10)
        #expect(try project(made).tokenLifetime == 300)
        #expect(made.configuration.port == 2198)
        for words in [
            ["--project", "Ä"], ["--token-lifetime", "0s"], ["--token-lifetime", "25h"], ["--quota", "-1"],
        ] {
            #expect(throws: UsageError.self, "\(words)") { try options(words[0], words[1]) }
        }
    }
}
