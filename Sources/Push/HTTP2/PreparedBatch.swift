// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// A batch on its way, with its bytes at addresses that C may use.
///
/// The copy costs one memcpy per batch (some 30 ns per push) and keeps the addresses fixed, which a Swift array does
/// not promise. Belongs to one lane's thread.
@safe
final class PreparedBatch {
    let batch: RequestBatch
    let template: PreparedTemplate
    let count: Int
    let arena: UnsafeMutablePointer<UInt8>
    /// The answers until `finish`: an array in the batch would be checked for uniqueness at each access.
    let answers: UnsafeMutablePointer<Answer>
    private let slots: UnsafeMutablePointer<ByteSlice>
    private let slotCount: Int
    let enqueuedAt: MonotonicTime
    /// The answer's kind for a request that has waited for too long, for its turn on a connection or for a connection.
    func unsent(isConnected: Bool) -> Answer.Kind { batch.reportsUnreachable && !isConnected ? .unreachable : .unsent }
    /// The first request that has not been taken from the queue yet.
    var next = 0
    /// Requests whose answer is still open.
    var unanswered: Int
    /// Whether the batch was called back: then a request that its connection does not conclude is not sent again.
    var isWithdrawn = false
    /// Streams that nghttp2 still knows although their request has its answer (a time-out): they pin the memory.
    var abandoned = 0

    init(_ batch: RequestBatch, template: PreparedTemplate, at now: MonotonicTime) {
        enqueuedAt = now
        self.batch = batch
        self.template = template
        count = batch.count
        unanswered = batch.count
        slotCount = template.template.slotCount
        unsafe arena = .allocate(capacity: max(batch.bytes.arena.count, 1))
        unsafe arena.update(from: batch.bytes.arena, count: batch.bytes.arena.count)
        unsafe slots = .allocate(capacity: max(batch.bytes.slots.count, 1))
        unsafe slots.update(from: batch.bytes.slots, count: batch.bytes.slots.count)
        // The batch's own bytes are not needed again, and with thousands of requests on their way they are megabytes.
        batch.bytes.release()
        unsafe answers = .allocate(capacity: max(batch.count, 1))
        unsafe answers.initialize(repeating: Answer(), count: batch.count)
    }

    deinit {
        unsafe arena.deallocate()
        unsafe slots.deallocate()
        unsafe answers.deallocate()
    }

    /// Gives the answers to the batch, once every request has one.
    func finish() {
        batch.answers = unsafe Array(UnsafeBufferPointer(start: answers, count: count))
    }

    /// The slots of one request.
    @unsafe
    func slots(of request: Int) -> UnsafePointer<ByteSlice> {
        unsafe UnsafePointer(slots + request * slotCount)
    }
}
