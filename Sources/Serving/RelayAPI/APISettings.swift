// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
package import RelayEngine
package import Signing
package import Telemetry

/// Where the API listens and how much it takes.
package struct APISettings: Sendable {
    package var server: ServerSettings
    /// The callers that the login check trusts about a device's version.
    package var checkTrust = CheckTrust.device
    /// Read again for each webhook, so that a reload replaces the secrets.
    package var webhookSecrets: @Sendable () -> [WebhookSecret]
    package var limits = APILimits()
    /// Read again for each question of a proxy, so that a reload replaces the rules; the headers' names stay as at the start.
    package var enforce: @Sendable () -> EnforceRules = { EnforceRules() }
    /// The sites whose scripts may read the answers to apps (`listen.corsOrigins`). Default none.
    package var webOrigins = WebOrigins.none
    /// People whom a proxy signs in (`listen.page.identity`); nil: none. Read again for each request, so that a reload replaces the
    /// rules; the headers' names stay as at the start.
    package var identity: @Sendable () -> ProxyIdentity? = { nil }
    /// Whether people's browsers are served the page (`listen.page`).
    package var servesPage = true
    /// Renders answers for people; supplied by the module that knows HTML.
    package var rendering = PageRendering()
    /// The wall clock.
    package var clock: @Sendable () -> Timestamp
    /// Logs failures on the relay's own side, by route. Never bodies, queries, tokens or telephones.
    package var log: Log { server.log }

    package init(
        listen: ListenAddress?, controlSocket: String?, controlSocketMode: UInt32 = 0o600,
        webhookSecrets: @escaping @Sendable () -> [WebhookSecret], limits: APILimits = APILimits(),
        clock: @escaping @Sendable () -> Timestamp, log: Log = .discarding
    ) {
        server = ServerSettings(listen: listen, controlSocket: controlSocket, limits: limits.server, log: log)
        server.controlSocketMode = controlSocketMode
        self.webhookSecrets = webhookSecrets
        self.limits = limits
        self.clock = clock
    }
}

/// The callers that the login check trusts about a device's version.
package enum CheckTrust: String, Sendable, CaseIterable {
    /// Any caller that names the device's push token, a secret between the device, its push service and its owner, as long as the
    /// version is credible (see `CheckRoutes`).
    case device
    /// Only callers with an API token of the scope `devices`, and the control socket.
    case authorized
}

package struct APILimits: Sendable, Hashable {
    package var server = ServerLimits()
    /// Bytes of a webhook's body; more is 413 (CONTRACT).
    package var webhookBody = 64 * 1024
    /// Bytes of every other body that is not streamed.
    package var body = 1024 * 1024
    /// Bytes of one line of an NDJSON import.
    package var line = 16 * 1024
    /// Refused lines of one import that are answered with their reasons; all are counted.
    package var refusedLines = 10_000
    /// Event streams at a time: fewer than connections, so that watchers never lock anyone out.
    package var eventStreams = 64
    /// The event streams of one API token.
    package var eventStreamsOfToken: Int { max(1, eventStreams / 4) }
    /// Devices whose versions, reported at login, wait to be stored; more are dropped until there is room.
    package var sightings = 100_000

    package init() {}
}

/// Renders the API's answers for people.
package struct PageRendering: Sendable {
    /// Renders a problem with a request of the page. Default: as the API answers it.
    package var problem: @Sendable (ProblemDetails, RequestHead, API, Caller) -> Response = { problem, _, _, _ in
        problem.response
    }
    /// Renders a campaign as one file. Default: a 501.
    package var report: @Sendable (API, Call) throws -> Response = { _, _ in
        throw ProblemDetails(501, "this server renders no reports")
    }

    package init() {}
}
