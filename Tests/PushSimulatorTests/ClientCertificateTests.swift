// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Signing
import TestPeers
import Testing

/// A simulator that asks for certificates judges them as APNs does, with Debian's curl as the client.
@Suite(.serialized, .ownThread) struct ClientCertificateTests {
    private let fixture: Fixture
    private let files: PushCertificateFiles

    init() throws {
        fixture = try Fixture()
        files = try PushCertificateFiles()
    }

    private func server(_ world: APNsWorld? = nil) throws -> RunningSimulator {
        var configuration = fixture.configuration()
        configuration.clientAuthorities = files.authority.certificate
        var team = try #require(configuration.service.customer as? APNsTeam)
        team.world = world
        configuration.service = .apns(team)
        return try RunningSimulator(configuration)
    }

    /// - Returns: "200", or the status with the reason.
    private func push(
        _ server: RunningSimulator, _ issued: IssuedCertificate?, topic: String? = Fixture.topic, jwt: String? = nil
    ) throws -> String {
        var options = ["--http2"]
        if let issued {
            let name = UUID().uuidString
            options += [
                "--cert", try files.write(issued.chain, to: "\(name).pem"), "--key",
                try files.write(issued.privateKey, to: "\(name).key"),
            ]
        }
        var headers = fixture.headers(jwt: jwt ?? "").filter {
            $0.0 != "apns-topic" && (jwt != nil || $0.0 != "authorization")
        }
        if let topic { headers.append(("apns-topic", topic)) }
        let answer = try server.curl(headers, options: options)
        #expect(answer.status == 0, "\(answer.errors)")
        let status = answer.output.dropFirst("HTTP/2 ".count).prefix(3)
        let reason = answer.output.firstMatch(of: /"reason":"(\w+)"/)?.output.1
        return reason.map { "\(status) \($0)" } ?? String(status)
    }

    @Test func `A good certificate needs no token, and a token beside it is not looked at`() throws {
        let server = try server()
        let issued = try files.issue()
        #expect(try push(server, issued) == "200")
        #expect(try push(server, issued, jwt: "nonsense") == "200")
        #expect(try push(server, nil, jwt: try fixture.jwt()) == "200")
        #expect(try push(server, nil) == "403 MissingProviderToken")
    }

    @Test func `What is not Apple's, or does not hold, is a bad certificate`() throws {
        let server = try server()
        let stranger = try PushCertificateFiles().issue()
        #expect(try push(server, stranger) == "403 BadCertificate")
        let expired = try files.issue(validity: .expired(at: PushCertificateFiles.now))
        #expect(try push(server, expired) == "403 BadCertificate")
    }

    @Test func `A certificate is for its own world and its own topics`() throws {
        let server = try server(.production)
        #expect(try push(server, files.issue(worlds: [.sandbox])) == "403 BadCertificateEnvironment")
        #expect(try push(server, files.issue(worlds: [.production])) == "200")
        let other = try files.issue(topics: ["com.example.other"])
        #expect(try push(server, other) == "400 TopicDisallowed")
        #expect(try push(server, files.issue(), topic: nil) == "400 MissingTopic", "it has three, with VoIP")
        let single = try files.authority.issue(
            pushCertificate: "Apple Push Services", userID: Fixture.topic,
            worlds: [.production], validity: .days(1, from: PushCertificateFiles.now))
        #expect(try push(server, single, topic: nil) == "200")
    }

    @Test func `Who is not asked for a certificate is judged by the token`() throws {
        let server = try RunningSimulator(fixture.configuration())
        #expect(try push(server, files.issue()) == "403 MissingProviderToken")
    }
}
