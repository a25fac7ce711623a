// SPDX-License-Identifier: Apache-2.0
import RelayStore

/// Everything that the API can be asked.
enum Route: Hashable, Sendable {
    case health
    case readiness

    case versionWebhook
    case apps
    case version(AppKey)
    case bump(AppKey)
    case plan(AppKey)

    case device(AppKey, token: String)
    case registerDevice(AppKey, token: String)
    case removeDevice(AppKey, token: String)
    case exportDevices(AppKey)
    case importDevices(AppKey)

    case campaigns
    case campaign(id: String)
    case campaignDeliveries(id: String)
    case campaignEvents(id: String)
    case moveCampaign(id: String, CampaignMove)
    case deliveries

    case tokens
    case createToken
    case revokeToken(name: String)
}

enum CampaignMove: String, Hashable, Sendable, CaseIterable {
    case pause
    case resume
    case cancel
}
