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
        let webhook = BumpBody.Webhook(body)
        let app = webhook.app
        // The body names the app: a secret that is bound to other apps cannot verify it.
        let (id, caller) = try verified(head, body, for: app?.app, isSigned)
        // Ids are unique only within one app: two apps may well call a release "release-2-0-0".
        let hook = app.map { "version/\($0.app)/\($0.platform.rawValue)" } ?? "version"
        let receipt = WebhookReceipt(id: id, hook: hook, body: body)
        return try answer(to: receipt) {
            let bump = try webhook.bump { control.profile(of: $0)?.downloadSchemes ?? [] }
            guard control.profile(of: bump.app) != nil else {
                throw ProblemDetails(
                    field: "app",
                    "\"\(JSONValue.shortened(bump.app.app))\" is not configured for \(bump.app.platform.rawValue) on this server"
                )
            }
            return bump
        } deciding: {
            try apply($0, by: caller, receipt: receipt)
        }
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
