// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
package import RelayStore
package import UpgradeRules

/// One method of one path, and all that is asked of a caller and done for him. They stand in `Route.all` and nowhere else.
package final class Route: Sendable {
    /// How it is answered.
    package enum Answer: Sendable {
        /// By the head alone.
        case head(@Sendable (API, inout Call) throws -> Response)
        /// With the whole body.
        case body(@Sendable (API, Call, [UInt8]) throws -> Response)
        /// With the whole body of a webhook. The last parameter is given the name of the secret as soon as the signature is found right.
        case signed(@Sendable (API, Call, [UInt8], (String) -> Void) throws -> Response)
        /// With the fields of a form (WHATWG URL, section 5.1). What a browser's session sends has its form token.
        case form(@Sendable (API, Call, FormFields) throws -> Response)
        /// With the body as it comes.
        case stream(@Sendable (API, Call) throws -> any BodyConsumer)

        /// Whether it reads a body.
        var takesBody: Bool { if case .head = self { false } else { true } }

        var isForm: Bool { if case .form = self { true } else { false } }
    }

    /// What an answer waits for.
    package enum Waiting: Sendable {
        /// It is there already: neither the store nor the body is asked, and no thread waits.
        case nothing
        /// The same, but for requests of which `asks` is true.
        case nothingUnless(asks: @Sendable (API, [RequestTarget.QueryItem]) -> Bool)
        case work(WorkKind)
    }

    /// Who may keep an answer.
    package enum Keeping: Sendable {
        /// Nobody: it depends on who asks, or is of one moment.
        case nobody
        /// Whoever gets it, as its own `Cache-Control` says: it depends on the request's target alone. Not what came with credentials.
        case everybody
    }

    package let method: String
    /// With names in braces, as CONTRACT writes it.
    package let path: String
    package let right: Right
    let waiting: Waiting
    /// What its answer takes one of, so that it goes on so many times at most; nil: as often as there are threads.
    let slots: (@Sendable (API) -> Slots)?
    /// The parameters of its query.
    let parameters: [String]
    /// Whether it is logged at the level info: what changes a version, a campaign or a right. Logins ask by the thousand.
    let isNoteworthy: Bool
    /// What its metrics call it; nil: no webhook.
    let webhook: String?
    /// What a person does by it who was shown something before; nil: nothing is shown.
    package let act: ActKind?
    let answer: Answer
    /// Whether what it changes is what an app requires, and nothing else.
    var changesRequirements: Bool {
        path.hasPrefix("/v1/apps/{app}/{platform}/")
            && ["version", "release", "withdraw"].contains { path.hasSuffix($0) }
    }
    /// Whether it takes any method and any `Authorization`: a proxy may ask with those of its client.
    let isForProxies: Bool
    /// Whether it answers people: what is wrong is told as a page.
    let isPage: Bool
    package let keeping: Keeping
    /// Whether scripts of other sites may read it, those of `listen.corsOrigins`.
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

/// What a path's names in braces stood for.
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
