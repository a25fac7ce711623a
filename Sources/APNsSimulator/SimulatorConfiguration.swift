// SPDX-License-Identifier: Apache-2.0
package import Signing

/// How a simulator is set up. Everything but topics, team and keys has a default.
package struct SimulatorConfiguration: Sendable {
    /// The IPv4 or IPv6 address to listen on. Default 127.0.0.1.
    package var address = "127.0.0.1"
    /// 0, the default, asks the system for a free one: see `APNsSimulator.port`.
    package var port: UInt16 = 0
    /// Default: made anew, for clients of the same process.
    package var certificate = SimulatorCertificate.generated(directory: nil)
    /// PEM: clients are asked for a certificate of one of these authorities, and judged by it where they show one. Default nil:
    /// nobody is asked.
    package var clientAuthorities: [UInt8]?
    /// Which of Apple's worlds it stands for, where it judges certificates. Default nil: both.
    package var world: APNsWorld?
    /// The bundle ids it takes pushes for.
    package var topics: Set<String>
    /// `iss` of the provider tokens.
    package var teamID: String
    /// `kid` to public key.
    package var keys: [String: ES256PublicKey]
    package var faults = FaultScript()
    /// A file to which every accepted push is appended as a line of JSON; nil: none.
    package var recordPath: String?
    /// From request to answer. Default 0.
    package var latency: Duration = .zero
    /// Streams of a connection once it has shown a valid provider token. Default 1000.
    package var maximumStreams = 1000
    /// Benchmark mode: nothing of a push is looked at, and every answer is 200 with the same apns-id. Pushes are counted;
    /// there are no faults, no record and no book of what was accepted.
    package var bare = false
    /// Keeps a count per device token and per apns-id, in 8-byte hashes (about 80 bytes a push). Default true.
    package var keepsAccepted = true

    package init(topics: Set<String>, teamID: String, keys: [String: ES256PublicKey]) {
        self.topics = topics
        self.teamID = teamID
        self.keys = keys
    }
}

/// Where the simulator's TLS certificate comes from.
package enum SimulatorCertificate: Sendable {
    /// PEM files: the chain, leaf first, and its key.
    case files(chain: String, key: String)
    /// PEM texts.
    case issued(IssuedCertificate)
    /// A new authority and a leaf for localhost and the loopback addresses. With a directory, the authority's
    /// certificate is written into it as `apns-simulator-ca.pem`, for clients to trust.
    case generated(directory: String?)
}

/// Why a simulator cannot start.
package struct SimulatorError: Error, Sendable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}
