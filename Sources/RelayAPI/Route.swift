// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore

/// Everything that the API can be asked.
enum Route: Hashable, Sendable {
    case health
    case readiness
    case openAPI
    case metrics

    case versionWebhook
    case gitHubWebhook(AppKey)
    case gitLabWebhook(AppKey)
    case appStoreConnectWebhook(app: String)
    case apps
    case version(AppKey)
    case bump(AppKey)
    case plan(AppKey)
    case alert(AppKey)
    case setAlert(AppKey)
    case clearAlert(AppKey)
    /// The login-time check (SEEDS S1).
    case check
    /// The document of LaunchGate and Gandalf (SEEDS S5).
    case launchGate(app: String)

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

    case notifications

    case store
    case backUpStore
    case checkStore
    case pruneStore
    case logLevel
    case setLogLevel

    case tokens
    case createToken
    case revokeToken(name: String)
}

extension Route {
    /// Method and path as CONTRACT writes them, with nothing that a client sent: for the log.
    var pattern: StaticString {
        switch self {
        case .health: "GET /healthz"
        case .readiness: "GET /readyz"
        case .openAPI: "GET /openapi.json"
        case .metrics: "GET /metrics"
        case .versionWebhook: "POST /v1/webhooks/version"
        case .gitHubWebhook: "POST /v1/webhooks/github/{app}/{platform}"
        case .gitLabWebhook: "POST /v1/webhooks/gitlab/{app}/{platform}"
        case .appStoreConnectWebhook: "POST /v1/webhooks/app-store-connect/{app}"
        case .apps: "GET /v1/apps"
        case .version: "GET /v1/apps/{app}/{platform}/version"
        case .bump: "PUT /v1/apps/{app}/{platform}/version"
        case .plan: "POST /v1/apps/{app}/{platform}/plan"
        case .alert: "GET /v1/apps/{app}/{platform}/alert"
        case .setAlert: "PUT /v1/apps/{app}/{platform}/alert"
        case .clearAlert: "DELETE /v1/apps/{app}/{platform}/alert"
        case .check: "GET /v1/check"
        case .launchGate: "GET /v1/apps/{app}/launchgate.json"
        case .device: "GET /v1/apps/{app}/{platform}/devices/{token}"
        case .registerDevice: "PUT /v1/apps/{app}/{platform}/devices/{token}"
        case .removeDevice: "DELETE /v1/apps/{app}/{platform}/devices/{token}"
        case .exportDevices: "GET /v1/apps/{app}/{platform}/devices"
        case .importDevices: "POST /v1/apps/{app}/{platform}/devices"
        case .campaigns: "GET /v1/campaigns"
        case .campaign: "GET /v1/campaigns/{id}"
        case .campaignDeliveries: "GET /v1/campaigns/{id}/deliveries"
        case .campaignEvents: "GET /v1/campaigns/{id}/events"
        case .moveCampaign(_, .pause): "POST /v1/campaigns/{id}/pause"
        case .moveCampaign(_, .resume): "POST /v1/campaigns/{id}/resume"
        case .moveCampaign(_, .cancel): "POST /v1/campaigns/{id}/cancel"
        case .moveCampaign(_, .release): "POST /v1/campaigns/{id}/release"
        case .store: "GET /v1/store"
        case .backUpStore: "GET /v1/store/backup"
        case .checkStore: "GET /v1/store/check"
        case .pruneStore: "POST /v1/store/prune"
        case .notifications: "GET /v1/notifications"
        case .logLevel: "GET /v1/log"
        case .setLogLevel: "PUT /v1/log"
        case .deliveries: "GET /v1/deliveries"
        case .tokens: "GET /v1/tokens"
        case .createToken: "POST /v1/tokens"
        case .revokeToken: "DELETE /v1/tokens/{name}"
        }
    }
}

extension Route {
    /// Whether the answer is there already: neither the store nor the body is asked, and no thread waits.
    var isAnsweredFromMemory: Bool {
        switch self {
        case .health, .openAPI, .check, .launchGate: true
        default: false
        }
    }
}

extension Route {
    /// What its work waits for. The plan only reads, however long.
    var work: WorkKind {
        switch self {
        case .versionWebhook, .gitHubWebhook, .gitLabWebhook, .appStoreConnectWebhook, .bump, .setAlert, .clearAlert,
            .registerDevice, .removeDevice, .moveCampaign, .createToken, .revokeToken:
            .writes
        default: .reads
        }
    }
}

enum CampaignMove: String, Hashable, Sendable, CaseIterable {
    case pause
    case resume
    case cancel
    case release
}
