// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// A batch on its way, with its bytes where C may point to them.
///
/// The copy costs one memcpy per batch (some 30 ns per push) and makes the addresses ours: a Swift array promises none.
/// Belongs to one lane's thread.
@safe
final class PreparedBatch {
    let batch: RequestBatch
    let template: PreparedTemplate
    let count: Int
    let arena: UnsafeMutablePointer<UInt8>
    private let slots: UnsafeMutablePointer<ByteSlice>
    private let slotCount: Int
    /// The first request that has not been taken from the queue yet.
    var next = 0
    /// Requests whose answer is still open.
    var unanswered: Int
    /// Streams that nghttp2 still knows although their request has its answer (a time-out): they pin the memory.
    var abandoned = 0

    init(_ batch: RequestBatch, template: PreparedTemplate) {
        self.batch = batch
        self.template = template
        count = batch.count
        unanswered = batch.count
        slotCount = template.template.slotCount
        unsafe arena = .allocate(capacity: max(batch.arena.count, 1))
        unsafe arena.update(from: batch.arena, count: batch.arena.count)
        unsafe slots = .allocate(capacity: max(batch.slots.count, 1))
        unsafe slots.update(from: batch.slots, count: batch.slots.count)
    }

    deinit {
        unsafe arena.deallocate()
        unsafe slots.deallocate()
    }

    /// The slots of one request.
    @unsafe
    func slots(of request: Int) -> UnsafePointer<ByteSlice> {
        unsafe UnsafePointer(slots + request * slotCount)
    }
}
