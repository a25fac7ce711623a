// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayStore
package import Signing
import Synchronization
import Threading

/// The HTTP API on TCP and on the control socket.
///
/// `start` returns when both listen; `stop` returns when every request has ended, may come twice, and may come without a
/// start. A stopped server is not started again. Both may be called from any thread but the server's own.
package final class APIServer: Sendable {
    private let store: any RelayStore
    private let control: any RelayControl
    private let settings: APISettings
    private let versionCache: VersionCache
    private let sightings: SightingQueue
    private let access: AccessLog
    private let http: HTTPService
    /// Told when the server stops; nil before `start`.
    private let stopping = Mutex<CancellationFlag?>(nil)

    /// - Parameter versionCache: what the open paths answer from; without one, the server makes its own and refreshes it when
    ///   a version changes through the API, and now and then.
    package init(
        store: any RelayStore, control: any RelayControl, settings: APISettings, versionCache: VersionCache? = nil
    ) {
        let versionCache =
            versionCache
            ?? VersionCache(store: store, clock: settings.clock) {
                var profiles: [AppKey: AppProfile] = [:]
                for app in control.apps() { profiles[app] = control.profile(of: app) }
                return profiles
            }
        self.versionCache = versionCache
        access = AccessLog(settings.log)
        sightings = SightingQueue(store: store, limit: settings.limits.sightings, clock: settings.clock)
        http = HTTPService(settings.server)
        self.store = store
        self.control = control
        self.settings = settings
    }

    deinit {
        stop()
    }

    /// Takes another certificate for the handshakes to come; connections that live are not touched. After `start`.
    ///
    /// - Returns: whether it is another one.
    /// - Throws: `ServerStartError.badCertificate`; then the old one stays.
    package func exchange(identity: ServerIdentity) throws -> Bool { try http.exchange(identity: identity) }

    /// The TCP port that is listened on, also where the settings say 0; nil before `start` and without TCP.
    package var port: UInt16? { http.port }

    /// The same of the address for operations.
    package var operationsPort: UInt16? { http.operationsPort }

    /// - Throws: `ServerStartError`; then nothing listens.
    package func start() throws {
        do {
            try stopping.withLock { stopping in
                guard stopping == nil else { return }
                let stop = CancellationFlag()
                stopping = stop
                versionCache.refresh()
                try versionCache.start()
                try sightings.start()
                try http.start(
                    API(
                        store: store, control: control, settings: settings, stop: stop, versionCache: versionCache,
                        sightings: sightings, access: access))
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Reads again what the open paths answer from.
    package func refreshVersions() {
        versionCache.refresh()
    }

    /// Ends event streams and exports, closes every connection and removes the control socket.
    ///
    /// - Parameter time: for requests that are begun; it returns a second later at the latest, if the store takes what it has.
    package func stop(within time: Duration = .seconds(7)) {
        stopping.withLock { stopping in
            stopping?.set()
            http.stop(within: time)
            // Under the lock too: whoever stops it a second time, meanwhile, may trust in what is stored.
            sightings.stop()
            versionCache.stop()
            access.finish()
        }
    }
}
