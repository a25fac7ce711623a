// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import Signing
import Testing
import WireFormat

/// A team with a key, and right requests of it.
struct Fixture {
    static let topic = "com.example.app"
    static let teamID = "TEAM123456"
    static let keyID = "KEY1234567"
    static let token = String(repeating: "0123456789abcdef", count: 4)
    static let id = "123e4567-e89b-12d3-a456-426614174000"
    static let payload = #"{"aps":{"alert":{"title":"Update","body":"Version 2 is here"}},"url":"https://example.com"}"#

    let key: ES256PrivateKey

    init() throws {
        key = try ES256PrivateKey.generate()
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    func jwt(
        issuedAt: Int64 = Fixture.now, header: String = #"{"alg":"ES256","kid":"KEY1234567"}"#, claims: String? = nil,
        signer: ES256PrivateKey? = nil
    ) throws -> String {
        let claims = claims ?? #"{"iss":"\#(Self.teamID)","iat":\#(issuedAt)}"#
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return input + "." + Base64URL.encode(try (signer ?? key).sign(Array(input.utf8)))
    }

    func configuration() -> SimulatorConfiguration {
        SimulatorConfiguration(
            topics: [Self.topic], teamID: Self.teamID, keys: [Self.keyID: key.publicKey])
    }

    func headers(token: String = Fixture.token, jwt: String, id: String? = Fixture.id) -> [(String, String)] {
        var headers = [
            (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), (":authority", "localhost"),
            ("authorization", "bearer \(jwt)"), ("apns-topic", Self.topic), ("apns-push-type", "alert"),
            ("apns-expiration", "0"), ("apns-priority", "5"), ("apns-collapse-id", "upgrade"),
        ]
        if let id { headers.append(("apns-id", id)) }
        return headers
    }

    /// A token of 64 digits for a number.
    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "123e4567-e89b-12d3-a456-" + String(repeating: "0", count: 12 - digits.count) + digits
    }
}

/// A simulator that runs for one test, in a folder of its own.
final class RunningSimulator {
    let simulator: PushSimulator
    let folder: URL

    init(_ configuration: SimulatorConfiguration, record: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "simulator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = configuration
        configuration.certificate = .generated(directory: folder.path)
        if record { configuration.recordPath = folder.appending(path: "record.ndjson").path }
        simulator = try PushSimulator(configuration)
        try simulator.start()
    }

    deinit {
        simulator.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    var authority: String { folder.appending(path: "push-simulator-ca.pem").path }

    func record() throws -> [String] {
        try String(contentsOf: folder.appending(path: "record.ndjson"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    /// Waits until the figures are as wished, or fails after a minute.
    func wait(until wished: @escaping @Sendable (SimulatorFigures) -> Bool) throws {
        try #require(
            simulator.wait(deadline: .seconds(60), until: wished), "the figures stay at \(simulator.figures)")
    }
}
