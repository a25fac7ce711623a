// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Threading
import WireFormat

/// Server-sent events (WHATWG HTML, section 9.2) of one campaign, until its last outcome or the server's stop.
final class CampaignEvents: ByteSource {
    private let api: API
    private let campaign: CampaignKey
    /// Given back when the connection ends, however it ends.
    private let slot: Slots.Slot
    private var pacing = EventPacing()
    private var isDone = false

    init(api: API, campaign: CampaignKey, slot: Slots.Slot) {
        self.api = api
        self.campaign = campaign
        self.slot = slot
    }

    func next() throws -> BodyPiece {
        guard !isDone, !api.stop.isSet, let record = try api.store.campaign(campaign) else { return .end }
        var writer = JSONWriter()
        let status = api.control.status(record)
        writer.campaign(status)
        switch pacing.step(
            state: status.record.state, inFlight: status.counts.inFlight, body: writer.bytes,
            at: MonotonicClock.milliseconds())
        {
        case .send(let isLast):
            isDone = isLast
            return .bytes(Array("event: campaign\ndata: ".utf8) + writer.bytes + Array("\n\n".utf8))
        case .keepAlive: return .bytes(Array(":\n\n".utf8))
        case .wait: return .later(EventPacing.look)
        }
    }
}
