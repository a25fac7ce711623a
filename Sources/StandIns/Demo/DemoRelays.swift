// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import Configuration
import HTTPServer
import RelayEngine
import Synchronization
import Terminal
import WireFormat

/// The demo's daemons: one, or several that share a database, of which one is killed in the middle of each campaign.
final class DemoRelays: Sendable {
    /// The files and the address of one daemon.
    struct Place: Sendable {
        let name: String
        let directory: String
        /// The address of its API, with a port that is chosen anew for each demo.
        var address: ListenAddress { ListenAddress(host: "127.0.0.1", port: port.number) }
        private let port: HeldPort
        /// Empty for the first, whose files have the usual names.
        private let suffix: String

        init(_ number: Int, in directory: String) throws {
            (name, self.directory) = ("relay-\(number + 1)", directory)
            suffix = number == 0 ? "" : "-\(number + 1)"
            port = try HeldPort()
        }

        var configurationPath: String { "\(directory)/config\(suffix).json5" }
        var controlSocket: String { "\(directory)/control\(suffix).sock" }
        var logPath: String { "\(directory)/daemon\(suffix).log" }
    }

    let places: [Place]
    private let processes: Mutex<[DaemonProcess?]>

    init(_ places: [Place]) throws {
        self.places = places
        processes = Mutex(places.map { _ in nil })
        for number in places.indices { try start(number) }
    }

    var areSeveral: Bool { places.count > 1 }

    private func start(_ number: Int) throws {
        let place = places[number]
        let process = try DaemonProcess(configuration: place.configurationPath, log: place.logPath)
        processes.withLock { $0[number] = process }
    }

    /// Sends SIGKILL: nothing is closed, nothing is handed over.
    func kill(_ number: Int) { processes.withLock { $0[number]?.kill() } }

    /// Starts again the daemons that were killed.
    func revive() throws {
        for number in places.indices where !isRunning(number) { try start(number) }
    }

    func isRunning(_ number: Int) -> Bool { processes.withLock { $0[number]?.isRunning ?? false } }

    /// Returns whether all ended in order.
    func stop() async -> Bool {
        var areInOrder = true
        for number in places.indices {
            guard let process = processes.withLock({ $0[number] }), process.isRunning else { continue }
            if await !process.stop() { areInOrder = false }
        }
        return areInOrder
    }

    /// - Throws: `CommandFailure` where a daemon ends, or is not ready within 20 s.
    func waitUntilReady() async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        for (number, place) in places.enumerated() {
            let client = RelayClient(CurlAPITransport(socket: place.controlSocket))
            var last = "no answer"
            while true {
                guard isRunning(number) else { throw CommandFailure(.failed, "the daemon ended before it was ready") }
                do {
                    let answer = try await client.transport.send(APIRequest("GET", ["readyz"]))
                    if answer.isSuccess { break }
                    last = Problem(answer).message
                } catch let failure as CommandFailure where failure.code == .unreachable {
                    last = failure.message
                }
                guard ContinuousClock.now < deadline else {
                    throw CommandFailure(.failed, "the daemon is not ready after 20 s: \(last)")
                }
                try await Task.sleep(for: .milliseconds(30))
            }
        }
    }

    /// The number of the daemon that sends a campaign.
    func owner(of campaign: String, _ api: RelayClient) async throws -> Int {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let nodes = try await api.reply(to: APIRequest("GET", ["v1", "nodes"])).items
            let owner = nodes.first { node in
                node[.campaigns]?.array?.contains { $0.string == campaign } ?? false
            }
            if let name = owner?[.name]?.string, let number = places.firstIndex(where: { $0.name == name }) {
                return number
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CommandFailure(.failed, "no relay sends campaign \(campaign)")
    }
}
