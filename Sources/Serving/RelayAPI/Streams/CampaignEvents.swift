// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import Threading
import WireFormat

/// Server-sent events (WHATWG HTML, section 9.2) of one campaign, until its last outcome or the server's stop.
final class CampaignEvents: ByteSource {
    private let api: API
    private let campaign: CampaignKey
    private let sight: Redaction
    /// Given back when the connection ends, however it ends.
    private let slot: Slots.Slot
    private var pacing = EventPacing()
    private var isDone = false

    init(api: API, campaign: CampaignKey, sight: Redaction, slot: Slots.Slot) {
        self.api = api
        self.campaign = campaign
        self.sight = sight
        self.slot = slot
    }

    func next() throws -> BodyPiece {
        guard !isDone, !api.stop.isSet, let look = try api.campaignLooks.look(at: campaign, read) else { return .end }
        let body = look.body[sight]
        switch pacing.step(state: look.state, inFlight: look.inFlight, body: body, at: MonotonicClock.milliseconds()) {
        case .send(let isLast):
            isDone = isLast
            return .bytes(Array("event: campaign\ndata: ".utf8) + body + Array("\n\n".utf8))
        case .keepAlive: return .bytes(Array(":\n\n".utf8))
        case .wait: return .later(EventPacing.look)
        }
    }

    private func read() throws -> CampaignLook? {
        guard let record = try api.store.campaign(campaign) else { return nil }
        let status = try api.control.requirements.status(record)
        return CampaignLook(
            state: status.record.state, inFlight: status.counts.inFlight,
            body: SightedText { $0.campaign(status, for: $1) })
    }
}

/// A campaign, as all of its watchers see it at one time.
struct CampaignLook: Sendable {
    /// Milliseconds for which one look serves all of them.
    static let interval: Int64 = 100

    var state: CampaignState
    /// Pushes on their way.
    var inFlight: Int64
    /// The campaign as it is sent.
    var body: SightedText
}

/// When an event stream sends something (CONTRACT: "a campaign object each second while it moves, and at every state change").
/// Pure: the time is a parameter, in milliseconds of a monotonic clock.
struct EventPacing {
    enum Step: Hashable {
        /// Send the campaign; when it is the last one, end after it.
        case send(isLast: Bool)
        /// Send a comment, so that a client that has gone is noticed.
        case keepAlive
        case wait
    }

    static let interval: Int64 = 1000
    static let silence: Int64 = 15_000
    /// Milliseconds between two looks at the campaign: a state change is sent within that time and a look's age (`CampaignLook`).
    static let look: Int64 = 200

    private var lastState: CampaignState?
    private var lastBody: [UInt8] = []
    private var lastSent: Int64 = 0

    /// - Parameters:
    ///   - inFlight: pushes on their way; a campaign in a final state waits for their outcomes.
    ///   - body: the campaign as it would be sent.
    mutating func step(state: CampaignState, inFlight: Int64, body: [UInt8], at now: Int64) -> Step {
        let isDue = now - lastSent >= Self.interval
        let isLast = state.isFinal && inFlight == 0
        if isLast || state != lastState || isDue && (state == .running || body != lastBody) {
            (lastState, lastBody, lastSent) = (state, body, now)
            return .send(isLast: isLast)
        }
        if now - lastSent >= Self.silence {
            lastSent = now
            return .keepAlive
        }
        return .wait
    }
}
