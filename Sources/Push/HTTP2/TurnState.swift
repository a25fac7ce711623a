// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// The results of one turn of the lane's loop, reported to receivers when the turn is over: never from inside a C callback.
@safe
final class TurnState {
    var figures = LaneFigures()
    /// The figures' latency, added to with each answer: kept apart, and only changed by inlined code, so that exclusive access is
    /// not checked at run time.
    var latency = LatencyHistogram()
    let memory = SessionMemory()
    /// Holds a HEADERS frame with all its fields while it is cut in two, if it does not fit into its record.
    let wholeFrame = UnsafeMutablePointer<UInt8>.allocate(
        capacity: HTTP2Connection.frameHeadSize + HTTP2Connection.frameLimit)
    /// The time at which this turn's requests go out: later than the turn began, if much came in.
    var sentAt = MonotonicTime(nanoseconds: 0)
    /// The time at which the bytes that are being parsed came in.
    var heardAt = MonotonicTime(nanoseconds: 0)
    /// Batches in which every request has its answer.
    var finished: [(batch: RequestBatch, receiver: any BatchReceiver)] = []
    /// Memory that nghttp2 may still use in the present call.
    var discarded: [PreparedBatch] = []
    /// Reports on pools, in their order.
    var conditions: [(pool: PoolID, condition: PoolCondition, receiver: any BatchReceiver)] = []
    /// The number of requests that pools carry at once, where it has changed.
    var widths: [(pool: PoolID, streams: Int, receiver: any BatchReceiver)] = []

    deinit { unsafe wholeFrame.deallocate() }
}
