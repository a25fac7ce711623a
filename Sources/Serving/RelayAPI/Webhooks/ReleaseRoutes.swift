// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import RelayStore
import Requirements
import Signing
import UpgradeRules
import VersionSources
import WireFormat

/// Webhooks of release tools. As with the version webhook, the signature is checked first, then the body is read, and a
/// stored answer precedes any other.
extension API {
    func gitHubWebhook(
        _ app: AppKey, _ head: RequestHead, body: [UInt8], _ isSigned: (String) -> Void
    ) throws -> Response {
        let (id, caller) = try verified(head, body, for: app.app, via: "github", isSigned)
        let receipt = WebhookReceipt(id: id, hook: "github/\(app.app)/\(app.platform.rawValue)", body: body)
        return try settle(app, receipt, by: caller) { rules in
            try GitHubEvent.read(body, name: head.headers[WebhookHeaders.hubEvent], rules: rules)
        }
    }

    func gitLabWebhook(
        _ app: AppKey, _ head: RequestHead, body: [UInt8], _ isSigned: (String) -> Void
    ) throws -> Response {
        let (id, caller) = try verified(head, body, for: app.app, via: "gitlab", takesToken: true, isSigned)
        let receipt = WebhookReceipt(id: id, hook: "gitlab/\(app.app)/\(app.platform.rawValue)", body: body)
        return try settle(app, receipt, by: caller) { rules in
            try GitLabEvent.read(body, rules: rules, now: now().internetTime)
        }
    }

    /// One webhook belongs to one app, and its body names neither the app nor the version.
    func appStoreConnectWebhook(
        _ name: String, _ head: RequestHead, body: [UInt8], _ isSigned: (String) -> Void
    ) throws -> Response {
        let app = AppKey(app: name, platform: .ios)
        let (_, caller) = try verified(head, body, for: name, via: "app-store-connect", isSigned)
        // "De-duplicate on data.id" (PROTOCOLS 3.3): nothing outside the body is an id.
        let (id, news) = try AppStoreConnectEvent.read(body)
        let receipt = WebhookReceipt(id: id, hook: "app-store-connect/\(name)", body: body)
        return try settle(app, receipt, by: caller) { _ in news }
    }

    // MARK: Steps

    /// - Parameters:
    ///   - app: the app whose secrets may verify; nil: any.
    ///   - way: the kind of webhook, as the history names it.
    ///   - isSigned: called with the signer's name, so that a refusal of a signed webhook names it.
    /// - Returns: the event's id, and its sender: the secret's name.
    /// - Throws: a 401.
    func verified(
        _ head: RequestHead, _ body: [UInt8], for app: String?, via way: String = "webhook", takesToken: Bool = false,
        _ isSigned: (String) -> Void
    ) throws -> (id: String, caller: Caller) {
        let verifier = WebhookVerifier(
            secrets: settings.webhookSecrets().filter { secret in app.map(secret.verifies) ?? true })
        switch verifier.verify(WebhookHeaders(head.headers.byName), body: body, at: now(), takesToken: takesToken) {
        case .verified(let id, let signer):
            isSigned(signer)
            return (id, Caller(actor: Principal(signer, .webhook, via: way, from: head.peer.description)))
        case .refused(let refusal):
            // RFC 9110 section 15.5.2: a 401 must name a way to authenticate.
            throw ProblemDetails(
                401, refusal.description, headers: [("WWW-Authenticate", "Webhook-Signature realm=\"upgrade-relay\"")])
        }
    }

    private func settle(
        _ app: AppKey, _ receipt: WebhookReceipt, by caller: Caller, read: (ReleaseRules) throws -> ReleaseVerdict
    ) throws -> Response {
        let rules = control.releaseRules(of: app)
        return try answer(to: receipt) {
            try require(app)
            return try read(rules)
        } deciding: {
            try settle($0, app, rules, receipt, by: caller)
        }
    }

    private func settle(
        _ news: ReleaseVerdict, _ app: AppKey, _ rules: ReleaseRules, _ receipt: WebhookReceipt, by caller: Caller
    ) throws -> Response {
        switch news {
        case .version(let version): return try release(version, app, rules, receipt, by: caller)
        case .outByNow(let version):
            do {
                return try release(version, app, rules, receipt, by: caller)
            } catch let error as ControlError where error.code == .withdrawn {
                return try note("ignored", error.description, receipt)
            }
        case .askTheStore:
            // Looked for before the transaction does so, so that no app store is asked about an event that already has an answer.
            if let answer = try store.answer(to: receipt) { return .replay(answer) }
            return try release(try offered(app), app, rules, receipt, by: caller, isOfTheStore: true)
        // Not stored: dates pass and rules change, so an event that is sent again should be judged again.
        case .ignored(let reason): return try noted("ignored", reason, receipt)
        case .ping: return try noted("pong", "the signature is right; releases may come", receipt)
        }
    }

    private func release(
        _ version: Version, _ app: AppKey, _ rules: ReleaseRules, _ receipt: WebhookReceipt, by caller: Caller,
        isOfTheStore: Bool = false
    ) throws -> Response {
        var bump = VersionBump(app: app, latest: version, required: rules.sets == .required ? version : nil)
        bump.isListed = isOfTheStore
        do {
            return try apply(bump, by: caller, receipt: receipt)
        } catch let error as StoreError {
            // A release of an older line, such as a bug fix, is no failure.
            guard case .versionWouldFall(_, let current, let proposed) = error.code else { throw error }
            return try note(
                "ignored", "\(proposed) is older than \(current), which is known; versions only rise", receipt)
        }
    }

    /// The version that is live according to App Store Connect, or else the one that the App Store shows.
    private func offered(_ app: AppKey) throws -> Version {
        guard let lookup = control.versionLookup(of: app) else {
            throw ProblemDetails(
                422,
                "the event does not say which version it is, so App Store Connect or the App Store is asked: add "
                    + "sources: [{ appStoreConnect: { … } }] or [{ appStore: { … } }] to the configuration of "
                    + "\(app.app) for ios")
        }
        let slot = try foreign.take(
            for: app.app, busy: "the App Store is being asked about \(app.app) already", retryAfter: 30)
        defer { withExtendedLifetime(slot) {} }
        let listing: StoreListing?
        do {
            listing = try lookup.current(of: app)
        } catch {
            throw ProblemDetails(503, "the App Store could not be asked: \(error)", headers: [("Retry-After", "900")])
        }
        guard let listing else {
            throw ProblemDetails(503, "the App Store does not list this app yet", headers: [("Retry-After", "900")])
        }
        return listing.version
    }

    /// Answers an event that announces a version and changes nothing, and stores the answer: a replay gets the same one,
    /// whatever was withdrawn since.
    private func note(_ status: String, _ reason: String, _ receipt: WebhookReceipt) throws -> Response {
        let answer = try store.keep(
            StoredAnswer(status: 200, body: Self.noteBody(status, reason)), to: receipt, at: now())
        return .json(answer.status, answer.body)
    }

    /// Answers an event in the same form, without storing the answer.
    private func noted(_ status: String, _ reason: String, _ receipt: WebhookReceipt) throws -> Response {
        if let answer = try store.answer(to: receipt) { return .replay(answer) }
        return .json(200, Self.noteBody(status, reason))
    }

    private static func noteBody(_ status: String, _ reason: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object((status: status, reason: reason), noteShape)
        return writer.bytes
    }

    static let noteShape = Shape<(status: String, reason: String)>(
        "EventNote", "An event that changes nothing.",
        [
            .member(.status, .words(["ignored", "pong"])) { $0.status },
            .member(.reason, .text, "The reason, for the person who looks at the deliveries.") { $0.reason },
        ])
}
