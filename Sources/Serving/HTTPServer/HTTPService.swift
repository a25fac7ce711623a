// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import Signing
import Synchronization
import Threading

/// HTTP on TCP, at one or two addresses, and on the control socket.
///
/// `start` returns when all sockets listen; `stop` returns when every request has ended. `stop` may be called twice, or
/// without a start. A stopped service cannot be started again. Both may be called from any thread but the service's own.
package final class HTTPService: Sendable {
    private let settings: ServerSettings
    private let state = Mutex(State())

    private struct State {
        var listeners: [Door: HTTPListener] = [:]
        var controlSocket: ListenSocket.Control?
        /// The certificate and key in use; nil: plain HTTP.
        var identity: ServerIdentity?
    }

    package init(_ settings: ServerSettings) {
        self.settings = settings
    }

    deinit {
        stop()
    }

    /// Uses another certificate for later handshakes; open connections keep theirs. Call it after `start`.
    ///
    /// - Returns: whether it differs from the one in use.
    /// - Throws: `ServerStartError` where TLS cannot use it; then the old one stays.
    package func exchange(identity: ServerIdentity) throws -> Bool {
        try state.withLock { state in
            guard let network = state.listeners[.network], let old = state.identity, old != identity
            else { return false }
            network.exchange(try Self.tls(identity))
            state.identity = identity
            return true
        }
    }

    private static func tls(_ identity: ServerIdentity) throws(ServerStartError) -> ServerTLS {
        do {
            return try ServerTLS(chain: identity.chain, privateKey: identity.privateKey, .http1)
        } catch {
            throw ServerStartError(.badIdentity, "listen.tls: \(error)")
        }
    }

    /// The TCP port in use, also where the settings give 0; nil before `start` and without TCP.
    package var port: UInt16? { port(.network) }

    /// The port of the second address.
    package var operationsPort: UInt16? { port(.operations) }

    private func port(_ door: Door) -> UInt16? {
        state.withLock { $0.listeners[door].flatMap { ListenSocket.port(of: $0.socket) } }
    }

    /// - Parameter handler: kept until `stop`.
    /// - Throws: `ServerStartError`, or `SystemError` where no thread can be started; then nothing listens.
    package func start(_ handler: any RequestHandler) throws {
        do {
            try state.withLock { state in
                state.identity = settings.identity
                func listen(_ door: Door, _ socket: Int32, tls: ServerTLS? = nil, isHanded: Bool = false) throws {
                    state.listeners[door] = try HTTPListener(
                        socket: socket, door: door, handler, settings, tls: tls, isHanded: isHanded)
                }
                // The control socket first: it finds out whether another daemon is running, which is a clearer error than
                // "address in use".
                if let socket = settings.handed.control {
                    try listen(.control, socket, isHanded: true)
                } else if let path = settings.controlSocket {
                    let socket = try ListenSocket.control(
                        path: path, mode: settings.controlSocketMode, group: settings.controlSocketGroup)
                    state.controlSocket = socket
                    try listen(.control, socket.descriptor)
                }
                if let address = settings.operations { try listen(.operations, ListenSocket.network(address)) }
                if let socket = try settings.handed.network ?? settings.listen.map(ListenSocket.network) {
                    try listen(
                        .network, socket, tls: try settings.identity.map { try Self.tls($0) },
                        isHanded: settings.handed.network != nil)
                }
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Closes every connection and removes the control socket. Streams must have been asked to end before, or this waits for
    /// them.
    ///
    /// - Parameter time: for requests that have begun; `stop` returns a second later at the latest.
    package func stop(within time: Duration = .seconds(7)) {
        state.withLock { state in
            let end = MonotonicClock.now() + time + .seconds(1)
            let listeners = state.listeners.values
            for listener in listeners { listener.askToStop(within: time) }
            for listener in listeners { listener.stop() }
            state.listeners = [:]
            if let socket = state.controlSocket { ListenSocket.remove(socket) }
            state.controlSocket = nil
            for listener in listeners { listener.work.stop(until: end) }
        }
    }
}
