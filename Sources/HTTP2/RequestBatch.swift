// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// What came back for one request.
package struct Answer: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        /// Still on its way.
        case open
        /// The server answered: `status` holds.
        case answered
        /// It was sent, also a second time on another connection, and the outcome is unknown: the connection died, the
        /// stream was reset, or no answer came in time.
        case lost
        /// It never left, or the server promised not to have looked at it (GOAWAY, REFUSED_STREAM): sending was halted
        /// or the lane is stopping.
        case unsent
    }

    package var kind: Kind = .open
    /// How often the request was put on a connection.
    package var sends: UInt8 = 0
    package var status: UInt16 = 0
    /// `Retry-After` in seconds (both forms of RFC 9110, 10.2.3 are understood); -1 where there was none.
    package var retryAfter: Int32 = -1
    /// Index of the body in the batch's `bodies`; -1 where it was empty or the status was 2xx.
    package var body: Int32 = -1

    package init() {}
}

/// Requests that travel together: filled by the fan-out, sent by one lane, handed back when each has its answer.
///
/// `@unchecked Sendable` because a batch has one owner at a time: the maker until `Lane.submit`, the lane's thread until
/// `BatchReceiver.finished`, then the receiver. Both hand-overs go through a mutex, which orders the memory accesses.
package final class RequestBatch: @unchecked Sendable {
    package let template: RequestTemplate
    /// The submitter's own mark, to know the batch again.
    package let tag: Int
    /// All bytes of all slots of all requests.
    package private(set) var arena: [UInt8]
    /// `template.slotCount` slices for each request, request after request.
    package private(set) var slots: [ByteSlice]
    package var answers: [Answer]
    /// Bodies of answers that were not 2xx; each at most 4 KiB.
    package var bodies: [[UInt8]] = []

    package init(template: RequestTemplate, tag: Int, capacity: Int, bytesPerRequest: Int) {
        self.template = template
        self.tag = tag
        arena = []
        arena.reserveCapacity(capacity * bytesPerRequest)
        slots = []
        slots.reserveCapacity(capacity * template.slotCount)
        answers = []
        answers.reserveCapacity(capacity)
    }

    package var count: Int { answers.count }

    /// Appends one slot's bytes by letting `write` append to the arena. Call once per slot, in slot order, then `endRequest`.
    package func appendSlot(_ write: (inout [UInt8]) -> Void) {
        let start = arena.count
        write(&arena)
        slots.append(ByteSlice(offset: UInt32(start), length: UInt32(arena.count - start)))
    }

    package func endRequest() {
        precondition(slots.count == (answers.count + 1) * template.slotCount, "every slot of a request is filled once")
        answers.append(Answer())
    }
}
