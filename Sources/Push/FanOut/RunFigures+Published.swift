// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import Requirements
import WireFormat

/// The figures that a relay publishes of its campaigns: with each heartbeat, so that every relay answers the same.
extension RunFigures {
    private enum Key {
        static let out = "out", retries = "retries", pushes = "pushesPerSecond", devices = "devicesPerSecond"
        static let limit = "rateLimit", trouble = "trouble", stands = "standsStill", nextRetry = "nextRetryAt"
    }

    /// - Parameter now: the moment that the rates are for.
    static func published(_ figures: [CampaignKey: RunFigures], at now: Timestamp) -> String {
        let members = figures.sorted { $0.key < $1.key }.map { campaign, one in
            JSONMember(name: String(campaign.row), value: one.published(at: now))
        }
        return members.isEmpty ? "" : String(decoding: JSONValue.object(members).bytes(), as: UTF8.self)
    }

    private func published(at now: Timestamp) -> JSONValue {
        var members = [
            JSONMember(name: Key.out, value: .integer(shardRequestsOut)),
            JSONMember(name: Key.retries, value: .integer(retryRequestsOut)),
            JSONMember(name: Key.pushes, value: .number("\(pushes.perSecond(at: now))")),
            JSONMember(name: Key.devices, value: .number("\(devices.perSecond(at: now))")),
            JSONMember(name: Key.stands, value: .bool(standsStill)),
        ]
        if let rateLimit { members.append(JSONMember(name: Key.limit, value: .number("\(rateLimit)"))) }
        if let trouble { members.append(JSONMember(name: Key.trouble, value: .string(trouble))) }
        if let nextRetryAt {
            members.append(JSONMember(name: Key.nextRetry, value: .integer(nextRetryAt.milliseconds)))
        }
        return .object(members)
    }

    /// The figures that a campaign's owner has published; nil: none that this release understands.
    package init?(published text: String, of campaign: CampaignKey) {
        guard let all = try? JSONReader.read(Array(text.utf8)), let one = all[String(campaign.row)] else { return nil }
        func rate(_ key: String) -> Double? {
            if case .number(let text)? = one[key] { Double(text) } else { nil }
        }
        self.init()
        shardRequestsOut = Int(one[Key.out]?.integer ?? 0)
        retryRequestsOut = Int(one[Key.retries]?.integer ?? 0)
        pushes = RateMeter(steady: rate(Key.pushes) ?? 0)
        devices = RateMeter(steady: rate(Key.devices) ?? 0)
        publishedLimit = rate(Key.limit)
        trouble = one[Key.trouble]?.string
        standsStill = one[Key.stands] == .bool(true)
        nextRetryAt = one[Key.nextRetry]?.integer.map { Timestamp(milliseconds: $0) }
    }
}
