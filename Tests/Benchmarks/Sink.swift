// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import Signing
import SimulatorTools

/// The push service that takes everything: `simulate-apns` and `simulate-fcm`, with `BareSession` instead of their checks.
///
/// It is a process of its own (`relay-bench sink PLATFORM FOLDER LATENCY [SCRIPT]`), so that its CPU can be counted. With a fault
/// script it is the strict simulator, which keeps the pushes that it has accepted.
enum Sink {
    /// The first line of its output.
    struct Ready: Codable {
        var port: UInt16
    }

    /// The last line of its output.
    struct Figures: Codable {
        var accepted: Int
        /// The distinct accepted pushes, by id; 0 in bare mode, which keeps no ids.
        var distinct: Int
        var connectionsOpened: Int
        /// The most times that one push was accepted; 0 in bare mode.
        var mostTimes: Int
    }

    static let keyName = "key.p8"
    /// The authority file of `SimulatorCertificate.generated`.
    static let authorityName = "push-simulator-ca.pem"

    /// Runs until SIGTERM.
    static func run(_ words: [String]) throws {
        guard (3...4).contains(words.count), let latency = Int(words[2]) else {
            throw BenchError("sink wants: PLATFORM FOLDER LATENCY [SCRIPT]")
        }
        let file = URL(fileURLWithPath: words[1]).appending(path: keyName)
        let key = try ES256PrivateKey.generate()
        var configuration =
            words[0] == "ios"
            ? SimulatorConfiguration(topics: [Sender.topic], teamID: Sender.teamID, keys: [Sender.keyID: key.publicKey])
            : SimulatorConfiguration(try FCMProject())
        configuration.certificate = .generated(directory: words[1])
        configuration.latency = .milliseconds(latency)
        if words.count == 4 {
            configuration.faults = try FaultScript(json: Array(words[3].utf8))
        } else {
            BareSession.answer(&configuration)
        }
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
        let figures = simulator.figures
        try say(
            Figures(
                accepted: figures.accepted, distinct: figures.distinctIDs,
                connectionsOpened: figures.connectionsOpened,
                mostTimes: simulator.accepted().tokensByCount.keys.max() ?? 0))
    }

    private static func say(_ line: some Encodable) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(line) + [0x0A])
    }
}
