// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// When an event stream says something (CONTRACT: "a campaign object each second while it moves, and at every state
/// change"). Pure: the time is a parameter, in milliseconds of a monotonic clock.
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
    /// How often the campaign is looked at: a state change is sent within that time.
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
