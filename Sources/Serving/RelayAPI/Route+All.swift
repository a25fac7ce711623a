// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Requirements

extension Route {
    /// All routes of the API. Each has its operation in `etc/openapi`.
    package static let all: [Route] =
        operations + open + webhooks + versions + notices + devices + campaigns + sessions + administration

    /// The routes that `listen.operations` serves.
    static let operations: [Route] = [
        Route("GET", "/healthz", .nothing, .nothing, .head { api, _ in api.health() }),
        Route("GET", "/readyz", .nothing, .work(.health), .head { api, call in api.readiness(at: call.head.door) }),
        Route("GET", "/metrics", .nothing, .work(.metrics), .head { api, _ in api.metrics() }),
        Route(
            "GET", "/openapi.json", .nothing, .nothing, keeping: .everybody,
            .head { api, call in api.openAPI(call.head) }),
    ]

    private static let open: [Route] = [
        // The login-time check (SEEDS S1).
        Route(
            "GET", "/v1/check", .nothing, .nothingUnless { $0.isAboutUser($1) },
            query: ["app", "platform", "version", "os", "lang", "telephone", "token"], keeping: .everybody,
            isForWebViews: true,
            .head { api, call in try api.check(call.head, &call.query) }),
        // The document of LaunchGate and Gandalf (SEEDS S5).
        Route(
            "GET", "/v1/apps/{app}/launchgate.json", .nothing, .nothing, query: ["lang"], keeping: .everybody,
            isForWebViews: true,
            .head { api, call in try api.launchGate(call.path.app, call.head, &call.query) }),
        enforce,
    ]

    /// The question of a reverse proxy (PROTOCOLS 4.3).
    static let enforce = Route(
        "GET", API.enforcePath, .nothing, .nothing, query: ["app", "platform", "version", "os", "lang", "deny"],
        isForProxies: true,
        .head { api, call in try api.enforce(call.head, &call.query) })

    private static let webhooks: [Route] = [
        Route(
            "POST", "/v1/webhooks/version", .signature, .work(.writes), isNoteworthy: true, webhook: "version",
            .signed { api, call, body, isSigned in try api.versionWebhook(call.head, body: body, isSigned) }),
        Route(
            "POST", "/v1/webhooks/github/{app}/{platform}", .signature, .work(.writes), isNoteworthy: true,
            webhook: "gitHub",
            .signed { api, call, body, isSigned in try api.gitHubWebhook(call.app, call.head, body: body, isSigned) }),
        Route(
            "POST", "/v1/webhooks/gitlab/{app}/{platform}", .signature, .work(.writes), isNoteworthy: true,
            webhook: "gitLab",
            .signed { api, call, body, isSigned in try api.gitLabWebhook(call.app, call.head, body: body, isSigned) }),
        Route(
            "POST", "/v1/webhooks/app-store-connect/{app}", .signature, .work(.foreign), slots: { $0.foreign },
            isNoteworthy: true,
            webhook: "appStoreConnect",
            .signed { api, call, body, isSigned in
                try api.appStoreConnectWebhook(call.path.app, call.head, body: body, isSigned)
            }),
    ]

    private static let versions: [Route] = [
        Route("GET", "/v1/apps", .scope(.status), .work(.reads), .head { api, call in try api.apps(call.caller) }),
        Route(
            "GET", "/v1/apps/{app}/{platform}/version", .scope(.status), .work(.reads), query: ["limit"],
            .head { api, call in try api.version(&call) }),
        Route(
            "GET", "/v1/apps/{app}/{platform}/adoption", .scope(.status), .work(.reads),
            .head { api, call in try api.adoption(of: call.app) }),
        Route(
            "PUT", "/v1/apps/{app}/{platform}/version", .scope(.versions), .work(.writes), isNoteworthy: true,
            act: .raise,
            .body { api, call, body in try api.bump(call.app, body: body, by: call.caller) }),
        // One release, all platforms.
        Route(
            "PUT", "/v1/apps/{app}/version", .scope(.versions), .work(.writes), isNoteworthy: true, act: .raise,
            .body { api, call, body in try api.bump(platformsOf: call.path.app, body: body, by: call.caller) }),
        Route(
            "POST", "/v1/apps/{app}/{platform}/release", .scope(.versions), .work(.writes), isNoteworthy: true,
            act: .release,
            .body { api, call, body in try api.release(call.app, body: body, by: call.caller) }),
        Route(
            "POST", "/v1/apps/{app}/{platform}/withdraw", .scope(.versions), .work(.writes), isNoteworthy: true,
            act: .withdraw,
            .body { api, call, body in try api.withdraw(call.app, body: body, by: call.caller) }),
        Route(
            "POST", "/v1/apps/{app}/{platform}/test-push", .scope(.versions), .work(.foreign), slots: { $0.foreign },
            isNoteworthy: true,
            .body { api, call, body in try api.testPush(call.app, body: body, by: call.caller) }),
        Route(
            "POST", "/v1/apps/{app}/{platform}/plan", .scope(.versions), .work(.long), slots: { $0.long },
            .body { api, call, body in try api.plan(call.app, body: body, by: call.caller) }),
    ]

    /// The notice that users see at launch, under its name and its former one.
    private static let notices: [Route] = ["notice", "alert"].flatMap { name in
        [
            Route(
                "GET", "/v1/apps/{app}/{platform}/\(name)", .scope(.status), .work(.reads),
                .head { api, call in try api.alert(call.app) }),
            Route(
                "PUT", "/v1/apps/{app}/{platform}/\(name)", .scope(.versions), .work(.writes), isNoteworthy: true,
                act: .setAlert,
                .body { api, call, body in try api.setAlert(call.app, body: body, by: call.caller) }),
            Route(
                "DELETE", "/v1/apps/{app}/{platform}/\(name)", .scope(.versions), .work(.writes),
                query: Shown.parameters(.clearAlert), isNoteworthy: true, act: .clearAlert,
                .head { api, call in try api.clearAlert(call.app, &call.query, by: call.caller) }),
        ]
    }

    private static let devices: [Route] = [
        Route(
            "GET", "/v1/apps/{app}/{platform}/devices", .scope(.users), .work(.reads),
            query: DeviceFilter.parameters + ["since", "limit", "cursor", "format"],
            .head { api, call in try api.exportDevices(&call) }),
        Route(
            "POST", "/v1/apps/{app}/{platform}/devices", .scope(.devices), .work(.streams), query: ["dryRun"],
            isNoteworthy: true,
            .stream { api, call in try api.importDevices(call) }),
        Route(
            "GET", "/v1/apps/{app}/{platform}/devices/{token}", .scope(.users), .work(.reads),
            .head { api, call in try api.device(call.app, token: call.path.name, by: call.caller) }),
        Route(
            "PUT", "/v1/apps/{app}/{platform}/devices/{token}", .scope(.devices), .work(.writes),
            .body { api, call, body in
                try api.registerDevice(call.app, token: call.path.name, body: body, by: call.caller)
            }),
        Route(
            "PATCH", "/v1/apps/{app}/{platform}/devices/{token}", .scope(.devices), .work(.writes),
            .body { api, call, body in
                try api.changeDevice(call.app, token: call.path.name, body: body, by: call.caller)
            }),
        Route(
            "DELETE", "/v1/apps/{app}/{platform}/devices/{token}", .scope(.devices), .work(.writes),
            query: Shown.parameters(.removeDevice), act: .removeDevice,
            .head { api, call in
                try api.removeDevice(call.app, token: call.path.name, &call.query, by: call.caller)
            }),
        Route(
            "GET", "/v1/devices", .scope(.users), .work(.reads),
            query: ["telephone", "token"] + AppFilter.parameters + ["limit", "cursor"],
            .head { api, call in try api.devices(&call.query, call.caller) }),
        Route(
            "GET", "/v1/users", .scope(.users), .work(.reads), query: ["telephone"] + AppFilter.parameters,
            .head { api, call in try api.explainUser(&call.query, call.caller) }),
        Route(
            "DELETE", "/v1/users", .scope(.devices), .work(.writes),
            query: ["telephone"] + AppFilter.parameters + Shown.parameters(.eraseUser), isNoteworthy: true,
            act: .eraseUser,
            .head { api, call in try api.eraseUser(&call.query, call.caller) }),
    ]

    private static let campaigns: [Route] =
        [
            Route(
                "GET", "/v1/campaigns", .scope(.status), .work(.reads), query: ["limit", "cursor", "app", "state"],
                .head { api, call in try api.campaigns(&call.query, call.caller) }),
            Route(
                "GET", "/v1/campaigns/{id}", .scope(.status), .work(.reads),
                .head { api, call in try api.campaign(call.path.name, call.caller) }),
            Route(
                "GET", "/v1/campaigns/{id}/adoption", .scope(.status), .work(.reads),
                .head { api, call in try api.adoption(call.path.name, call.caller) }),
            Route(
                "GET", "/v1/campaigns/{id}/deliveries", .scope(.status), .work(.reads),
                query: ["limit", "cursor", "state", "reason", "telephone", "token", "format"],
                .head { api, call in try api.campaignDeliveries(call.path.name, &call) }),
            Route(
                "GET", "/v1/campaigns/{id}/events", .scope(.status), .work(.reads), slots: { $0.streams },
                .head { api, call in try api.campaignEvents(call.path.name, call) }),
            Route(
                "GET", "/v1/campaigns/{id}/report", .scope(.status), .work(.reads),
                .head { api, call in
                    _ = try api.record(call.path.name, call.caller)
                    return try api.settings.rendering.report(api, call)
                }),
            Route(
                "GET", "/v1/events", .scope(.status), .work(.reads), slots: { $0.watchers }, query: ["after"],
                .head { api, call in try api.liveEvents(&call) }),
            Route(
                "GET", "/v1/deliveries", .scope(.users), .work(.reads),
                query: ["limit", "cursor", "state", "reason", "telephone", "token", "format"] + AppFilter.parameters,
                .head { api, call in try api.deliveries(&call) }),
            Route(
                "GET", "/v1/notifications", .scope(.status), .work(.reads),
                query: ["limit", "cursor", "campaign", "state"],
                .head { api, call in try api.notifications(&call.query, call) }),
            Route(
                "GET", "/v1/audit", .scope(.status), .work(.reads), query: API.auditParameters,
                .head { api, call in try api.audit(&call) }),
            Route(
                "GET", "/v1/nodes", .scope(.status), .work(.reads), .head { api, call in try api.nodes(call.caller) }),
            Route(
                "GET", "/v1/approvals", .scope(.status), .work(.reads), query: ["limit", "cursor", "app", "state"],
                .head { api, call in try api.approvals(&call.query, call.caller) }),
            Route(
                "POST", "/v1/approvals/{id}/approve", .scope(.versions), .work(.writes), isNoteworthy: true,
                .head { api, call in try api.approve(call.path.name, call.caller) }),
            Route(
                "POST", "/v1/approvals/{id}/refuse", .scope(.versions), .work(.writes), isNoteworthy: true,
                .body { api, call, body in try api.refuse(call.path.name, body: body, call.caller) }),
        ] + [
            moving("pause", .pause) { try $0.pause(campaign: $1, by: $2) },
            beginning("resume", .resume) { try $0.resume(campaign: $1, isUrgent: $2, by: $3) },
            moving("cancel", .cancel) { try $0.cancel(campaign: $1, by: $2) },
            beginning("approve", .approve) { try $0.approve(campaign: $1, isUrgent: $2, by: $3) },
            beginning("release", .releaseCampaign) { try $0.release(campaign: $1, isUrgent: $2, by: $3) },
            Route(
                "POST", "/v1/campaigns/{id}/retry", .scope(.campaigns), .work(.writes), isNoteworthy: true,
                act: .retry,
                .body { api, call, body in try api.retryCampaign(call.path.name, body: body, call.caller) }),
        ]

    private static func moving(
        _ verb: String, _ act: ActKind,
        _ move: @escaping @Sendable (any RequirementOperations, String, Principal) throws -> CampaignStatus
    ) -> Route {
        acting(verb, act, mayBeUrgent: false) { try move($0, $1, $3) }
    }

    /// An act that lets pushes begin, and may ask not to wait for the app's hours.
    private static func beginning(
        _ verb: String, _ act: ActKind,
        _ begin: @escaping @Sendable (any RequirementOperations, String, Bool, Principal) throws -> CampaignStatus
    ) -> Route {
        acting(verb, act, mayBeUrgent: true, begin)
    }

    private static func acting(
        _ verb: String, _ act: ActKind, mayBeUrgent: Bool,
        _ deed: @escaping @Sendable (any RequirementOperations, String, Bool, Principal) throws -> CampaignStatus
    ) -> Route {
        Route(
            "POST", "/v1/campaigns/{id}/\(verb)", .scope(.campaigns), .work(.writes), isNoteworthy: true, act: act,
            .body { api, call, body in
                // First, so that a caller that may not see the campaign gets no answer about the body either.
                let campaign = try api.record(call.path.name, call.caller)
                let carried = try API.carried(act, body, mayBeUrgent: mayBeUrgent)
                let caller = try API.alone(call.caller.confirming(carried.shown, of: campaign.key), carried.alone)
                let status = try deed(api.control.requirements, campaign.id, carried.isUrgent, caller.actor)
                return .json { $0.campaign(status, for: call.sight, after: act) }
            })
    }

    private static let sessions: [Route] = [
        Route(
            "POST", "/v1/session", .signedIn, .work(.writes), isNoteworthy: true,
            .head { api, call in try api.beginSession(call) }),
        Route(
            "DELETE", "/v1/session", .signedIn, .work(.writes), isNoteworthy: true,
            .head { api, call in try api.endSession(call) }),
        Route(
            "POST", "/v1/session/link", .operatorOnly, .nothing, isNoteworthy: true,
            .head { api, call in try api.makeSessionLink(call) }),
        Route("GET", "/v1/sessions", .operatorOnly, .work(.reads), .head { api, _ in try api.listSessions() }),
        Route(
            "DELETE", "/v1/sessions/{name}", .operatorOnly, .work(.writes), isNoteworthy: true,
            .head { api, call in try api.endSession(id: call.path.name, by: call.caller) }),
    ]

    private static let administration: [Route] = [
        Route("GET", "/v1/store", .operatorOnly, .work(.reads), .head { api, _ in try api.storeStatus() }),
        Route(
            "GET", "/v1/store/backup", .operatorOnly, .work(.reads), slots: { $0.maintenance },
            .head { api, _ in try api.backUpStore() }),
        Route(
            "GET", "/v1/store/check", .operatorOnly, .work(.reads), slots: { $0.maintenance },
            .head { api, _ in try api.checkStore() }),
        Route(
            "POST", "/v1/store/prune", .operatorOnly, .work(.reads), slots: { $0.maintenance }, isNoteworthy: true,
            .body { api, _, body in try api.pruneStore(body: body) }),
        Route(
            "POST", "/v1/store/accept", .operatorOnly, .work(.writes), isNoteworthy: true,
            .body { api, call, body in try api.acceptStore(body: body, by: call.caller) }),
        Route("GET", "/v1/log", .operatorOnly, .work(.reads), .head { api, _ in api.logLevel() }),
        Route(
            "PUT", "/v1/log", .operatorOnly, .work(.reads), isNoteworthy: true,
            .body { api, call, body in try api.setLogLevel(body: body, by: call.caller) }),
        // It waits for the main thread, which reads files and asks the store.
        Route(
            "POST", "/v1/reload", .operatorOnly, .work(.reads), isNoteworthy: true,
            .head { api, call in try api.reload(by: call.caller) }),
        Route("GET", "/v1/tokens", .operatorOnly, .work(.reads), .head { api, _ in try api.tokens() }),
        Route(
            "POST", "/v1/tokens", .operatorOnly, .work(.writes), isNoteworthy: true,
            .body { api, call, body in try api.createToken(body: body, by: call.caller) }),
        Route(
            "DELETE", "/v1/tokens/{name}", .operatorOnly, .work(.writes), query: Shown.parameters(.revokeToken),
            isNoteworthy: true, act: .revokeToken,
            .head { api, call in try api.revokeToken(call.path.name, &call.query, by: call.caller) }),
    ]
}
