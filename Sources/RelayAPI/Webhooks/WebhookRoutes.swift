// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import UpgradeRules
import VersionSources
import WireFormat

extension API {
    /// Signature first: nobody without the secret learns what the body did wrong, or which apps there are.
    func versionWebhook(_ head: RequestHead, body: [UInt8]) throws -> Response {
        let app = BumpBody.app(of: body)
        // The app is in the body: a secret that is bound to others has no say in it.
        let (id, caller) = try verified(head, body, for: app?.app)
        // Each app's releases have ids of their own: two of them may well call one "release-2-0-0".
        let hook = app.map { "version/\($0.app)/\($0.platform.rawValue)" } ?? "version"
        let receipt = WebhookReceipt(id: id, hook: hook, body: body)
        // A replay is answered before its body is looked at, so that it is answered alike even if the app has been taken
        // out of the configuration since. Two at once are told apart inside the transaction.
        if let answer = try store.answer(to: receipt) { return .replay(answer) }
        let bump = try BumpBody.readWebhook(body) { control.profile(of: $0)?.downloadSchemes ?? [] }
        guard control.profile(of: bump.app) != nil else {
            throw ProblemDetails(
                field: "app",
                "\"\(JSONValue.shortened(bump.app.app))\" is not configured for \(bump.app.platform.rawValue) on this server"
            )
        }
        return try apply(bump, by: caller, receipt: receipt)
    }
}
