// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Threading
import WireFormat

/// Server-sent events (WHATWG HTML, section 9.2) of all that a caller may see, until the reader goes or the server stops.
final class LiveEvents: ByteSource {
    private let api: API
    private let caller: Caller
    /// Given back when the connection ends, however it ends.
    private let slot: Slots.Slot
    /// The revision that the reader has.
    private var revision: Int64
    private var sentAt: Int64 = 0

    /// - Parameter last: the id of the last event that the reader has; nil, or another process's: every item is sent.
    init(api: API, caller: Caller, last: String?, slot: Slots.Slot) {
        self.api = api
        self.caller = caller
        self.slot = slot
        revision = last.flatMap { api.live.revision(of: $0) } ?? 0
    }

    func next() throws -> BodyPiece {
        guard !api.stop.isSet else { return .end }
        let overview = try api.overview()
        // No look had this revision, so nothing is known of the reader's state.
        if revision > overview.revision || revision < 0 { revision = 0 }
        let now = MonotonicClock.milliseconds()
        var bytes: [UInt8] = sentAt == 0 ? Array("retry: 2000\n\n".utf8) : []
        if overview.revision > revision {
            let news = overview.items.values.filter { item in
                item.revision > revision && item.app.map(caller.maySee) ?? true
            }
            for item in news.dropLast() { bytes += item.event.lines(for: caller.sight) + [0x0A] }
            // Only the last event of a look has an id: a reader that was cut off before it gets the whole look again.
            if let last = news.last {
                bytes +=
                    last.event.lines(for: caller.sight) + Array("id: \(api.live.id(of: overview.revision))\n\n".utf8)
            }
            revision = overview.revision
        }
        // Notices a lost reader, and shows a reader that the server lives: an event, as a browser's script sees no comments.
        if bytes.isEmpty, now - sentAt >= EventPacing.silence { bytes = Array("event: alive\ndata: {}\n\n".utf8) }
        if bytes.isEmpty { return .later(LiveLook.interval) }
        sentAt = now
        return .bytes(bytes)
    }
}

extension LiveLook {
    package func id(of revision: Int64) -> String { "\(epoch).\(revision)" }

    /// nil where the id is another process's.
    func revision(of id: String) -> Int64? {
        let parts = id.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0] == epoch ? Int64(parts[1]) : nil
    }
}

extension API {
    func liveEvents(_ call: inout Call) throws -> Response {
        let after = call.query.filledText("after")
        try call.query.finish()
        let slot = try (call.head.door == .control ? localWatchers : watchers).take(
            for: call.caller.places,
            busy:
                "too many watch: \(watchers.limit) are served, \(watchers.each) to one API token or app, and to none more than are left "
                + "for others",
            retryAfter: 5)
        // The last event that the browser has seen wins over the state from which its page was made.
        let last = call.head.headers["last-event-id"] ?? after
        return .events(LiveEvents(api: self, caller: call.caller, last: last, slot: slot))
    }
}
