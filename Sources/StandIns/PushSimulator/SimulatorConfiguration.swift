// SPDX-License-Identifier: Apache-2.0
package import Signing

/// How a simulator is set up. Everything but the service has a default.
package struct SimulatorConfiguration: Sendable {
    /// The IPv4 or IPv6 address to listen on. Default 127.0.0.1.
    package var address = "127.0.0.1"
    /// 0, the default, asks the system for a free one: see `PushSimulator.port`.
    package var port: UInt16 = 0
    /// Default: made anew, for clients of the same process.
    package var certificate = SimulatorCertificate.generated(directory: nil)
    /// The push service that it stands in for.
    package var service: SimulatedService
    /// PEM: clients are asked for a certificate of one of these authorities, and judged by it where they show one. Default nil:
    /// no client is asked.
    package var clientAuthorities: [UInt8]?
    package var faults = FaultScript()
    /// A file to which every accepted push is appended as a line of JSON; nil: none.
    package var recordPath: String?
    /// From request to answer. Default 0.
    package var latency: Duration = .zero
    /// Streams of a connection, with APNs once it has shown a valid provider token. Default: APNs 1000 (PROTOCOLS 1.7), FCM
    /// 100 (PROTOCOLS 2.1).
    package var maximumStreams: Int
    /// Another HTTP/2 session than the strict one: that of a benchmark.
    package var session: (@Sendable (RequestJudge) -> any SimulatorSession)?
    /// The witness of the requests that the script's `shares` hit. Default nil: none, which costs less.
    package var witness: (any FaultWitness)?
    /// Keeps a count per device token and per push id, in 8-byte hashes (about 80 bytes a push). Default true.
    package var keepsAccepted = true

    package init(_ service: SimulatedService) {
        self.service = service
        maximumStreams = service.name == .apns ? 1000 : 100
    }

    /// A stand-in for APNs.
    package init(topics: Set<String>, teamID: String, keys: [String: ES256PublicKey]) {
        self.init(.apns(APNsTeam(topics: topics, teamID: teamID, keys: keys)))
    }

    /// A stand-in for FCM.
    package init(_ project: FCMProject) {
        self.init(.fcm(project))
    }
}

/// Where the simulator's TLS certificate comes from.
package enum SimulatorCertificate: Sendable {
    /// PEM files: the chain, leaf first, and its key.
    case files(chain: String, key: String)
    /// PEM texts.
    case issued(IssuedCertificate)
    /// A new authority and a leaf for localhost and the loopback addresses. With a directory, the authority's
    /// certificate is written into it as `push-simulator-ca.pem`, for clients to trust.
    case generated(directory: String?)
}

/// Why a simulator cannot start.
package struct SimulatorError: Error, Sendable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}
