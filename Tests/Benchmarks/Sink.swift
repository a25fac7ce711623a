// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import Signing
import SimulatorTools

/// The push service that takes everything: `simulate-apns` and `simulate-fcm`, with `BareSession` in place of all that they look at.
///
/// A process of its own (`relay-bench sink PLATFORM FOLDER LATENCY`), so that its CPU can be counted.
enum Sink {
    /// Its first line.
    struct Ready: Codable {
        var port: UInt16
    }

    /// Its last.
    struct Figures: Codable {
        var accepted: Int
        var connectionsOpened: Int
    }

    static let keyName = "key.p8"
    /// Of `SimulatorCertificate.generated`.
    static let authorityName = "push-simulator-ca.pem"

    /// Until SIGTERM.
    static func run(_ words: [String]) throws {
        guard words.count == 3, let latency = Int(words[2]) else {
            throw BenchError("sink wants: PLATFORM FOLDER LATENCY")
        }
        let file = URL(fileURLWithPath: words[1]).appending(path: keyName)
        let key = try ES256PrivateKey.generate()
        var configuration =
            words[0] == "ios"
            ? SimulatorConfiguration(topics: [Sender.topic], teamID: Sender.teamID, keys: [Sender.keyID: key.publicKey])
            : SimulatorConfiguration(try FCMProject())
        configuration.certificate = .generated(directory: words[1])
        configuration.latency = .milliseconds(latency)
        BareSession.answer(&configuration)
        let simulator = try PushSimulator(configuration)
        try Data(simulator.accountFile ?? key.pem).write(to: file)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        try simulator.start()
        try say(Ready(port: simulator.port))
        var signal: Int32 = 0
        unsafe sigwait(&signals, &signal)
        simulator.stop()
        try say(Figures(accepted: simulator.figures.accepted, connectionsOpened: simulator.figures.connectionsOpened))
    }

    private static func say(_ line: some Encodable) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(line) + [0x0A])
    }
}
