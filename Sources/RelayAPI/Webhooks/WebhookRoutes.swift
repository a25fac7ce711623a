// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import UpgradeRules
import VersionSources
import WireFormat

extension API {
    /// Signature first: nobody without the secret learns what the body did wrong, or which apps there are.
    func versionWebhook(_ head: RequestHead, body: [UInt8]) throws -> Response {
        let receipt = WebhookReceipt(id: try verified(head, body, for: nil), hook: "version", body: body)
        // A replay is answered before its body is looked at, so that it is answered alike even if the app has been taken
        // out of the configuration since. Two at once are told apart inside the transaction.
        if let answer = try store.answer(to: receipt) { return .replay(answer) }
        let bump = try BumpBody.readWebhook(body) { control.profile(of: $0)?.downloadSchemes ?? [] }
        // The app is in the body: a secret that is bound to others has no say in it.
        _ = try verified(head, body, for: bump.app.app)
        guard control.profile(of: bump.app) != nil else {
            throw ProblemDetails(
                field: "app",
                "\"\(JSONValue.shortened(bump.app.app))\" is not configured for \(bump.app.platform.rawValue) on this server"
            )
        }
        return try apply(bump, by: .webhook, receipt: receipt)
    }
}
