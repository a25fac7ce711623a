// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
package import Requirements
package import UpgradeRules

/// One method of one path, the right that it requires and its answer. All routes of the API are in `Route.all`.
package final class Route: Sendable {
    /// How it is answered.
    package enum Answer: Sendable {
        /// By the head alone.
        case head(@Sendable (API, inout Call) throws -> Response)
        /// With the whole body.
        case body(@Sendable (API, Call, [UInt8]) throws -> Response)
        /// With the whole body of a webhook. The last parameter takes the name of the secret as soon as the signature is verified.
        case signed(@Sendable (API, Call, [UInt8], (String) -> Void) throws -> Response)
        /// With the fields of a form (WHATWG URL, section 5.1). A form of a browser's session carries its form token.
        case form(@Sendable (API, Call, FormFields) throws -> Response)
        /// With the body as it comes.
        case stream(@Sendable (API, Call) throws -> any BodyConsumer)

        /// Whether it reads a body.
        package var takesBody: Bool { if case .head = self { false } else { true } }

        var isForm: Bool { if case .form = self { true } else { false } }
    }

    /// The work that an answer waits for.
    package enum Waiting: Sendable {
        /// None: the answer needs neither the store nor the body, and no thread waits.
        case nothing
        /// None, except for requests for which `asks` returns true: they read the store.
        case nothingUnless(asks: @Sendable (API, [RequestTarget.QueryItem]) -> Bool)
        case work(WorkKind)
    }

    /// The caches that may keep an answer.
    package enum Keeping: Sendable {
        /// No cache: it depends on the caller, or holds for one moment.
        case nobody
        /// Any cache, as its own `Cache-Control` allows: it depends on the request's target alone. Not an answer to a request with
        /// credentials.
        case everybody
    }

    package let method: String
    /// The path with names in braces, such as "/v1/apps/{app}" (CONTRACT).
    package let path: String
    package let right: Right
    let waiting: Waiting
    /// The slots, one for each answer, that limit how many are made at a time; nil: only the number of threads limits them.
    let slots: (@Sendable (API) -> Slots)?
    /// The parameters of its query.
    package let parameters: [String]
    /// Whether it is logged at the level info: a change of a version, a campaign or a right. Other requests, such as
    /// logins, come by the thousand.
    let isNoteworthy: Bool
    /// Its name in the metrics; nil: no webhook.
    let webhook: String?
    /// The act that it performs on facts that a person was shown before; nil: nothing is shown.
    package let act: ActKind?
    package let answer: Answer
    /// Whether it changes an app's requirements, and nothing else.
    var changesRequirements: Bool {
        path.hasPrefix("/v1/apps/{app}/")
            && ["/version", "/release", "/withdraw"].contains { path.hasSuffix($0) }
    }
    /// Whether it takes any method and any `Authorization`: a proxy may ask with those of its client.
    let isForProxies: Bool
    /// Whether it answers people: its problems are pages.
    let isPage: Bool
    package let keeping: Keeping
    /// Whether scripts of the sites in `listen.corsOrigins` may read the answer.
    package let isForWebViews: Bool
    /// Method and path, with nothing that a client sent: for the log and the metrics.
    package let pattern: String

    package init(
        _ method: String, _ path: String, _ right: Right, _ waiting: Waiting,
        slots: (@Sendable (API) -> Slots)? = nil, query parameters: [String] = [], isNoteworthy: Bool = false,
        webhook: String? = nil, isForProxies: Bool = false, isPage: Bool = false, keeping: Keeping = .nobody,
        isForWebViews: Bool = false, act: ActKind? = nil, _ answer: Answer
    ) {
        self.method = method
        self.path = path
        self.right = right
        self.waiting = waiting
        self.slots = slots
        self.parameters = parameters
        self.isNoteworthy = isNoteworthy
        self.webhook = webhook
        self.isForProxies = isForProxies
        self.isPage = isPage
        self.keeping = keeping
        self.isForWebViews = isForWebViews
        self.act = act
        self.answer = answer
        pattern = "\(method) \(path)"
    }
}

/// The values of the names in a path's braces.
package struct PathValues: Hashable, Sendable {
    /// {app}
    package var app = ""
    /// {platform}
    package var platform = Platform.ios
    /// {id}, {name} or {token}: a path has at most one of them.
    package var name = ""

    package var key: AppKey { AppKey(app: app, platform: platform) }
}

/// A request on its way to its route's answer.
package struct Call {
    package let route: Route
    package let head: RequestHead
    package let path: PathValues
    package var query: Query
    package let caller: Caller

    package var app: AppKey { path.key }
}
