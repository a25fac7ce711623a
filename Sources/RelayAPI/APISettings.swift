// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Signing
package import Telemetry
import VersionSources

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
    /// The group that the control socket is given to, with the mode 0660; nil: as `controlSocketMode` says.
    package var controlSocketGroup: UInt32?
    /// What TLS is spoken with on TCP; nil: plain HTTP.
    package var identity: ServerIdentity?
    /// Whose word on a device's version is taken at the check.
    package var checkTrust = CheckTrust.device
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

/// Whose word is taken for the version that a device is said to have at the check at login.
package enum CheckTrust: String, Sendable, CaseIterable {
    /// Whoever names the device's push token, a secret between the device, its push service and its owner; within what
    /// `CheckRoutes` calls credible.
    case device
    /// Only callers with an API token of the scope `devices`, and the control socket.
    case authorized
}

package struct APILimits: Sendable, Hashable {
    /// Bytes; CONTRACT: over 64 KiB is 413.
    package var webhookBody = 64 * 1024
    /// Bytes of every other body that is not streamed.
    package var body = 1024 * 1024
    /// Bytes of one line of an NDJSON import.
    package var line = 16 * 1024
    /// Refused lines of one import that are answered with their reasons; all are counted.
    package var refusedLines = 10_000
    /// Bytes of a request's target; more is 414.
    package var target = 8 * 1024
    /// Bytes of a request's head; more is 431.
    package var head = 16 * 1024
    /// Connections at a time, on each listening socket. Beyond, those that have been idle for the longest give way; where
    /// none is idle, new ones are closed as they come. Each needs a descriptor.
    package var connections = 16_384
    /// Connections at a time from one address (IPv6: from one /64). Half of all, so that one address alone never takes
    /// everybody's room, and a proxy before the relay has enough.
    package var connectionsPerAddress = 8192
    /// Threads that read and write sockets on TCP. They never wait for the store.
    package var threads = 2
    /// Event streams at a time: fewer than connections, so that watchers never lock anyone out.
    package var eventStreams = 64
    /// Devices whose versions, told at login, wait to be stored; more are dropped until there is room.
    package var sightings = 100_000
    /// Milliseconds in which a connection must come to its next request line.
    package var idleTime: Int64 = 30_000
    /// Milliseconds from the request line to the end of the body, in all and not from byte to byte; and again for the
    /// answer to be taken. Of streams: for each piece of 128 KiB or more of an import, and each of an answer.
    package var requestTime: Int64 = 30_000

    package init() {}
}
