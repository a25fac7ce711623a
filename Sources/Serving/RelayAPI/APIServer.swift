// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
package import RelayStore
import Synchronization
import Threading

/// The HTTP API on TCP and on the control socket.
///
/// `start` returns when both listen; `stop` returns when every request has ended, and may be called twice or without a
/// start. A stopped server cannot be started again. Both may be called from any thread but the server's own.
package final class APIServer: Sendable {
    let api: API
    package let http: HTTPService
    private let isStarted = Mutex(false)

    /// - Parameters:
    ///   - versionCache: the rendered answers of the open paths.
    ///   - page: the routes that serve people's browsers beside the API.
    package init(
        store: any RelayStore, control: any RelayControl, settings: APISettings, versionCache: VersionCache,
        page: [Route] = []
    ) {
        let router = page.isEmpty ? Router.api : Router(Route.all + page)
        api = API(store: store, control: control, settings: settings, versionCache: versionCache, router: router)
        http = HTTPService(settings.server)
    }

    deinit {
        stop()
    }

    /// - Throws: `ServerStartError`; then nothing listens.
    package func start() throws {
        do {
            try isStarted.withLock { isStarted in
                guard !isStarted else { return }
                isStarted = true
                api.versionCache.refresh()
                try api.versionCache.start()
                try api.sightings.start()
                try http.start(api)
            }
        } catch {
            stop()
            throw error
        }
    }

    /// Empties the token cache: another relay may have made, revoked or changed an API token.
    package func forgetTokens() { api.tokenCache.forget() }

    /// Ends event streams and exports, closes every connection and removes the control socket.
    ///
    /// - Parameter time: how long requests that have begun may take; `stop` returns a second later at the latest, if the
    ///   store takes the waiting sightings.
    package func stop(within time: Duration = .seconds(7)) {
        isStarted.withLock { _ in
            api.stop.set()
            http.stop(within: time)
            // Under the lock too: a second `stop` at the same time must not return before all is stored.
            api.sightings.stop()
            api.uses.finish()
            api.versionCache.stop()
            api.access.finish()
        }
    }
}
