// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import RelayEngine

/// A pool of connections to one origin with one credential, within one lane. Connections are never shared between
/// pools: APNs binds a connection to the first team that pushes on it (PROTOCOLS 1.4).
///
/// Who holds one keeps the pool's receiver: the lane itself keeps nothing of a pool that has been removed.
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
    /// How a connection is opened. Apple ignores provider tokens on one that shows a client's certificate.
    package var dialer: Dialer
    /// What each connection goes by, but for what is known of those before it.
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

/// What an answer means for the connection and for what has not been sent yet.
package enum AnswerVerdict: Sendable {
    /// Only this request is concerned.
    case keep
    /// Nothing new on this connection; open another one (403 ExpiredProviderToken wedges it, 503 Shutdown ends it).
    case recycle
    /// Recycle, and hand back what this pool has not sent yet as `.unsent`: the credential is bad.
    case halt
    /// Halt where it is one of several such answers in a row, for then the credential seems bad; else only this request is concerned.
    case doubt
}

/// What a judge found in an answer's body, so that nobody parses it again.
package struct AnswerReading: Sendable, Hashable {
    /// A place in the judge's own table, from 1; 0: none of it, so the body itself has to be looked at.
    package var entry: UInt16
    /// A number from the body, such as the timestamp of a 410.
    package var number: Int64?

    package init(entry: UInt16 = 0, number: Int64? = nil) {
        self.entry = entry
        self.number = number
    }
}

/// Judges answers on the lane's thread; called for every answer that is not 2xx, so it must be quick.
package protocol AnswerJudge: Sendable {
    func judge(status: UInt16, body: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading)
    /// Whether the body of a 2xx, by the first piece of it, is that of a good answer; any other is kept and judged. Called for every 2xx
    /// with a body.
    func isGood(_ body: Span<UInt8>) -> Bool
}

extension AnswerJudge {
    package func isGood(_ body: Span<UInt8>) -> Bool { true }
}

/// How a pool is doing, for status and logs.
package enum PoolCondition: Sendable, Equatable {
    /// The first connection is up; or, after trouble, a request has been answered again: a server that only takes
    /// connections has not come back.
    case connected
    /// What waits cannot be sent for now, because no connection is up: the error as the operator should read it, and how
    /// often in a row it came to nothing. Not reported where nothing waits, nor of a connection whose answers were the reason.
    case failing(error: String, attempts: Int)
}

/// Gets batches back. Called on the lane's thread: store and return.
package protocol BatchReceiver: AnyObject, Sendable {
    /// Every request of the batch has an answer.
    func finished(_ batch: RequestBatch)
    func pool(_ pool: PoolID, is condition: PoolCondition)
    /// The pool's connections carry so many requests at once, from now on.
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
    /// By error code; the last is every code that RFC 9113 does not know.
    package var goAwayCodes = InlineArray<15, Int>(repeating: 0)
    /// From putting a request on a connection to its answer.
    package var latency = LatencyHistogram()

    package init() {}

    /// What is counted by kind only moves with its sum.
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
