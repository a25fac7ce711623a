// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Requirements
import UpgradeRules
import VersionSources
import WireFormat

extension API {
    /// Checks the signature first: a sender without the secret learns neither the faults of the body nor which apps there are.
    func versionWebhook(_ head: RequestHead, body: [UInt8], _ isSigned: (String) -> Void) throws -> Response {
        if PlatformBodies.isMeant(by: body) { return try versionWebhook(ofSeveral: body, head, isSigned) }
        let webhook = BumpBody.Webhook(body)
        let app = webhook.app
        // The body names the app: a secret that is bound to other apps cannot verify it.
        let (id, caller) = try verified(head, body, for: app?.app, isSigned)
        // Ids are unique only within one app: two apps may well call a release "release-2-0-0".
        let hook = app.map { "version/\($0.app)/\($0.platform.rawValue)" } ?? "version"
        return try settle(webhook, WebhookReceipt(id: id, hook: hook, body: body), by: caller)
    }

    /// Decides one app's and platform's bump, once for each receipt.
    func settle(_ webhook: BumpBody.Webhook, _ receipt: WebhookReceipt, by caller: Caller) throws -> Response {
        try answer(to: receipt) {
            try wish(of: webhook)
        } deciding: {
            try apply($0, by: caller, receipt: receipt)
        }
    }

    /// The bump that a webhook asks for, of an app that is configured.
    func wish(of webhook: BumpBody.Webhook) throws -> VersionBump {
        let bump = try webhook.bump { control.profile(of: $0)?.downloadSchemes ?? [] }
        guard control.profile(of: bump.app) != nil else {
            throw ProblemDetails(
                field: "app",
                "\"\(JSONValue.shortened(bump.app.app))\" is not configured for \(bump.app.platform.rawValue) on this server"
            )
        }
        return bump
    }

    /// Answers a webhook. One that was answered before gets the stored answer, which the deciding transaction looks for. A
    /// stored answer also precedes a refusal before that transaction: the webhook may have been answered while its app was
    /// configured or its rules were different.
    ///
    /// - Parameters:
    ///   - read: reads the webhook's wish; asks no store.
    ///   - decide: looks for the stored answer itself.
    func answer<Wish>(
        to receipt: WebhookReceipt, _ read: () throws -> Wish, deciding decide: (Wish) throws -> Response
    ) throws -> Response {
        let wish: Wish
        do {
            wish = try read()
        } catch {
            guard let answer = try store.answer(to: receipt) else { throw error }
            return .replay(answer)
        }
        return try decide(wish)
    }
}
