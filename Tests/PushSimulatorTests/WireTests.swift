// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import OwnThread
import Signing
import SimulatorTools
import Testing

@testable import PushSimulator

/// End to end with Debian's curl and openssl.
@Suite(.serialized, .ownThread) struct WireTests {
    private let fixture: Fixture

    init() throws {
        fixture = try Fixture()
    }

    private func headers(token: String = Fixture.token, id: String? = Fixture.id) throws -> [(String, String)] {
        fixture.headers(token: token, jwt: try fixture.jwt(), id: id)
    }

    @Test func aPushIsAcceptedAndItsIDEchoed() throws {
        let server = try RunningSimulator(fixture.configuration())
        let answer = try server.curl(headers())
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.output == "HTTP/2 200 \r\napns-id: \(Fixture.id)\r\n\r\n")
        let figures = server.simulator.figures
        #expect(figures.requests == 1)
        #expect(figures.accepted == 1)
        #expect(figures.rejected == 0)
        #expect(figures.distinctTokens == 1)
        #expect(server.simulator.accepted().count(ofToken: Fixture.token) == 1)
        #expect(server.simulator.accepted().contains(id: Fixture.id))
        #expect(server.simulator.accepted().tokensByCount == [1: 1])
    }

    @Test func anIDIsMadeUpIfNoneWasSent() throws {
        let server = try RunningSimulator(fixture.configuration())
        let answer = try server.curl(headers(id: nil))
        let pattern = /apns-id: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\r\n/
        #expect(answer.output.contains(pattern), "\(answer.output)")
    }

    @Test func aRejectionHasStatusReasonAndID() throws {
        let server = try RunningSimulator(fixture.configuration())
        let answer = try server.curl(headers().filter { $0.0 != "apns-topic" })
        #expect(answer.output.hasPrefix("HTTP/2 400"))
        #expect(answer.output.contains("apns-id: \(Fixture.id)\r\n"))
        #expect(answer.output.hasSuffix(#"{"reason":"MissingTopic"}"#))
        #expect(server.simulator.figures.rejectedBy == ["MissingTopic": 1])
        let large = try server.curl(
            headers(), payload: #"{"aps":{"alert":""# + String(repeating: "a", count: 9000) + #""}}"#)
        #expect(large.output.hasPrefix("HTTP/2 413"))
        #expect(large.output.hasSuffix(#"{"reason":"PayloadTooLarge"}"#))
    }

    @Test func onlyHTTP2() throws {
        let server = try RunningSimulator(fixture.configuration())
        let answer = try server.curl(headers(), options: ["--http1.1"])
        #expect(answer.status == 35, "\(answer)")
        #expect(answer.errors.contains("no application protocol"))
        let silent = try server.curl(headers(), options: ["--http1.1", "--no-alpn"])
        #expect(silent.status != 0, "\(silent)")
        let known = try server.curl(headers(), options: ["--http2-prior-knowledge"])
        #expect(known.output.hasPrefix("HTTP/2 200"), "\(known)")
    }

    @Test func onlyTLS12AndLater() throws {
        let server = try RunningSimulator(fixture.configuration())
        func connect(_ version: String) throws -> (status: Int32, output: String, errors: String) {
            try run(
                "/usr/bin/openssl",
                [
                    "s_client", "-connect", "127.0.0.1:\(server.simulator.port)", version, "-cipher",
                    "ALL:@SECLEVEL=0", "-alpn", "h2", "-CAfile", server.authority, "-verify_return_error",
                ])
        }
        let old = try connect("-tls1_1")
        #expect(old.status != 0)
        #expect(old.errors.contains("protocol version"), "\(old.errors)")
        #expect(try connect("-tls1_2").output.contains("ALPN protocol: h2"))
        #expect(try connect("-tls1_3").output.contains("ALPN protocol: h2"))
    }

    @Test func aDeadTokenIs410WithMilliseconds() throws {
        var configuration = fixture.configuration()
        configuration.faults.deadTokens = [Fixture.token]
        configuration.faults.deadSince = 1_700_000_000_123
        let server = try RunningSimulator(configuration)
        let answer = try server.curl(headers())
        #expect(answer.output.hasPrefix("HTTP/2 410"))
        #expect(answer.output.hasSuffix(#"{"reason":"Unregistered","timestamp":1700000000123}"#))
        #expect(server.simulator.figures.accepted == 0)
    }

    @Test func withoutADateADeadTokenDiedNow() throws {
        var configuration = fixture.configuration()
        configuration.faults.deadShare = 1
        let server = try RunningSimulator(configuration)
        let before = Fixture.now
        let answer = try server.curl(headers())
        let match = try #require(answer.output.firstMatch(of: /"timestamp":(\d+)}$/))
        let timestamp = try #require(Int64(match.1))
        #expect((before * 1000...(Fixture.now + 1) * 1000).contains(timestamp))
    }

    @Test func aBusyTokenGetsBetter() throws {
        var configuration = fixture.configuration()
        configuration.faults.busyShare = 1
        configuration.faults.busyTries = 2
        let server = try RunningSimulator(configuration)
        let statuses = try (0..<3).map { _ in try server.curl(headers()).output.prefix(10) }
        #expect(statuses == ["HTTP/2 429 ", "HTTP/2 429 ", "HTTP/2 200 "].map { $0.prefix(10) })
        #expect(server.simulator.figures.rejectedBy == ["TooManyRequests": 2])
    }

    @Test func aBurstOf503() throws {
        var configuration = fixture.configuration()
        configuration.faults.serviceErrors = .init(afterN: 1, count: 1, status: 503, retryAfter: 7)
        let server = try RunningSimulator(configuration)
        #expect(try server.curl(headers()).output.hasPrefix("HTTP/2 200"))
        let burst = try server.curl(headers())
        #expect(burst.output.hasPrefix("HTTP/2 503"))
        #expect(burst.output.contains("retry-after: 7\r\n"))
        #expect(burst.output.hasSuffix(#"{"reason":"ServiceUnavailable"}"#))
        #expect(try server.curl(headers()).output.hasPrefix("HTTP/2 200"))
        #expect(server.simulator.figures.duplicates == 1)
    }

    @Test func aCutLeavesAnAcceptedPushUnanswered() throws {
        var configuration = fixture.configuration()
        configuration.faults.cutAfter = 1
        configuration.faults.cutTimes = 1
        let server = try RunningSimulator(configuration)
        let answer = try server.curl(headers())
        #expect(answer.status != 0)
        #expect(answer.output.isEmpty)
        #expect(server.simulator.figures.accepted == 1)
        #expect(server.simulator.figures.cuts == 1)
        #expect(try server.curl(headers()).output.hasPrefix("HTTP/2 200"))
        #expect(server.simulator.figures.duplicates == 1)
    }

    @Test func answersTakeTheirTime() throws {
        var configuration = fixture.configuration()
        configuration.latency = .milliseconds(100)
        configuration.faults.latencyMs = 150
        let server = try RunningSimulator(configuration)
        let began = ContinuousClock.now
        #expect(try server.curl(headers()).output.hasPrefix("HTTP/2 200"))
        #expect(ContinuousClock.now - began >= .milliseconds(250))
    }

    @Test func acceptedPushesAreOnRecord() throws {
        let server = try RunningSimulator(fixture.configuration(), record: true)
        _ = try server.curl(headers(), payload: "{\"aps\":{},\n\"é\":\"\\\"\"}")
        _ = try server.curl(headers().filter { $0.0 != "apns-topic" })
        let lines = try server.record()
        try #require(lines.count == 1)
        let line = try #require(JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(line["apnsId"] as? String == Fixture.id)
        #expect(line["token"] as? String == Fixture.token)
        #expect(line["topic"] as? String == Fixture.topic)
        #expect(line["connection"] as? Int == 2)
        #expect((line["at"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        let sent = try #require(line["headers"] as? [String: String])
        #expect(
            sent == [
                "apns-push-type": "alert", "apns-priority": "5", "apns-expiration": "0", "apns-collapse-id": "upgrade",
            ])
        #expect((line["payload"] as? [String: Any])?["é"] as? String == "\"")
    }

    @Test func aPushWithoutAnIDIsOnRecordUnderTheOneThatItsAnswerGave() throws {
        let server = try RunningSimulator(fixture.configuration(), record: true)
        // Two on one connection, so that the second has the memory of the first.
        let address = "https://localhost:\(server.simulator.port)/3/device/\(Fixture.token(1))"
        let answer = try server.curl(
            fixture.headers(jwt: fixture.jwt(), id: nil), options: ["--http2", address])
        let given = answer.output.matches(of: /apns-id: ([0-9a-f-]{36})\r\n/).map { String($0.1) }
        #expect(given.count == 2 && Set(given).count == 2, "\(answer)")
        let recorded = try server.record().map {
            (try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["apnsId"] as? String
        }
        #expect(recorded == given)
        let figures = server.simulator.figures
        #expect(figures.accepted == 2 && figures.distinctIDs == 2 && figures.duplicates == 0)
    }

    @Test func aBareSimulatorAcceptsWhateverComes() throws {
        var configuration = fixture.configuration()
        BareSession.answer(&configuration)
        let server = try RunningSimulator(configuration)
        let answer = try server.curl([(":path", "/")], payload: String(repeating: "no json", count: 4_000))
        #expect(answer.output.wholeMatch(of: /HTTP\/2 200 \r\napns-id: [0-9a-f-]{36}\r\n\r\n/) != nil, "\(answer)")
        #expect(server.simulator.figures.requests == 1)
        #expect(server.simulator.figures.accepted == 1)
    }

    @Test func aBareSimulatorsAnswersTakeTheirTime() throws {
        var configuration = fixture.configuration()
        configuration.latency = .milliseconds(200)
        BareSession.answer(&configuration)
        let server = try RunningSimulator(configuration)
        let began = ContinuousClock.now
        #expect(try server.curl([]).output.hasPrefix("HTTP/2 200"))
        #expect(ContinuousClock.now - began >= .milliseconds(200))
    }

    @Test func manyPushesOnOneConnection() throws {
        let server = try RunningSimulator(fixture.configuration())
        let jwt = try fixture.jwt()
        var lines: [String] = []
        for number in 0..<300 {
            if number > 0 { lines.append("next") }
            lines += ["url = \"https://localhost:\(server.simulator.port)/3/device/\(Fixture.token(number))\""]
            for (name, value) in fixture.headers(jwt: jwt, id: Fixture.id(number)) where !name.hasPrefix(":") {
                lines.append("header = \"\(name): \(value)\"")
            }
            lines += [
                "data = \"{\\\"aps\\\":{}}\"", "cacert = \"\(server.authority)\"", "http2", "silent",
                "output = \"/dev/null\"",
                "write-out = \"%{http_code} %{num_connects}\\n\"",
            ]
        }
        let file = server.folder.appending(path: "curl.conf")
        try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
        let answer = try run("/usr/bin/curl", ["--max-time", "60", "-K", file.path])
        let results = answer.output.split(separator: "\n")
        #expect(results.count == 300)
        #expect(results.allSatisfy { $0.hasPrefix("200 ") }, "\(Set(results))")
        let figures = server.simulator.figures
        #expect(figures.accepted == 300)
        #expect(figures.distinctTokens == 300)
        #expect(figures.distinctIDs == 300)
        #expect(figures.duplicates == 0)
        #expect(figures.connectionsOpened == 1)
    }

    @Test func filesOfPEM() throws {
        let first = try RunningSimulator(fixture.configuration())
        let authority = try CertificateAuthority(validity: .days(1, from: Fixture.now))
        let issued = try authority.issue(names: ["localhost"], validity: .days(1, from: Fixture.now))
        let chain = first.folder.appending(path: "chain.pem")
        let key = first.folder.appending(path: "key.pem")
        try Data(issued.chain).write(to: chain)
        try Data(issued.privateKey).write(to: key)
        var configuration = fixture.configuration()
        configuration.certificate = .files(chain: chain.path, key: key.path)
        #expect(try PushSimulator(configuration).trustedCertificatePath == nil)
        configuration.certificate = .files(chain: key.path, key: key.path)
        #expect(throws: SigningError.self) { try PushSimulator(configuration) }
        configuration.certificate = .files(chain: chain.path, key: "/nowhere")
        let error = try #require(throws: SimulatorError.self) { try PushSimulator(configuration) }
        #expect(error.description.contains("/nowhere"))
    }

    @Test func aTakenPortIsAnError() throws {
        let first = try RunningSimulator(fixture.configuration())
        var configuration = fixture.configuration()
        configuration.port = first.simulator.port
        let error = try #require(throws: ServerStartError.self) { try PushSimulator(configuration) }
        #expect(error.code == .inUse)
        #expect(error.description.contains("\(configuration.port)"))
        configuration.port = 0
        configuration.address = "localhost"
        let wrong = #expect(throws: ServerStartError.self) { try PushSimulator(configuration) }
        #expect(wrong?.code == .badAddress)
    }

    @Test func stoppingTwiceIsFine() throws {
        let simulator = try PushSimulator(fixture.configuration())
        simulator.stop()
        let other = try PushSimulator(fixture.configuration())
        try other.start()
        other.stop()
        other.stop()
    }
}
