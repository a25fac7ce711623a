// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTPServer
import Systemd
import Telemetry
import Terminal

/// The sockets of upgrade-relay.socket and upgrade-relay-control.socket, recognised by the names that these units give them.
struct ActivationSockets: Sendable, Equatable {
    private(set) var network: InheritedSocket?
    private(set) var control: InheritedSocket?

    /// - Throws: `CommandFailure` (78) where the daemon has no use for a socket: without the failure, the clients of that
    ///   socket would never be answered.
    init(_ sockets: [InheritedSocket]) throws(CommandFailure) {
        for socket in sockets {
            switch socket.name {
            case "api":
                try Self.check(socket, is: .network, "TCP stream, such as ListenStream=127.0.0.1:8480", network)
                network = socket
            case "control":
                try Self.check(
                    socket, is: .local,
                    "stream in the file system, such as ListenStream=/run/upgrade-relay/control.sock",
                    control)
                control = socket
            default:
                throw CommandFailure(
                    .configuration, "systemd handed over a socket \"\(socket.name)\" (\(socket.address))",
                    hint: "set FileDescriptorName= of its socket unit to api or control")
            }
        }
    }

    private static func check(
        _ socket: InheritedSocket, is kind: InheritedSocket.Kind, _ right: String, _ other: InheritedSocket?
    ) throws(CommandFailure) {
        guard socket.kind == kind else {
            throw CommandFailure(
                .configuration,
                "systemd handed over a socket \"\(socket.name)\" (\(socket.address)) of the wrong kind",
                hint: "it must be a listening \(right)")
        }
        guard other == nil else {
            throw CommandFailure(
                .configuration, "systemd handed over two sockets \"\(socket.name)\"",
                hint: "leave one ListenStream= of it")
        }
    }

    var handed: HandedSockets { HandedSockets(network: network?.descriptor, control: control?.descriptor) }

    /// The configuration with the address of systemd's socket, where that takes the place of its own.
    func used(of listen: ListenConfiguration) -> ListenConfiguration {
        var listen = listen
        if let address = network.flatMap({ ListenAddress($0.address) }) { listen.address = address }
        return listen
    }

    /// Logs each address in the configuration that differs from that of systemd's socket.
    func compare(with listen: ListenConfiguration, log: Log) {
        let pairs = [
            (network, "listen.address", listen.address.description),
            (control, "listen.controlSocket", listen.controlSocket),
        ]
        for case (let socket?, let field, let wanted) in pairs where socket.address != wanted {
            log(
                .warning, "systemd's socket is another than the configuration's; systemd's is used",
                [("field", field), ("configured", wanted), ("used", socket.address)])
        }
    }
}
