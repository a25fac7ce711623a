// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// A request in the queue or on a stream: its batch in the pool, and its place in the batch.
struct RequestReference {
    var batch: Int32
    var request: Int32
    /// Whether the request was sent once with an unknown outcome.
    var isSecond: Bool
}

/// One stream's state. A trivial struct in an array, indexed by the number that nghttp2 keeps as the stream's user data: no
/// object, no dictionary, no allocation per request.
struct RequestSlot {
    static let none: Int32 = -1

    var reference = RequestReference(batch: -1, request: -1, isSecond: false)
    var streamID: Int32 = 0
    var status: UInt16 = 0
    /// Whether the stream no longer stands for a request, and only waits for nghttp2 to close it.
    var isAbandoned = false
    /// Whether HEADERS were never written.
    var isUnsent = false
    /// Whether the answer is a 2xx with an unexpected body.
    var isOdd = false
    /// Whether the answer has ended: END_STREAM has come.
    var isWhole = false
    /// Whether a part of the request's body was handed to nghttp2, and not all of it: the server's window ended within it.
    var isCut = false
    var retryAfter: Int32 = -1
    /// Bytes of the request's body handed to nghttp2.
    var bodySent: Int32 = 0
    /// Bytes of the answer's body, kept or not.
    var received: Int32 = 0
    /// Index into the connection's collected bodies; -1 while there is none.
    var body: Int32 = -1
    var sentAt = MonotonicTime(nanoseconds: 0)
    /// Neighbours in the order of sending, which is the order of deadlines.
    var older: Int32 = RequestSlot.none
    var newer: Int32 = RequestSlot.none
}

/// The slots of one connection: a free list and the order of sending, both by number.
@safe
struct RequestSlots: ~Copyable {
    let slots: UnsafeMutablePointer<RequestSlot>
    let capacity: Int
    private let free: UnsafeMutablePointer<Int32>
    private var freeCount: Int
    private(set) var oldest: Int32 = RequestSlot.none
    private var newest: Int32 = RequestSlot.none

    init(capacity: Int) {
        self.capacity = capacity
        unsafe slots = .allocate(capacity: capacity)
        unsafe slots.initialize(repeating: RequestSlot(), count: capacity)
        unsafe free = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (free + index).initialize(to: Int32(capacity - 1 - index)) }
        freeCount = capacity
    }

    deinit {
        unsafe slots.deallocate()
        unsafe free.deallocate()
    }

    /// A fresh slot, last in the order of sending; nil when all are taken.
    mutating func take(_ reference: RequestReference, at now: MonotonicTime) -> Int32? {
        guard freeCount > 0 else { return nil }
        freeCount -= 1
        let index = unsafe free[freeCount]
        var slot = RequestSlot()
        slot.reference = reference
        slot.sentAt = now
        slot.older = newest
        unsafe slots[Int(index)] = slot
        if newest == RequestSlot.none {
            oldest = index
        } else {
            unsafe slots[Int(newest)].newer = index
        }
        newest = index
        return index
    }

    /// Takes a slot out of the order of sending: it has no deadline any more.
    mutating func unlink(_ index: Int32) {
        let slot = unsafe slots[Int(index)]
        if slot.older == RequestSlot.none {
            if oldest == index { oldest = slot.newer }
        } else {
            unsafe slots[Int(slot.older)].newer = slot.newer
        }
        if slot.newer == RequestSlot.none {
            if newest == index { newest = slot.older }
        } else {
            unsafe slots[Int(slot.newer)].older = slot.older
        }
        unsafe slots[Int(index)].older = RequestSlot.none
        unsafe slots[Int(index)].newer = RequestSlot.none
    }

    /// For unlinked slots only.
    mutating func release(_ index: Int32) {
        unsafe slots[Int(index)].reference.batch = -1
        unsafe free[freeCount] = index
        freeCount += 1
    }
}
