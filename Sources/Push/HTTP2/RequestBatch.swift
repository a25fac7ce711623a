// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The answer for one request.
package struct Answer: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        /// Still on its way.
        case open
        /// The server answered: `status` holds.
        case answered
        /// It was sent, where possible a second time on another connection, and the outcome is unknown: the connection
        /// died, the stream was reset, or no answer came in time.
        case lost
        /// It never left, or the server promised not to have looked at it (GOAWAY, REFUSED_STREAM): sending was halted, the lane
        /// is stopping, or no connection was available; in the last case `retryAfter` is the time until the pool dials again.
        case unsent
        /// As `unsent`, because no connection was available, in a batch with `reportsUnreachable`.
        case unreachable
    }

    package var kind: Kind = .open
    /// How often the request was put on a connection.
    package var sends: UInt8 = 0
    package var status: UInt16 = 0
    /// `Retry-After` in seconds (both forms of RFC 9110, 10.2.3 are understood); -1 where there was none. If no connection was
    /// available, the seconds until the pool dials again, at least 1.
    package var retryAfter: Int32 = -1
    /// Index of the body in the batch's `bodies`; -1 where it was empty, or a good answer's.
    package var body: Int32 = -1

    /// Whether the answer is a 200 with a good body, or with none.
    package var isPlainSuccess: Bool { kind == .answered && status == 200 && body < 0 }

    package init() {}
}

/// The bytes of a batch's requests, one after the other.
package struct RequestBytes: Sendable {
    /// All bytes of all slots of all requests.
    package fileprivate(set) var arena: [UInt8] = []
    /// `template.slotCount` slices for each request, request after request.
    package fileprivate(set) var slots: [ByteSlice] = []
    fileprivate var count = 0

    /// Appends the request's next slot by letting `write` append to the arena.
    package mutating func appendSlot(_ write: (inout [UInt8]) -> Void) {
        let start = arena.count
        write(&arena)
        slots.append(ByteSlice(offset: UInt32(start), length: UInt32(arena.count - start)))
    }

    /// Frees the bytes; the count stays.
    package mutating func release() {
        arena = []
        slots = []
    }

    fileprivate mutating func append(slotCount: Int, _ write: (inout RequestBytes) -> Void) {
        write(&self)
        count += 1
        precondition(slots.count == count * slotCount, "every slot of a request is filled once")
    }
}

/// Requests that travel together: filled by the fan-out, sent by one lane, handed back when each has its answer.
///
/// `@unchecked Sendable` because a batch has one owner at a time: the maker until `Lane.submit`, the lane's thread until
/// `BatchReceiver.finished`, then the receiver. Both hand-overs go through a mutex, which orders the memory accesses.
package final class RequestBatch: @unchecked Sendable {
    package let template: RequestTemplate
    /// The submitter's own mark, to identify the batch.
    package let tag: Int
    /// Whether unsent requests come back as `unreachable` as soon as no connection is available. Default no: they come back as
    /// `unsent` once they have waited for `PoolMachine.longestWait`, or would have before the next dial. Must be set before the
    /// batch is submitted.
    package var reportsUnreachable = false
    /// Empty once the lane has copied them.
    package var bytes = RequestBytes()
    /// One for each request, in their order; none until the batch comes back.
    package var answers: [Answer] = []
    /// From putting a request on a connection to its answer.
    package var latency = LatencyHistogram()
    /// Bodies of answers that were not 2xx, or a 2xx with an unexpected body; each at most the judge's `longestBody`.
    package var bodies: [[UInt8]] = []
    /// The judge's reading of each body.
    private var readings: [AnswerReading] = []
    /// For each request, the place after its last push; empty where each request carries one.
    private var ends: [Int32] = []

    package init(template: RequestTemplate, tag: Int, capacity: Int, bytesPerRequest: Int) {
        self.template = template
        self.tag = tag
        bytes.arena.reserveCapacity(capacity * bytesPerRequest)
        bytes.slots.reserveCapacity(capacity * template.slotCount)
    }

    /// The number of requests.
    package var count: Int { bytes.count }

    /// The number of pushes, at least that of the requests.
    package var pushCount: Int { ends.last.map { Int($0) } ?? count }

    /// Whether each request carries one push: then a request and its push have the same place.
    package var isOneEach: Bool { ends.isEmpty }

    /// The places of a request's pushes among all that were appended.
    package func pushes(of request: Int) -> Range<Int> {
        if isOneEach { return request..<request + 1 }
        return (request == 0 ? 0 : Int(ends[request - 1]))..<Int(ends[request])
    }

    package func append(body: [UInt8], _ reading: AnswerReading) {
        bodies.append(body)
        readings.append(reading)
    }

    /// The judge's reading of the answer's body; empty where it has none.
    package func reading(of answer: Answer) -> AnswerReading {
        let place = Int(answer.body)
        return readings.indices.contains(place) ? readings[place] : AnswerReading()
    }

    /// Appends a request. `write` fills its slots, each once and in their order.
    ///
    /// One closure for the whole request: each access to a class' property is checked for exclusivity at run time.
    ///
    /// - Parameter pushes: how many the request carries. Default one.
    package func append(pushes: Int = 1, _ write: (inout RequestBytes) -> Void) {
        if pushes != 1 || !isOneEach {
            if isOneEach { ends = (0..<count).map { Int32($0 + 1) } }
            ends.append((ends.last ?? 0) + Int32(pushes))
        }
        bytes.append(slotCount: template.slotCount, write)
    }
}
