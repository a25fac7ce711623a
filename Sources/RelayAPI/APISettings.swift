// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import VersionSources

/// Where the API listens and how much it takes.
package struct APISettings: Sendable {
    /// nil: no TCP.
    package var listen: ListenAddress?
    /// The control socket's path: every request on it has all rights. nil: none.
    package var controlSocket: String?
    /// Its permissions: 0600, or 0660 to let a group in.
    package var controlSocketMode: UInt32 = 0o600
    /// Sockets that listen already, for `listen` and `controlSocket` to use in place of sockets of their own.
    package var handed = HandedSockets()
    /// Asked anew for each webhook, so that a reload exchanges them.
    package var webhookSecrets: @Sendable () -> [WebhookSecret]
    package var limits = APILimits()
    /// The wall clock.
    package var clock: @Sendable () -> Timestamp
    /// Told of what failed on the relay's own side, by route. Never of bodies, queries, tokens or telephones.
    package var log: Log

    package init(
        listen: ListenAddress?, controlSocket: String?, controlSocketMode: UInt32 = 0o600,
        webhookSecrets: @escaping @Sendable () -> [WebhookSecret], limits: APILimits = APILimits(),
        clock: @escaping @Sendable () -> Timestamp, log: Log = .discarding
    ) {
        self.listen = listen
        self.controlSocket = controlSocket
        self.controlSocketMode = controlSocketMode
        self.webhookSecrets = webhookSecrets
        self.limits = limits
        self.clock = clock
        self.log = log
    }
}

/// Listening sockets that somebody else made and keeps a duplicate of: systemd, so that a restart refuses nobody. The server
/// closes its own descriptors at the end and leaves the file of the control socket to its maker.
package struct HandedSockets: Sendable, Hashable {
    package var network: Int32?
    package var control: Int32?

    package init(network: Int32? = nil, control: Int32? = nil) {
        self.network = network
        self.control = control
    }
}

package struct APILimits: Sendable {
    /// Bytes; CONTRACT: over 64 KiB is 413.
    package var webhookBody = 64 * 1024
    /// Bytes of every other body that is not streamed.
    package var body = 1024 * 1024
    /// Bytes of one line of an NDJSON import.
    package var line = 16 * 1024
    /// Refused lines of one import that are answered with their reasons; all are counted.
    package var refusedLines = 10_000
    /// Connections at a time, on each listening socket; those beyond are closed as soon as they come, so that every app
    /// that keeps its connection after the check at login needs one. Three quarters of the 1024 descriptors that a
    /// process has where nobody raised the limit.
    package var connections: UInt32 = 768
    /// Event streams at a time: fewer than connections, so that watchers never lock anyone out.
    package var eventStreams = 64
    /// Devices whose versions, told at login, wait to be stored; more are dropped until there is room.
    package var sightings = 100_000
    /// Seconds after which a silent connection is closed; more than the 15 that an event stream may be silent.
    package var idleSeconds: UInt32 = 30

    package init() {}
}
