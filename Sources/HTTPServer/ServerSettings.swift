// SPDX-License-Identifier: Apache-2.0
package import Signing
package import Telemetry

/// Where a server listens and how much it takes.
package struct ServerSettings: Sendable {
    /// nil: no TCP.
    package var listen: ListenAddress?
    /// A second address, for those who look after the relay; plain HTTP. nil: none.
    package var operations: ListenAddress?
    /// The control socket's path: every request on it has all rights. nil: none.
    package var controlSocket: String?
    /// Its permissions: 0600, or 0660 to let a group in.
    package var controlSocketMode: UInt32 = 0o600
    /// The group that the control socket is given to, with the mode 0660; nil: as `controlSocketMode` says.
    package var controlSocketGroup: UInt32?
    /// Sockets that listen already, for `listen` and `controlSocket` to use in place of sockets of their own.
    package var handed = HandedSockets()
    /// What TLS is spoken with on TCP; nil: plain HTTP.
    package var identity: ServerIdentity?
    package var limits: ServerLimits
    package var log: Log

    /// How a browser on this machine names the server; nil: no TCP. Whoever listens on all addresses is there on this one, too.
    package var origin: String? {
        guard var address = listen else { return nil }
        if address.host == "0.0.0.0" || address.host == "::" { address.host = "localhost" }
        return "\(identity == nil ? "http" : "https")://\(address)"
    }

    package init(listen: ListenAddress?, controlSocket: String?, limits: ServerLimits = ServerLimits(), log: Log) {
        self.listen = listen
        self.controlSocket = controlSocket
        self.limits = limits
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

package struct ServerLimits: Sendable, Hashable {
    /// Connections at a time, on each listening socket. Beyond, those that have been idle for the longest give way; where
    /// none is idle, new ones are closed as they come. Each needs a descriptor.
    package var connections = 16_384
    /// Connections at a time from one address (IPv6: from one /64). Half of all, so that one address alone never takes
    /// everybody's room, and a proxy before the relay has enough.
    package var connectionsPerAddress = 8192
    /// Threads that read and write sockets on TCP. They never wait for the store.
    package var threads = 2
    /// Milliseconds in which a connection must come to its next request line.
    package var idleTime: Int64 = 30_000
    /// Milliseconds from the request line to the end of the body, in all and not from byte to byte; and again for the
    /// answer to be taken. Of streams: for each piece of 128 KiB or more of an import, and each of an answer.
    package var requestTime: Int64 = 30_000

    /// Bytes of a request's target; more is 414.
    package var target = 8 * 1024
    /// Bytes of a request's head; more is 431.
    package var head = 16 * 1024

    package init() {}
}
