// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import WireFormat

extension APIOperation {
    /// Each route's operation, by tags in the document's order. A tag has a file of texts.
    static let all: [(tag: String, operations: [APIOperation])] = [
        ("health", health),
        ("launch", launch),
        ("versions", versions),
        ("webhooks", webhooks),
        ("devices", devices),
        ("campaigns", campaigns),
        ("approvals", approvals),
        ("deliveries", deliveries),
        ("notifications", notifications),
        ("tokens", tokens),
        ("store", store),
        ("log", log),
        ("configuration", configuration),
        ("sessions", sessions),
        ("audit", audit),
        ("nodes", nodes),
    ]

    private static let health: [APIOperation] = [
        APIOperation("getHealth", "GET /healthz", gives: [.ok("Health")]),
        APIOperation(
            "getReadiness", "GET /readyz",
            gives: [.ok("Readiness"), Answer(503, .json(.ref("Readiness")))]),
        APIOperation(
            "getMetrics", "GET /metrics",
            gives: [
                Answer(
                    200, .other("text/plain; version=0.0.4; charset=utf-8", .text.described("Prometheus' text format."))
                ), Answer(404, .problem(.ref("Problem"))),
            ]),
        APIOperation("getOpenAPI", "GET /openapi.json", gives: [Answer(200, .json(.map(of: .anything)))]),
    ]

    private static let launch: [APIOperation] = [
        APIOperation(
            "checkVersion", "GET /v1/check",
            needs: ["app", "platform", "version"], gives: [.ok("CheckAnswer")], refuses: [404]),
        APIOperation(
            "enforceVersion", "GET /v1/enforce",
            gives: [
                Answer(200), .nothing, Answer(403, .problem(.ref("UpgradeRequired")), with: ["Vary"]),
                Answer(426, .problem(.ref("UpgradeRequired")), with: ["Vary"]),
            ]),
        APIOperation(
            "getLaunchGate", "GET /v1/apps/{app}/launchgate.json",
            gives: [.ok("LaunchGateDocument")]),
        APIOperation("getNotice", "GET /v1/apps/{app}/{platform}/notice", gives: [.ok("Alert")]),
        APIOperation(
            "setNotice", "PUT /v1/apps/{app}/{platform}/notice",
            takes: .object("NewAlert"), gives: [.ok("AlertResult")]),
        APIOperation("clearNotice", "DELETE /v1/apps/{app}/{platform}/notice", gives: [.nothing]),
        APIOperation("getAlert", "GET /v1/apps/{app}/{platform}/alert", gives: [.ok("Alert")]),
        APIOperation(
            "setAlert", "PUT /v1/apps/{app}/{platform}/alert",
            takes: .object("NewAlert"), gives: [.ok("AlertResult")]),
        APIOperation("clearAlert", "DELETE /v1/apps/{app}/{platform}/alert", gives: [.nothing]),
    ]

    private static let versions: [APIOperation] = [
        APIOperation("listApps", "GET /v1/apps", gives: [.list("Version")]),
        APIOperation(
            "getVersion", "GET /v1/apps/{app}/{platform}/version",
            gives: [.ok("VersionHistory")]),
        APIOperation("getAppAdoption", "GET /v1/apps/{app}/{platform}/adoption", gives: [.ok("AppAdoption")]),
        APIOperation(
            "bumpVersion", "PUT /v1/apps/{app}/{platform}/version",
            takes: .object("Bump"),
            gives: [.ok("BumpResult"), .bumpAccepted]),
        APIOperation(
            "bumpPlatforms", "PUT /v1/apps/{app}/version",
            takes: .object("PlatformsBump"), gives: [.ok("PlatformResult"), .accepted("PlatformResult")]),
        APIOperation(
            "releaseVersion", "POST /v1/apps/{app}/{platform}/release",
            takes: .object("VersionRelease"), mayBeEmpty: true,
            gives: [.ok("ReleasedVersion"), .accepted("ApprovalAsked")]),
        APIOperation(
            "withdrawVersion", "POST /v1/apps/{app}/{platform}/withdraw",
            takes: .json(.withdrawal), gives: [Answer(200, .json(.anyOf([.ref("Withdrawal"), .ref("Unblocking")])))]),
        APIOperation(
            "planBump", "POST /v1/apps/{app}/{platform}/plan",
            takes: .object("Bump"), gives: [.ok("Plan")], refuses: [409]),
        APIOperation(
            "testPush", "POST /v1/apps/{app}/{platform}/test-push",
            takes: .object("TestPush"), gives: [.ok("TestPushAnswers")], refuses: [429]),
    ]

    private static let webhooks: [APIOperation] = [
        APIOperation(
            "receiveVersion", "POST /v1/webhooks/version",
            takes: .json(.anyOf([.ref("VersionWebhook"), .ref("PlatformsWebhook")])),
            gives: [
                Answer(200, .json(.anyOf([.ref("BumpResult"), .ref("PlatformResult")]))),
                Answer(202, .json(.anyOf([.ref("BumpResult"), .ref("ApprovalAsked"), .ref("PlatformResult")]))),
            ], refuses: [409]),
        APIOperation(
            "receiveGitHubRelease", "POST /v1/webhooks/github/{app}/{platform}",
            takes: .json(.event(of: "GitHub")), headers: [Header(name: "X-GitHub-Event", isRequired: true)],
            gives: [Answer(200, .json(.anyOf([.ref("BumpResult"), .ref("EventNote")]))), .bumpAccepted],
            refuses: [409]),
        APIOperation(
            "receiveGitLabRelease", "POST /v1/webhooks/gitlab/{app}/{platform}",
            takes: .json(.gitLabEvent),
            headers: [Header(name: "Idempotency-Key"), Header(name: "X-Gitlab-Event-UUID")],
            gives: [Answer(200, .json(.anyOf([.ref("BumpResult"), .ref("EventNote")]))), .bumpAccepted],
            refuses: [409], alsoBy: "gitLabToken"),
        APIOperation(
            "receiveAppStoreState", "POST /v1/webhooks/app-store-connect/{app}",
            takes: .json(.appStoreEvent),
            gives: [Answer(200, .json(.anyOf([.ref("BumpResult"), .ref("EventNote")]))), .bumpAccepted],
            refuses: [409]),
    ]

    private static let devices: [APIOperation] = [
        APIOperation(
            "exportDevices", "GET /v1/apps/{app}/{platform}/devices",
            gives: [
                Answer(
                    200, .lines(.anyOf([.ref("DeviceLine"), .ref("DeadDevice")])), .csv("device"), .json(.deadPage),
                    with: ["X-Similar-Telephones"])
            ]),
        APIOperation(
            "importDevices", "POST /v1/apps/{app}/{platform}/devices",
            takes: .lines(.ref("DeviceImportLine")), mayBeEmpty: true,
            gives: [.ok("DeviceImportResult")]),
        APIOperation("getDevice", "GET /v1/apps/{app}/{platform}/devices/{token}", gives: [.ok("Device")]),
        APIOperation(
            "registerDevice", "PUT /v1/apps/{app}/{platform}/devices/{token}",
            takes: .object("DeviceRegistration"),
            gives: [.ok("RegisteredDevice"), .made("RegisteredDevice")]),
        APIOperation(
            "changeDevice", "PATCH /v1/apps/{app}/{platform}/devices/{token}",
            takes: .object("DeviceChange"), gives: [.ok("Device")]),
        APIOperation("removeDevice", "DELETE /v1/apps/{app}/{platform}/devices/{token}", gives: [.nothing]),
        APIOperation(
            "listUserDevices", "GET /v1/devices",
            gives: [Answer(200, .json(.page(of: .ref("Device"), hasSimilar: true)))]),
        APIOperation("explainUser", "GET /v1/users", needs: ["telephone"], gives: [.ok("User")]),
        APIOperation(
            "eraseUser", "DELETE /v1/users",
            needs: ["telephone"], gives: [.ok("Erasure")], refuses: [404]),
    ]

    private static let campaigns: [APIOperation] = [
        APIOperation("listCampaigns", "GET /v1/campaigns", gives: [.list("Campaign")]),
        APIOperation("getCampaign", "GET /v1/campaigns/{id}", gives: [.ok("Campaign")]),
        APIOperation("getCampaignAdoption", "GET /v1/campaigns/{id}/adoption", gives: [.ok("Adoption")]),
        APIOperation(
            "watchCampaign", "GET /v1/campaigns/{id}/events",
            gives: [Answer(200, .events(of: .ref("Campaign")), with: ["X-Accel-Buffering"])]),
        APIOperation(
            "pauseCampaign", "POST /v1/campaigns/{id}/pause",
            takes: .object("CampaignAct"), mayBeEmpty: true, gives: [.ok("Campaign")]),
        APIOperation(
            "approveCampaign", "POST /v1/campaigns/{id}/approve",
            takes: .object("CampaignRelease"), mayBeEmpty: true, gives: [.ok("Campaign"), .accepted("ApprovalAsked")]),
        APIOperation(
            "releaseCampaign", "POST /v1/campaigns/{id}/release",
            takes: .object("CampaignRelease"), mayBeEmpty: true, gives: [.ok("Campaign"), .accepted("ApprovalAsked")]),
        APIOperation(
            "retryCampaign", "POST /v1/campaigns/{id}/retry",
            takes: .object("Retry"), mayBeEmpty: true, gives: [.ok("Campaign")]),
        APIOperation(
            "resumeCampaign", "POST /v1/campaigns/{id}/resume",
            takes: .object("Hurry"), mayBeEmpty: true, gives: [.ok("Campaign")]),
        APIOperation(
            "cancelCampaign", "POST /v1/campaigns/{id}/cancel",
            takes: .object("CampaignCancel"), mayBeEmpty: true, gives: [.ok("Campaign"), .accepted("ApprovalAsked")]),
        APIOperation(
            "watchAll", "GET /v1/events",
            headers: [Header(name: "Last-Event-ID")],
            gives: [Answer(200, .events(of: nil), with: ["X-Accel-Buffering"])]),
        APIOperation(
            "reportCampaign", "GET /v1/campaigns/{id}/report",
            gives: [Answer(200, .other("text/html", .text), with: ["Content-Disposition", "Content-Security-Policy"])]),
    ]

    private static let approvals: [APIOperation] = [
        APIOperation("listApprovals", "GET /v1/approvals", gives: [.list("Approval")]),
        APIOperation(
            "approve", "POST /v1/approvals/{id}/approve", gives: [.ok("Approval")], refuses: [409]),
        APIOperation(
            "refuse", "POST /v1/approvals/{id}/refuse",
            takes: .object("ApprovalRefusal"), gives: [.ok("Approval")], refuses: [409]),
    ]

    private static let deliveries: [APIOperation] = [
        APIOperation(
            "listCampaignDeliveries", "GET /v1/campaigns/{id}/deliveries",
            gives: [
                Answer(
                    200, .json(.page(of: .ref("Delivery"), hasSimilar: true)), .lines(.ref("Delivery")),
                    .csv("delivery"), with: ["X-Similar-Telephones"])
            ]),
        APIOperation(
            "listDeliveries", "GET /v1/deliveries",
            gives: [
                Answer(
                    200, .json(.page(of: .ref("Delivery"), hasSimilar: true)), .lines(.ref("Delivery")),
                    .csv("delivery"), with: ["X-Similar-Telephones"])
            ]),
    ]

    private static let notifications: [APIOperation] = [
        APIOperation(
            "listNotifications", "GET /v1/notifications",
            gives: [.list("Notification")])
    ]

    private static let tokens: [APIOperation] = [
        APIOperation("listTokens", "GET /v1/tokens", gives: [.list("AccessToken")]),
        APIOperation(
            "createToken", "POST /v1/tokens",
            takes: .object("NewToken"), gives: [.made("CreatedToken")], refuses: [409]),
        APIOperation("revokeToken", "DELETE /v1/tokens/{name}", gives: [.nothing]),
    ]

    private static let store: [APIOperation] = [
        APIOperation("getStore", "GET /v1/store", gives: [.ok("Store")]),
        APIOperation(
            "backUpStore", "GET /v1/store/backup",
            gives: [Answer(200, .other("application/vnd.upgrade-relay.backup", .text.described("Lines, then bytes.")))],
            refuses: [409]),
        APIOperation(
            "checkStore", "GET /v1/store/check", gives: [Answer(200, .lines(.ref("StoreCheckLine")))], refuses: [409]),
        APIOperation(
            "pruneStore", "POST /v1/store/prune",
            takes: .object("StorePruning"), gives: [Answer(200, .lines(.ref("PruneLine")))], refuses: [409]),
        APIOperation(
            "acceptStore", "POST /v1/store/accept",
            takes: .object("StoreWord"), gives: [Answer(200, .json(.acceptedMark))], refuses: [409]),
    ]

    private static let log: [APIOperation] = [
        APIOperation("getLogLevel", "GET /v1/log", gives: [.ok("LogLevel")]),
        APIOperation(
            "setLogLevel", "PUT /v1/log",
            takes: .object("LogLevel"), gives: [.ok("LogLevel")]),
    ]

    private static let configuration: [APIOperation] = [
        APIOperation("reload", "POST /v1/reload", gives: [.ok("Reload")])
    ]

    private static let sessions: [APIOperation] = [
        APIOperation(
            "beginSession", "POST /v1/session",
            gives: [Answer(201, .json(.ref("Session")), with: ["Set-Cookie"])], refuses: [409]),
        APIOperation(
            "endSession", "DELETE /v1/session",
            gives: [Answer(204, with: ["Set-Cookie"])], refuses: [409], by: "session"),
        APIOperation(
            "makeSessionLink", "POST /v1/session/link",
            gives: [.made("SessionLink")], refuses: [409]),
        APIOperation("listSessions", "GET /v1/sessions", gives: [.list("ListedSession")]),
        APIOperation("endOthersSession", "DELETE /v1/sessions/{name}", gives: [.nothing]),
    ]

    private static let audit: [APIOperation] = [
        APIOperation(
            "listAudit", "GET /v1/audit",
            gives: [
                Answer(
                    200, .json(.page(of: .ref("AuditEntry"))), .lines(.ref("AuditEntry")),
                    .csv("row", note: "before and after are JSON"))
            ])
    ]

    private static let nodes: [APIOperation] = [
        APIOperation("listNodes", "GET /v1/nodes", gives: [.list("Node")])
    ]
}
