// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import Testing
import WireFormat

@testable import ClientCommands
@testable import Terminal
@testable import upgrade_relay

/// Failures as a script sees them.
@Suite struct FailureTests {
    private func run(_ words: [String]) async throws -> (code: ExitCode, out: String, problem: JSONValue) {
        let transcript = Transcript()
        let code = await transcript.run(words, of: .all)
        return (code, transcript.out, try JSONReader.read(Array(transcript.err.utf8)))
    }

    @Test(arguments: [
        (["campaigns", "list", "--json", "--state", "x\"y"], ExitCode.usage, "--state: \"x\"y\" is not"),
        (["--json", "campaigns", "lst"], .usage, "unknown command"),
        (["campaigns", "list", "--json", "--socket", "/nonexistent/s"], .unreachable, "the daemon is not reachable"),
        (
            ["store", "status", "--json", "--config", "/nonexistent/c"], .configuration,
            "the configuration /nonexistent/c"
        ),
    ])
    func `With --json a failure is a problem object on standard error`(
        words: [String], code: ExitCode, detail: String
    ) async throws {
        let result = try await run(words)
        #expect(result.code == code)
        #expect(result.out.isEmpty)
        #expect(result.problem.find(["exitCode"])?.integer == Int64(code.rawValue))
        #expect(result.problem.find(["title"])?.string == code.meaning)
        #expect(result.problem.find(["detail"])?.string?.hasPrefix(detail) == true)
    }

    @Test func `The API's own problem is passed on`() async throws {
        let body = #"{"type":"about:blank","title":"Conflict","status":409,"detail":"it is over","errors":[]}"#
        let failure = Problem(APIAnswer(status: 409, body: Array(body.utf8))).failure
        #expect(FailureDocument(failure).text == String(body.dropLast()) + ",\"exitCode\":1}\n")
        let forbidden = Problem(APIAnswer(status: 403, body: Array("{}".utf8))).failure
        let document = try JSONReader.read(Array(FailureDocument(forbidden).text.utf8))
        #expect(document.find(["exitCode"])?.integer == 1)
        #expect(document.find(["hint"])?.string?.contains("tokens list") == true)
        let proxy = Problem(APIAnswer(status: 502, body: Array("<html>".utf8))).failure
        #expect(FailureDocument(proxy).text.contains("\"detail\":\"the daemon answered 502\""))
    }

    @Test func `A string of a failure is JSON whatever it holds`() throws {
        let text = "a\"b\\c\nd\u{0}e\u{1B}[31m\u{202E}ü"
        let document = FailureDocument(CommandFailure(.failed, text)).text
        #expect(try JSONReader.read(Array(document.utf8)).find(["detail"])?.string == text)
        #expect(document.dropLast().unicodeScalars.allSatisfy { !DisplayWidth.isControl($0) })
    }

    @Test(arguments: ["-V", "--version"]) func `The version by one letter`(word: String) async {
        let transcript = Transcript()
        #expect(await transcript.run([word], of: .all) == .done)
        #expect(transcript.out == "upgrade-relay \(CommandLineTool.version)\n")
    }

    /// The program itself is run: full(4) takes no byte.
    @Test func `A full disk ends with 1 and words`() throws {
        let test = try #require(CommandLine.arguments.first { $0.contains(".xctest") })
        let folder = URL(filePath: test.components(separatedBy: ".xctest")[0]).deletingLastPathComponent()
        let process = Process()
        process.executableURL = folder.appending(path: "upgrade-relay")
        process.arguments = ["--version"]
        let error = Pipe()
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
        process.standardError = error
        try process.run()
        let said = String(decoding: try error.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        #expect(said == "error: standard output cannot be written: No space left on device\n")
    }
}
