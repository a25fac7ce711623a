// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import HTTPServer
import RelayEngine
import Signing
import Synchronization
import Threading

/// A stand-in for a push service on a local port: TLS 1.2 or later, HTTP/2 (and HTTP/1.1 where the service takes it), the
/// service's own checks and token endpoint, and the faults of a script.
///
///     var configuration = SimulatorConfiguration(
///         topics: ["com.example.app"], teamID: "TEAM123456", keys: ["KEY1234567": key.publicKey])
///     configuration.certificate = .generated(directory: "/tmp/demo")
///     let simulator = try PushSimulator(configuration)
///     try simulator.start()
///     // push to https://localhost:\(simulator.port), trusting simulator.trustedCertificatePath
///     simulator.stop()
///
/// A connection may open `maximumStreams`, with some services fewer until it has shown a valid credential. Streams beyond that
/// are answered as nghttp2 does: REFUSED_STREAM while the client may not have seen the limit, GOAWAY with PROTOCOL_ERROR once
/// it has acknowledged it. APNs itself also ends the connection, with the text "Maximum active streams violated for this
/// endpoint".
///
/// All methods may be called from any thread.
package final class PushSimulator: Sendable {
    /// The port it listens on, known before `start`.
    package let port: UInt16
    /// The authority to trust, in PEM; nil unless the certificate was generated.
    package let trustedCertificate: [UInt8]?
    /// The path that the authority was written to; nil if it was not written.
    package let trustedCertificatePath: String?
    private let service: SimulatedService
    private let place: SimulatorPlace
    private let ledger: SimulatorLedger
    private let state: Mutex<State>

    private struct State {
        /// nil once the thread has taken it.
        var loop: SimulatorLoop?
        var thread: NativeThread?
    }

    /// Binds the port and makes or reads certificates. Throws `SimulatorError`, `SystemError`, `ServerStartError` or
    /// `SigningError`.
    package init(_ configuration: SimulatorConfiguration) throws {
        service = configuration.service
        if let (field, reason) = configuration.faults.problem(for: service.kind) {
            throw SimulatorError("fault script: \(field) \(reason)")
        }
        guard (1...100_000).contains(configuration.maximumStreams) else {
            throw SimulatorError("maximumStreams is \(configuration.maximumStreams); it has to be from 1 to 100000")
        }
        let address = ListenAddress(host: configuration.address, port: configuration.port)
        let listener = Descriptor(try ListenSocket.network(address))
        port = ListenSocket.port(of: listener.number) ?? 0
        place = SimulatorPlace(address: configuration.address, port: port)
        let certificate = try ServerCertificate(configuration)
        trustedCertificate = certificate.authority
        trustedCertificatePath = certificate.authorityPath
        let tls = try ServerTLS(
            chain: certificate.chain, privateKey: certificate.key,
            service.kind.takesHTTP1 ? .either : .http2,
            clientAuthorities: configuration.clientAuthorities)
        ledger = try SimulatorLedger()
        let loop = try SimulatorLoop(configuration, listener: listener, place: place, ledger: ledger, tls: tls)
        state = Mutex(State(loop: loop))
    }

    deinit { stop() }

    /// Starts its thread. Does nothing if it was started before.
    package func start() throws {
        try state.withLock { state in
            guard let loop = state.loop else { return }
            // The thread owns it from here on.
            nonisolated(unsafe) let owned = loop
            state.thread = try NativeThread(name: "simulator") { unsafe owned.run() }
            state.loop = nil
        }
    }

    /// Plays another script from now on, counted from 0. Its `latencyMs` and `delayMs` have no effect: those of the first
    /// script stay. Must be called while the simulator runs.
    package func play(_ faults: FaultScript) throws {
        if let (field, reason) = faults.problem(for: service.kind) {
            throw SimulatorError("fault script: \(field) \(reason)")
        }
        ledger.play(faults)
    }

    /// Closes all connections and the port, and waits for the thread. May be called twice. The simulator cannot be started
    /// again.
    package func stop() {
        let thread = state.withLock { state in
            state.loop = nil
            defer { state.thread = nil }
            return state.thread
        }
        guard let thread else { return }
        ledger.mailbox.post(.stop)
        thread.join()
    }

    /// The figures so far; complete for every answer that a client has read.
    package var figures: SimulatorFigures { ledger.figures }

    /// Blocks until the simulator has seen `requests` requests in all; false when `deadline` passes before that.
    package func wait(forRequests requests: Int, deadline: Duration) -> Bool {
        ledger.wait(deadline: deadline) { $0.requests >= requests }
    }

    /// Blocks until the figures meet `condition`, which is called here and on the simulator's thread, under a lock, and must
    /// be quick; false when `deadline` passes before that.
    package func wait(deadline: Duration, until condition: @escaping @Sendable (SimulatorFigures) -> Bool) -> Bool {
        ledger.wait(deadline: deadline, until: condition)
    }

    /// The pushes that it has accepted; empty unless `keepsAccepted`.
    package func accepted() -> AcceptedPushes { ledger.accepted }

    /// The key file of its service account, which names its own token endpoint; nil where the service has no such file. A
    /// secret.
    package var accountFile: [UInt8]? { service.accountFile(place) }

    /// The reason why the record could not be written; nil if it could.
    package var failure: String? { ledger.failure }
}

/// The server's certificate, from any of its sources.
private struct ServerCertificate {
    var chain: [UInt8]
    var key: [UInt8]
    var authority: [UInt8]?
    var authorityPath: String?

    init(_ configuration: SimulatorConfiguration) throws {
        switch configuration.certificate {
        case .files(let chainPath, let keyPath):
            chain = try Self.contents(chainPath)
            key = try Self.contents(keyPath)
        case .issued(let issued):
            chain = issued.chain
            key = issued.privateKey
        case .generated(let directory):
            let validity = CertificateValidity.days(30, from: WallClock.now().seconds)
            let made = try CertificateAuthority(
                name: "\(configuration.service.kind.name) simulator authority", validity: validity)
            let issued = try made.issue(
                names: ["localhost"], addresses: Array(Set(["127.0.0.1", "::1", configuration.address])).sorted(),
                validity: validity)
            chain = issued.chain
            key = issued.privateKey
            authority = made.certificate
            if let directory {
                let path = directory + "/push-simulator-ca.pem"
                let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
                let file = try unsafe Descriptor(open(path, flags, 0o644), or: "\(path) cannot be written")
                guard WholeFile.append(made.certificate, to: file.number) else {
                    throw SystemError("\(path) cannot be written", errno: errno)
                }
                authorityPath = path
            }
        }
    }

    private static func contents(_ path: String) throws -> [UInt8] {
        do {
            return try WholeFile.read(path, limit: 1 << 20)
        } catch {
            throw SimulatorError("\(path) cannot be read: \(error)")
        }
    }
}
