// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Signing
import SimulatorTools
import Testing
import WireFormat

@testable import PushSimulator

/// HTTP/1.1, as Google's own libraries speak it.
@Suite(.serialized, .ownThread) struct PlainSessionTests {
    private let fixture: FCMFixture

    init() throws {
        fixture = try FCMFixture()
    }

    private func server(_ change: (inout SimulatorConfiguration) -> Void = { _ in }) throws -> RunningSimulator {
        var configuration = SimulatorConfiguration(fixture.project)
        change(&configuration)
        return try RunningSimulator(configuration)
    }

    @Test(arguments: [["--http1.1"], ["--http1.1", "--no-alpn"]])
    func aPushIsJudgedAsByHTTP2(options: [String]) throws {
        let server = try server { $0.faults.deadTokens = ["gone"] }
        let access = try server.accessToken()
        let answer = try server.push(access: access, options: options)
        #expect(
            answer.head.hasPrefix("HTTP/1.1 200 \r\ncontent-type: application/json; charset=UTF-8"), "\(answer.head)")
        #expect(answer.json?["name"]?.string?.hasPrefix("projects/test-project/messages/0:") == true)
        let dead = try server.push(FCMFixture.message(token: "gone"), access: access, options: options)
        #expect(dead.code == 404 && dead.errorCode == "UNREGISTERED")
        #expect(try server.push(access: nil, options: options).code == 401)
        let figures = server.simulator.figures
        #expect(figures.requests == 3 && figures.accepted == 1 && figures.tokenRequests == 1)
    }

    @Test func manyRequestsAreOnOneConnectionAndEachWaitsForTheAnswerBefore() throws {
        let server = try server { $0.latency = .milliseconds(5) }
        let access = try server.accessToken()
        let before = server.simulator.figures.connectionsOpened
        let body = FCMFixture.text(FCMFixture.message())
        let request =
            "POST /v1/projects/test-project/messages:send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(access)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
        let last = request.replacing("Host: x\r\n", with: "Host: x\r\nConnection: close\r\n")
        // All at once, the last byte of the second one behind the rest.
        let answers = try server.exchange(request + request + last)
        #expect(answers.components(separatedBy: "HTTP/1.1 200 \r\n").count == 4, "\(answers)")
        #expect(answers.components(separatedBy: "connection: close").count == 2)
        #expect(server.simulator.figures.accepted == 3)
        #expect(server.simulator.figures.connectionsOpened == before + 1)
    }

    @Test(arguments: [
        ("GET /\r\n\r\n", "HTTP/1.1 400 "),
        ("POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n", "HTTP/1.1 400 "),
        ("POST /token HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 400 "),
        ("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404 "),
    ])
    func whatIsNoRequestIsRefusedAndEndsTheConnection(bytes: String, head: String) throws {
        #expect(try server().exchange(bytes).hasPrefix(head))
    }
}

extension RunningSimulator {
    /// Sends bytes over TLS without ALPN; returns all that comes until the end.
    fileprivate func exchange(_ bytes: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = [
            "s_client", "-quiet", "-CAfile", authority, "-verify_return_error", "-connect",
            "127.0.0.1:\(simulator.port)",
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(bytes.utf8))
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        return String(decoding: answer, as: UTF8.self)
    }
}
