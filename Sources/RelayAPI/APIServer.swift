// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayStore
package import Signing
import Synchronization

/// The HTTP API on TCP and on the control socket.
///
/// `start` returns when both listen; `stop` returns when every request has ended, may come twice, and may come without a
/// start. A stopped server is not started again. Both may be called from any thread but the server's own.
package final class APIServer: Sendable {
    private let store: any RelayStore
    private let control: any RelayControl
    private let settings: APISettings
    private let board: VersionBoard
    private let sightings: SightingQueue
    private let access: AccessLog
    private let state = Mutex(State())

    private struct State {
        var stop: Signal?
        var network: HTTPDaemon?
        var port: UInt16?
        var control: HTTPDaemon?
        var controlSocket: ListenSocket.Control?
        var work: WorkQueue?
        var certificates: TLSCertificates?
    }

    /// - Parameter board: what the open paths answer from; without one, the server makes its own and refreshes it when
    ///   a version changes through the API, and now and then.
    package init(
        store: any RelayStore, control: any RelayControl, settings: APISettings, board: VersionBoard? = nil
    ) {
        let board =
            board
            ?? VersionBoard(store: store, clock: settings.clock) {
                var profiles: [AppKey: AppProfile] = [:]
                for app in control.apps() { profiles[app] = control.profile(of: app) }
                return profiles
            }
        self.board = board
        access = AccessLog(settings.log)
        sightings = SightingQueue(store: store, limit: settings.limits.sightings, clock: settings.clock) {
            board.tick()
        }
        self.store = store
        self.control = control
        self.settings = settings
    }

    deinit {
        stop()
    }

    /// Threads that wait for the store: readers side by side, and one writer.
    private static let workers = 8

    /// Takes another certificate for the handshakes to come; connections that live are not touched. After `start`.
    ///
    /// - Returns: whether it is another one.
    /// - Throws: `APIStartError.badCertificate`; then the old one stays.
    package func exchange(identity: ServerIdentity) throws -> Bool {
        try state.withLock { $0.certificates }?.exchange(for: identity) ?? false
    }

    /// The TCP port that is listened on, also where the settings say 0; nil before `start` and without TCP.
    package var port: UInt16? { state.withLock { $0.port } }

    /// - Throws: `APIStartError`; then nothing listens.
    package func start() throws {
        do {
            try state.withLock { state in
                guard state.stop == nil else { return }
                let stop = try Signal()
                state.stop = stop
                board.refresh()
                sightings.start()
                let api = API(
                    store: store, control: control, settings: settings, stop: stop,
                    streams: StreamSlots(limit: settings.limits.eventStreams), readinessCheck: MomentaryAnswer(),
                    board: board, sightings: sightings, refusals: RefusalLog(settings.log), access: access)
                let work = WorkQueue(threads: Self.workers)
                state.work = work
                state.certificates = try settings.identity.map { identity throws(APIStartError) in
                    try TLSCertificates(identity)
                }
                // The control socket first: it finds out whether another daemon is running, which says more than
                // "address in use".
                if let socket = settings.handed.control {
                    state.control = try HTTPDaemon(
                        socket: socket, door: .control, api: api, work: work, isHanded: true)
                } else if let path = settings.controlSocket {
                    let socket = try ListenSocket.control(
                        path: path, mode: settings.controlSocketMode, group: settings.controlSocketGroup)
                    state.controlSocket = socket
                    state.control = try HTTPDaemon(
                        socket: socket.descriptor, door: .control, api: api, work: work)
                }
                let network = try settings.handed.network ?? settings.listen.map(ListenSocket.network)
                if let socket = network {
                    state.port = ListenSocket.port(of: socket)
                    state.network = try HTTPDaemon(
                        socket: socket, door: .network, api: api, work: work, certificates: state.certificates,
                        isHanded: settings.handed.network != nil)
                }
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Ends event streams and exports, closes every connection and removes the control socket.
    package func stop() {
        state.withLock { state in
            state.stop?.set()
            state.network?.stop()
            state.network = nil
            state.control?.stop()
            state.control = nil
            if let socket = state.controlSocket { ListenSocket.remove(socket) }
            state.controlSocket = nil
            state.port = nil
            _ = state.work?.stop(patience: 1000)
            state.work = nil
            // Under the lock too: whoever stops it a second time, meanwhile, may trust in what is stored.
            sightings.stop()
            access.finish()
        }
    }
}
