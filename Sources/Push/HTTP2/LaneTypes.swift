// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import RelayEngine

/// A pool of connections to one origin with one credential, within one lane. Connections are never shared between
/// pools: APNs binds a connection to the first team that pushes on it (PROTOCOLS 1.4).
///
/// Each holder keeps the pool's receiver alive: the lane itself keeps nothing of a pool that has been removed.
package struct PoolID: Hashable, Sendable {
    /// Never used again within its lane.
    package let number: Int
    package let receiver: any BatchReceiver

    package init(number: Int, receiver: any BatchReceiver) {
        self.number = number
        self.receiver = receiver
    }

    package static func == (left: PoolID, right: PoolID) -> Bool { left.number == right.number }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

package struct PoolConfiguration: Sendable, Equatable {
    /// How a connection is opened. Apple ignores provider tokens on a connection with a client certificate.
    package var dialer: Dialer
    /// The settings of each connection, except for values learned from earlier ones.
    package var connection = ConnectionMachine.Settings()
    /// From sending a request to its answer. Default 30 s.
    package var requestTimeout: Duration = .seconds(30)
    /// Connections at most. More than one is opened only while all are full and more brings a higher rate. Default 16.
    package var maximumConnections = 16

    package init(_ destination: Destination, egress: Egress, origin: Origin) {
        dialer = Dialer(to: destination, host: origin.host, port: origin.port, egress: egress)
    }

    package var origin: Origin {
        get { Origin(host: dialer.host, port: dialer.port) }
        set { (dialer.host, dialer.port) = (newValue.host, newValue.port) }
    }
}

/// The library that carries a push service's requests.
package enum Transport: Sendable, Hashable {
    /// libnghttp2: HTTP/2 alone, at the least cost for each request. For services that take one push in a request.
    case nghttp2
    /// libcurl: HTTP/2 or HTTP/1.1, at some thirty times the cost. For services that take many pushes in a request, or have no HTTP/2.
    case libcurl
}

/// The meaning of an answer for the connection and for requests that have not been sent yet.
package enum AnswerVerdict: Sendable {
    /// Only this request is concerned.
    case keep
    /// Nothing new on this connection; open another one (403 ExpiredProviderToken wedges it, 503 Shutdown ends it).
    case recycle
    /// Recycle, and hand back this pool's unsent requests as `.unsent`: the credential is bad.
    case halt
    /// Halt if it is one of several such answers in a row, since the credential then seems bad; else only this request is
    /// concerned.
    case doubt
}

/// The result of a judge for an answer's body, so that it is not parsed again.
package struct AnswerReading: Sendable, Hashable {
    /// A place in the judge's own table, from 1; 0: not in it, so the body itself must be looked at.
    package var entry: UInt16
    /// A number from the body, such as the timestamp of a 410.
    package var number: Int64?

    package init(entry: UInt16 = 0, number: Int64? = nil) {
        self.entry = entry
        self.number = number
    }
}

/// Judges answers on the lane's thread; called for every answer that is not 2xx, or whose body is not good, so it must be quick.
package protocol AnswerJudge: Sendable {
    func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading)
    /// Whether the body of a 2xx, by its first piece, is a good answer's; any other is kept and judged. Called for every 2xx with
    /// a body.
    func isGood(_ body: Span<UInt8>) -> Bool
    /// The most bytes that are kept of the body of an answer that is not simply good. Default 4 KiB; an answer that
    /// names many tokens needs more.
    var longestBody: Int { get }
}

extension AnswerJudge {
    package func isGood(_ body: Span<UInt8>) -> Bool { true }
    package var longestBody: Int { 4096 }
}

/// The state of a pool, for status and logs.
package enum PoolCondition: Sendable, Equatable {
    /// The first connection is up; or, after a fault, a request has been answered again: a server that only takes connections has
    /// not recovered.
    case connected
    /// Queued requests cannot be sent for now, because no connection is up: the error as the operator should read it, and the
    /// number of failures in a row. Not reported where nothing waits, nor for a connection that ended because of its answers.
    case failing(error: String, attempts: Int)
}

/// Takes batches back. Called on the lane's thread, so each method must return quickly.
package protocol BatchReceiver: AnyObject, Sendable {
    /// Every request of the batch has an answer.
    func finished(_ batch: RequestBatch)
    func pool(_ pool: PoolID, is condition: PoolCondition)
    /// The number of requests that the pool's connections carry at once, from now on.
    func pool(_ pool: PoolID, carries streams: Int)
}

/// Figures of a lane since it started, read from any thread.
package struct LaneFigures: Sendable, Equatable {
    package var connectionsOpened = 0
    package var connectionsOpen = 0
    package var requestsSent = 0
    package var requestsInFlight = 0
    package var goAways = 0
    package var resends = 0
    package var dials = 0
    package var dialFailures = 0
    package var connectionsRetired = 0
    /// By `ConnectionMachine.Retirement.number`.
    package var retirements = InlineArray<10, Int>(repeating: 0)
    /// By error code; the last counts every code that RFC 9113 does not define.
    package var goAwayCodes = InlineArray<15, Int>(repeating: 0)
    /// From putting a request on a connection to its answer.
    package var latency = LatencyHistogram()

    package init() {}

    /// The counts by kind change only with their sums.
    package static func == (left: LaneFigures, right: LaneFigures) -> Bool {
        left.connectionsOpened == right.connectionsOpened && left.connectionsOpen == right.connectionsOpen
            && left.requestsSent == right.requestsSent && left.requestsInFlight == right.requestsInFlight
            && left.goAways == right.goAways && left.resends == right.resends && left.dials == right.dials
            && left.dialFailures == right.dialFailures && left.connectionsRetired == right.connectionsRetired
            && left.latency == right.latency
    }

    mutating func count(_ goAway: GoAway) {
        goAways += 1
        goAwayCodes[min(Int(goAway.errorCode), goAwayCodes.count - 1)] += 1
    }

    mutating func count(_ reason: ConnectionMachine.Retirement) {
        connectionsRetired += 1
        retirements[reason.number] += 1
    }

    /// Each error code's name with its count.
    package var goAwaysByCode: [(code: String, count: Int)] {
        goAwayCodes.indices.map { ($0 < GoAway.names.count ? GoAway.names[$0] : "other", goAwayCodes[$0]) }
    }

    /// Each reason's name with its count.
    package var retirementsByReason: [(reason: String, count: Int)] {
        retirements.indices.map { (ConnectionMachine.Retirement.names[$0], retirements[$0]) }
    }
}

extension ConnectionMachine.Retirement {
    static let names = [
        "goAway", "judged", "refuses", "timedOut", "streamReset", "outOfStreams", "stopped", "died",
        "surplus", "spent",
    ]

    var number: Int {
        switch self {
        case .goAway: 0
        case .judged: 1
        case .refuses: 2
        case .timedOut: 3
        case .streamReset: 4
        case .outOfStreams: 5
        case .stopped: 6
        case .died: 7
        case .surplus: 8
        case .spent: 9
        }
    }
}
