// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayAPI
import RelayStore
import Requirements
import UpgradeRules

/// The routes of the status page: every page and every form of it.
package enum StatusPage {
    /// The pages that the API answers with: problems and reports.
    package static var rendering: PageRendering {
        var rendering = PageRendering()
        rendering.problem = { problem, head, api, caller in View(api, head, caller).problem(problem) }
        rendering.report = { api, call in try View(api, call).report(call.path.name) }
        return rendering
    }

    package static let routes: [Route] = screens + campaigns + approvals + apps + people + sessions

    private static let screens: [Route] = [
        page("/") { view, _, query in
            try query.finish()
            // A token for support may see users and devices alone.
            if !view.may(.status), view.may(.users) { return PageHeaders.redirect(to: Place.users.path) }
            return try view.overview()
        },
        page("/page/devices") { view, _, query in try view.devices(&query) },
        page("/page/deliveries") { view, _, query in try view.deliveries(&query) },
        page("/page/audit") { view, _, query in try view.audit(&query) },
        page("/page/audit/{id}") { view, call, query in
            try query.finish()
            return try view.auditEntry(call.path.name)
        },
        Route(
            "GET", "/page/assets/{name}", .nothing, .nothing, isPage: true, keeping: .everybody,
            .head { _, call in
                guard let response = PageAssets.current.response(to: call.head, for: call.path.name) else {
                    throw ProblemDetails(404, "there is no such file")
                }
                return response
            }),
    ]

    private static let campaigns: [Route] =
        [
            page("/page/campaigns") { view, _, query in try view.campaigns(&query) },
            page("/page/campaigns/{id}") { view, call, query in
                try query.finish()
                return try view.campaign(call.path.name)
            },
        ]
        + CampaignAction.allCases.flatMap { action in
            [
                page("/page/campaigns/{id}/\(action.rawValue)") { view, call, query in
                    try query.finish()
                    return try view.confirm(action, call.path.name)
                },
                form("/page/campaigns/{id}/\(action.rawValue)", act: action.act) { view, call, fields in
                    try view.perform(action, call.path.name, fields)
                },
            ]
        }

    private static let approvals: [Route] = [
        page("/page/approvals") { view, _, query in try view.approvals(&query) },
        page("/page/approvals/{id}") { view, call, query in
            try query.finish()
            return try view.confirmRefusal(call.path.name)
        },
        form("/page/approvals/{id}/approve") { view, call, _ in try view.approve(call.path.name) },
        form("/page/approvals/{id}/refuse") { view, call, fields in try view.refuse(call.path.name, fields) },
    ]

    private static let apps: [Route] =
        [
            page("/page/apps/{app}/{platform}") { view, call, query in try view.app(call.app, &query) },
            page("/page/apps/{app}/{platform}/raise") { view, call, query in
                try query.finish()
                return try view.raise(call.app)
            },
            form("/page/apps/{app}/{platform}/raise", .long, act: .raise) { view, call, fields in
                try view.raise(call.app, sent: fields)
            },
        ]
        + [VersionAction.release, .withdraw, .unblock].flatMap { action in
            [
                page("/page/apps/{app}/{platform}/\(action.rawValue)") { view, call, query in
                    let version = query.filledText("version")
                    try query.finish()
                    return try view.confirm(action, call.app, version: version)
                },
                form("/page/apps/{app}/{platform}/\(action.rawValue)", act: action.act) { view, call, fields in
                    try view.perform(action, call.app, fields)
                },
            ]
        }

    private static let people: [Route] = [
        page("/page/users") { view, _, query in try view.user(&query) },
        page("/page/users/erase") { view, _, query in
            let telephone = query.filledText("telephone") ?? ""
            try query.finish()
            return try view.confirmErasure(telephone)
        },
        form("/page/users/erase", act: .eraseUser) { view, _, fields in try view.erase(fields) },
        page("/page/tokens") { view, _, query in try view.tokens(&query) },
        page("/page/tokens/{name}/revoke") { view, call, query in
            try query.finish()
            return try view.confirmRevoking(call.path.name)
        },
        form("/page/tokens/{name}/revoke", act: .revokeToken) { view, call, fields in
            try view.revoke(call.path.name, fields)
        },
        page("/page/sessions/{id}/end") { view, call, query in
            try query.finish()
            return try view.confirmEnding(call.path.name)
        },
        form("/page/sessions/{id}/end") { view, call, _ in try view.end(session: call.path.name) },
    ]

    private static let sessions: [Route] = [
        Route(
            "POST", "/page/session", .nothing, .work(.writes), isPage: true,
            .form { api, call, fields in try PageSessions.signIn(api, call, fields) }),
        form("/page/session/end") { view, call, fields in try PageSessions.signOut(view.api, call, fields) },
        Route(
            "GET", "/page/enter/{token}", .nothing, .nothing, isPage: true,
            .head { api, call in View(api, call.head).entrance(link: call.path.name) }),
        Route(
            "POST", "/page/enter/{token}", .nothing, .work(.writes), isNoteworthy: true, isPage: true,
            .form { api, call, _ in try PageSessions.enter(api, call) }),
        Route(
            "GET", "/page/language/{name}", .nothing, .nothing, isPage: true,
            .head { _, call in try PageSessions.chooseLanguage(call) }),
        Route(
            "GET", "/page/zone", .nothing, .work(.reads), query: ["zone"], isPage: true,
            .head { api, call in try PageSessions.chooseZone(api, call) }),
    ]

    /// A route that shows something.
    private static func page(
        _ path: String, _ answer: @escaping @Sendable (View, Call, inout Query) throws -> Response
    ) -> Route {
        Route(
            "GET", path, .signedIn, .work(.reads), query: ["part"], isPage: true,
            .head { api, call in
                let view = View(api, &call)
                var query = call.query.filled
                return try answer(view, call, &query)
            })
    }

    /// A route that changes something.
    private static func form(
        _ path: String, _ kind: WorkKind = .writes, act: ActKind? = nil,
        _ answer: @escaping @Sendable (View, Call, FormFields) throws -> Response
    ) -> Route {
        Route(
            "POST", path, .signedIn, .work(kind), isNoteworthy: true, isPage: true, act: act,
            .form { api, call, fields in try answer(View(api, call), call, fields) })
    }
}
