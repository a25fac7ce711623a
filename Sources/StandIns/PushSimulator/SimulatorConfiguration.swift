// SPDX-License-Identifier: Apache-2.0
package import Signing

/// The settings of a simulator. Everything but the service has a default.
package struct SimulatorConfiguration: Sendable {
    /// The IPv4 or IPv6 address to listen on. Default 127.0.0.1.
    package var address = "127.0.0.1"
    /// The port to listen on. 0, the default, asks the system for a free one: see `PushSimulator.port`.
    package var port: UInt16 = 0
    /// Default: generated anew, for clients in the same process.
    package var certificate = SimulatorCertificate.generated(directory: nil)
    /// The push service that it stands in for.
    package var service: SimulatedService
    /// PEM: clients are asked for a certificate of one of these authorities, and judged by it where they show one. Default nil:
    /// no client is asked.
    package var clientAuthorities: [UInt8]?
    package var faults = FaultScript()
    /// A file to which every accepted push is appended as a line of JSON; nil: none.
    package var recordPath: String?
    /// The time from request to answer. Default 0.
    package var latency: Duration = .zero
    /// The most streams of a connection, with some services once it has shown a valid credential. Default: the service's
    /// number.
    package var maximumStreams: Int
    /// Makes an HTTP/2 session other than the strict one, for a benchmark; nil: the strict one.
    package var session: (@Sendable (RequestJudge) -> any SimulatorSession)?
    /// The witness of the requests that the script's `shares` hit. Default nil: none, which costs less.
    package var witness: (any FaultWitness)?
    /// Whether to keep a count of pushes per device token, and the set of push ids, as 8-byte hashes (about 80 bytes a push).
    /// Default true.
    package var keepsAccepted = true

    package init(_ service: SimulatedService) {
        self.service = service
        maximumStreams = service.kind.maximumStreams
    }
}

/// The source of the simulator's TLS certificate.
package enum SimulatorCertificate: Sendable {
    /// PEM files: the chain, leaf first, and its key.
    case files(chain: String, key: String)
    /// PEM texts.
    case issued(IssuedCertificate)
    /// A new authority and a leaf for localhost, the loopback addresses and the address that is listened on. With a
    /// directory, the authority's certificate is written into it as `push-simulator-ca.pem`, for clients to trust.
    case generated(directory: String?)
}

/// Why a simulator cannot start.
package struct SimulatorError: Error, Sendable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}
