// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Glibc
import RelayEngine
import Telemetry
import Threading

/// The thread of a lane by libcurl: takes commands, begins requests, concludes those that have ended.
final class CurlLoop {
    enum Command: Sendable {
        case addPool(PoolID, PoolConfiguration, any AnswerJudge)
        case submit(RequestBatch, PoolID)
        case withdraw(PoolID)
        case removePool(PoolID)
        case stop(within: Duration)
    }

    private struct Flight {
        let pool: CurlPool
        let request: CarriedRequest
        let sentAt: MonotonicTime
    }

    private let mailbox: Mailbox<Command>
    private let board: LaneBoard
    private let pulse: Pulse
    private let mayBegin: @Sendable () -> Bool
    /// In the order in which they were added, without those that were removed and are over.
    private var pools: [CurlPool] = []
    /// The requests in flight, by the number that `ParallelRequests.End` reports.
    private var flights: [Int: Flight] = [:]
    private var lastNumber = 0
    /// The connections for new requests; nil until there are any.
    private var requests: ParallelRequests?
    /// Connections that take no new requests: they are kept until the requests on them have ended.
    private var retired: [ParallelRequests] = []
    private var stopAt: MonotonicTime?
    private var figures = LaneFigures()
    private var shownFigures = LaneFigures()

    /// The interval at which requests that wait for the end of a pause are checked again.
    private static let tick: Duration = .milliseconds(250)
    /// The interval at which retired connections are checked: libcurl can wait for only one set of connections at a time.
    private static let retiredTick: Duration = .milliseconds(20)

    init(
        mailbox: Mailbox<Command>, board: LaneBoard, pulse: Pulse, mayBegin: @escaping @Sendable () -> Bool
    ) {
        self.mailbox = mailbox
        self.board = board
        self.pulse = pulse
        self.mayBegin = mayBegin
    }

    func run() {
        while true {
            pulse.rest()
            let commands = wait()
            pulse.beat()
            for command in commands { obey(command, at: MonotonicClock.now()) }
            for set in retired + (requests.map { [$0] } ?? []) {
                for end in set.turn() { conclude(end, at: MonotonicClock.now()) }
            }
            retired.removeAll { $0.count == 0 }
            let now = MonotonicClock.now()
            let mayBegin = mayBegin()
            for pool in pools {
                if !mayBegin { pool.withdraw() }
                while let request = pool.take(at: now) { begin(request, of: pool, at: now) }
                pool.handBackStale(at: now)
            }
            report()
            if let stopAt, flights.isEmpty || now >= stopAt {
                end()
                pulse.rest()
                return
            }
        }
    }

    /// Sleeps until a command has come, libcurl has something to do, or a pause may be over.
    private func wait() -> [Command] {
        let now = MonotonicClock.now()
        var longest: Duration = .seconds(30)
        if pools.contains(where: { $0.queued > 0 }) { longest = Self.tick }
        if !retired.isEmpty { longest = Self.retiredTick }
        if let stopAt { longest = min(longest, max(.zero, stopAt - now)) }
        guard let requests else { return mailbox.take(timeout: longest) }
        requests.wait(longest, orReadable: mailbox.descriptor)
        return mailbox.take()
    }

    private func pool(_ id: PoolID) -> CurlPool? { pools.first { $0.id == id } }

    private func obey(_ command: Command, at now: MonotonicTime) {
        switch command {
        case .addPool(let id, let configuration, let judge):
            let pool = CurlPool(id: id, configuration: configuration, judge: judge)
            pools.append(pool)
            if stopAt != nil { pool.close() }
        case .submit(let batch, let id):
            // The pool was added by an earlier command, since PoolIDs come from addPool alone; or it is over.
            if let pool = pool(id) { pool.enqueue(batch, at: now) } else { id.handBack(batch) }
        case .withdraw(let id):
            pool(id)?.withdraw()
        case .removePool(let id):
            pool(id)?.close()
            retire()
        case .stop(let duration):
            let end = now + duration
            stopAt = stopAt.map { min($0, end) } ?? end
            for pool in pools { pool.close() }
        }
    }

    /// Makes the next requests go over new connections.
    private func retire() {
        if let requests, requests.count > 0 { retired.append(requests) }
        requests = nil
    }

    private func begin(_ request: CarriedRequest, of pool: CurlPool, at now: MonotonicTime) {
        let carried = request.carried
        var written = carried.batch.template.request(request.place, of: carried.bytes, to: pool.configuration.origin)
        written.timeout = pool.configuration.requestTimeout
        written.connectTimeout = pool.configuration.dialer.connectTimeout
        written.maximumResponse = pool.judge.longestBody
        written.cutsResponse = true
        lastNumber += 1
        do throws(TransportError) {
            try connections().begin(written, number: lastNumber, by: pool.client)
            flights[lastNumber] = Flight(pool: pool, request: request, sentAt: now)
            pool.inFlight += 1
            figures.requestsSent += 1
        } catch {
            // A request that cannot be written counts as sent: else it would be tried again for ever.
            _ = pool.failed(request, error, mayHaveLeft: error.code == .badRequest, at: now)
        }
    }

    private func connections() throws(TransportError) -> ParallelRequests {
        if let requests { return requests }
        let new = try ParallelRequests()
        requests = new
        return new
    }

    private func conclude(_ end: ParallelRequests.End, at now: MonotonicTime) {
        guard let flight = flights.removeValue(forKey: end.number) else { return }
        let pool = flight.pool
        pool.inFlight -= 1
        figures.dials += end.newConnections
        figures.connectionsOpened += end.newConnections
        switch end.result {
        case .success(let response):
            let latency = max(now, flight.sentAt).nanoseconds - flight.sentAt.nanoseconds
            figures.latency.add(nanoseconds: latency)
            // Before the answer: the last one gives the batch back.
            flight.request.carried.batch.latency.add(nanoseconds: latency)
            if pool.answered(flight.request, response, isHTTP2: end.isHTTP2, at: Int64(time(nil))) { retire() }
        case .failure(let error):
            if !end.mayHaveLeft {
                figures.dials += 1
                figures.dialFailures += 1
            }
            if pool.failed(flight.request, error, mayHaveLeft: end.mayHaveLeft, at: now) { figures.resends += 1 }
            // libcurl 7.88 goes on using a connection of HTTP/2 on which no answer came in time.
            if error.code == .timedOut { retire() }
        }
    }

    private func report() {
        figures.requestsInFlight = flights.count
        if figures != shownFigures {
            shownFigures = figures
            board.show(figures)
        }
        for pool in pools { pool.report() }
        pools.removeAll(where: \.isOver)
    }

    private func end() {
        for flight in flights.values { flight.pool.abandoned(flight.request) }
        flights.removeAll()
        (requests, retired) = (nil, [])
        for command in mailbox.close() {
            switch command {
            case .addPool, .submit: obey(command, at: MonotonicClock.now())
            case .withdraw, .removePool, .stop: break
            }
        }
        report()
    }
}
