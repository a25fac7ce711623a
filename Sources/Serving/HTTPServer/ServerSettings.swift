// SPDX-License-Identifier: Apache-2.0
package import Signing
package import Telemetry

/// Where a server listens, and its limits.
package struct ServerSettings: Sendable {
    /// nil: no TCP.
    package var listen: ListenAddress?
    /// A second address, for operators of the relay; plain HTTP. nil: none.
    package var operations: ListenAddress?
    /// The control socket's path: every request on it has all rights. nil: none.
    package var controlSocket: String?
    /// The socket's permissions: 0600, or 0660 to let a group in.
    package var controlSocketMode: UInt32 = 0o600
    /// The group that gets the control socket, with the mode 0660; nil: `controlSocketMode` applies.
    package var controlSocketGroup: UInt32?
    /// Listening sockets that `listen` and `controlSocket` use in place of new ones.
    package var handed = HandedSockets()
    /// The certificate and key for TLS on TCP; nil: plain HTTP.
    package var identity: ServerIdentity?
    package var limits: ServerLimits
    package var log: Log

    /// The server's origin for a browser on this machine; nil: no TCP. A server on all addresses is reached at "localhost".
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

/// Listening sockets that systemd made and keeps a duplicate of, so that a restart refuses no client. The server closes its
/// own descriptors at the end and leaves the file of the control socket to systemd.
package struct HandedSockets: Sendable, Hashable {
    package var network: Int32?
    package var control: Int32?

    package init(network: Int32? = nil, control: Int32? = nil) {
        self.network = network
        self.control = control
    }
}

package struct ServerLimits: Sendable, Hashable {
    /// Connections at a time, on each listening socket. Beyond this number, those that have been idle for the longest give way;
    /// where none is idle, those that have kept the relay waiting for too long; else the new one is closed. Each needs a descriptor.
    package var connections = 16_384
    /// Connections at a time from one address (IPv6: from one /64). Half of all, so that no address takes all the room, and
    /// a proxy before the relay has enough.
    package var connectionsPerAddress = 8192
    /// Threads that read and write sockets on TCP. They never wait for the store.
    package var threads = 2
    /// Milliseconds in which a connection must complete its next request line.
    package var idleTime: Int64 = 30_000
    /// Milliseconds from the request line to the end of the body, as a whole and not from byte to byte; and again for the
    /// client to take the answer. In a stream, the limit is for each piece; an import's pieces have 128 KiB or more.
    package var requestTime: Int64 = 30_000

    /// Bytes of a request's target; more is 414.
    package var target = 8 * 1024
    /// Bytes of a request's head; more is 431.
    package var head = 16 * 1024

    package init() {}
}
