// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
import Threading
import WireFormat

/// A stand-in for a push service in a test's own process: it listens on a free port of 127.0.0.1 until `stop`, judges requests
/// as the real service does, and keeps the pushes that it accepted. For Swift packages outside this one. Any thread.
///
///     let apns = try SimulatedPushService.apns(topics: ["com.example.app"], teamID: "ABCDE12345", keyID: "FGHIJ67890")
///     defer { apns.stop() }
///     // … push to apns.url with apns.credential, trusting apns.authority …
///     #expect(apns.waitForPushes(3, seconds: 10))
///     #expect(try apns.pushes().map(\.token).contains("7f3a…"))
public final class SimulatedPushService: Sendable {
    /// One push that was accepted.
    public struct Push: Hashable, Sendable {
        /// The device token.
        public var token: String
        /// The payload as it came: JSON.
        public var payload: String
        /// `apns-id`, or `pushId` where the message's data has one; nil where there is none.
        public var id: String?
    }

    /// The address of the service, such as "https://127.0.0.1:43127".
    public let url: String
    /// The certificate to trust, in PEM.
    public let authority: String
    /// A secret made for this service: the text of a `.p8` file, or of a service account's JSON file.
    public let credential: String
    private let simulator: PushSimulator
    private let record: String

    /// - Parameter credential: makes the secret with which the client pushes.
    init(_ service: SimulatorConfiguration, credential: (PushSimulator) -> [UInt8]) throws {
        var configuration = service
        var template = Array("/tmp/simulated-pushes-XXXXXX".utf8CString)
        let file = unsafe mkstemp(&template)
        guard file >= 0 else { throw SystemError("no file for the pushes can be made", errno: errno) }
        close(file)
        record = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        configuration.recordPath = record
        do {
            simulator = try PushSimulator(configuration)
            try simulator.start()
        } catch {
            _ = unsafe unlink(record)
            throw error
        }
        url = "https://127.0.0.1:\(simulator.port)"
        authority = String(decoding: simulator.trustedCertificate ?? [], as: UTF8.self)
        self.credential = String(decoding: credential(simulator), as: UTF8.self)
    }

    deinit { stop() }

    /// Plays a script of faults from now on.
    ///
    /// - Parameter script: JSON, with the fields that `simulate-apns --help` names.
    /// - Throws: an error that names the wrong field.
    public func play(script: String) throws { try simulator.play(FaultScript(json: Array(script.utf8))) }

    /// Blocks until `count` pushes were accepted in all.
    ///
    /// - Returns: false where that takes longer than `seconds`.
    public func waitForPushes(_ count: Int, seconds: Int) -> Bool {
        simulator.wait(deadline: .seconds(seconds)) { $0.accepted >= count }
    }

    /// The pushes that were accepted so far, in their order.
    public func pushes() throws -> [Push] {
        try WholeFile.read(record, limit: 1 << 30).split(separator: UInt8(ascii: "\n")).map { line in
            let json = try JSONReader.read(Array(line))
            return Push(
                token: json["token"]?.string ?? "",
                payload: json["payload"].map { String(decoding: $0.bytes(), as: UTF8.self) } ?? "",
                id: json["apnsId"]?.string ?? json["pushId"]?.string)
        }
    }

    /// The number of requests refused so far, by the service's own word.
    public var refusals: [String: Int] { simulator.figures.rejectedBy }

    /// Closes all connections and the port. May be called twice.
    public func stop() {
        simulator.stop()
        _ = unsafe unlink(record)
    }
}
