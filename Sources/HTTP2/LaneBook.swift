// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// What one turn of the lane's loop gathers, to be told to others when the turn is over: never from inside a C callback.
@safe
final class LaneBook {
    var figures = LaneFigures()
    /// The figures' latency, added to with each answer: apart, and only changed by what is inlined, so that nobody checks
    /// at run time whether others look at it.
    var latency = LatencyHistogram()
    let memory = SessionMemory()
    /// For a HEADERS frame that does not fit into its record, with all its fields, while it is cut in two.
    let wholeFrame = UnsafeMutablePointer<UInt8>.allocate(capacity: Connection.frameHeadSize + Connection.frameLimit)
    /// When what goes out in this turn goes out: later than the turn began, where much came in.
    var sentAt = MonotonicTime(nanoseconds: 0)
    /// When the bytes that are being taken apart came in.
    var heardAt = MonotonicTime(nanoseconds: 0)
    /// Batches whose every request has its answer.
    var finished: [(batch: RequestBatch, receiver: any BatchReceiver)] = []
    /// Memory that nghttp2 may still be looking at in the present call.
    var discarded: [PreparedBatch] = []
    /// Reports on pools, in their order.
    var conditions: [(pool: PoolID, condition: PoolCondition, receiver: any BatchReceiver)] = []
    /// How many requests pools carry at once, where that has changed.
    var widths: [(pool: PoolID, streams: Int, receiver: any BatchReceiver)] = []

    deinit { unsafe wholeFrame.deallocate() }
}
