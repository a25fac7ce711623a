// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
package import RelayEngine
package import Signing
package import Telemetry

/// Where the API listens and how much it takes.
package struct APISettings: Sendable {
    package var server: ServerSettings
    /// Whose word on a device's version is taken at the check.
    package var checkTrust = CheckTrust.device
    /// Asked anew for each webhook, so that a reload exchanges them.
    package var webhookSecrets: @Sendable () -> [WebhookSecret]
    package var limits = APILimits()
    /// Asked anew for each question of a proxy, so that a reload exchanges them; the names of the headers are those of the start.
    package var enforce: @Sendable () -> EnforceRules = { EnforceRules() }
    /// Whose scripts may read what apps are answered (`listen.corsOrigins`). Default nobody's.
    package var webOrigins = WebOrigins.none
    /// Whether people's browsers are served the page (`listen.page`).
    package var servesPage = true
    /// What is rendered for people, by who knows HTML.
    package var rendering = PageRendering()
    /// The wall clock.
    package var clock: @Sendable () -> Timestamp
    /// Gets what failed on the relay's own side, by route. Never of bodies, queries, tokens or telephones.
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

/// Whose word is taken for the version that a device is said to have at the check at login.
package enum CheckTrust: String, Sendable, CaseIterable {
    /// Whoever names the device's push token, a secret between the device, its push service and its owner; within what
    /// `CheckRoutes` calls credible.
    case device
    /// Only callers with an API token of the scope `devices`, and the control socket.
    case authorized
}

package struct APILimits: Sendable, Hashable {
    package var server = ServerLimits()
    /// Bytes; CONTRACT: over 64 KiB is 413.
    package var webhookBody = 64 * 1024
    /// Bytes of every other body that is not streamed.
    package var body = 1024 * 1024
    /// Bytes of one line of an NDJSON import.
    package var line = 16 * 1024
    /// Refused lines of one import that are answered with their reasons; all are counted.
    package var refusedLines = 10_000
    /// Event streams at a time: fewer than connections, so that watchers never lock anyone out.
    package var eventStreams = 64
    /// Those of one API token.
    package var eventStreamsOfToken: Int { max(1, eventStreams / 4) }
    /// Devices whose versions, reported at login, wait to be stored; more are dropped until there is room.
    package var sightings = 100_000

    package init() {}
}

/// What the API has rendered for people.
package struct PageRendering: Sendable {
    /// What is wrong with a request of the page's. Default: as the API says it.
    package var problem: @Sendable (ProblemDetails, RequestHead, API, Caller) -> Response = { problem, _, _, _ in
        problem.response
    }
    /// A campaign as one file. Default: there is none.
    package var report: @Sendable (API, Call) throws -> Response = { _, _ in
        throw ProblemDetails(501, "this server renders no reports")
    }

    package init() {}
}
