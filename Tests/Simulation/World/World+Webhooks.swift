// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import UpgradeRules

/// Programs that announce versions by webhooks.
extension World {
    func webhook(_ app: Int, _ version: Int) throws -> String? {
        let id = "release-\(webhooks.count)"
        let text = try send(webhook: id, app, version, isMeant: true)
        webhooks.append((id, app, version))
        return text
    }

    /// A release tool has announced a version: it cannot name users itself, so the configuration names those who come first.
    func release(fromPipeline app: Int, _ version: Int) throws -> String? {
        let id = "pipeline-\(webhooks.count)"
        // A version in a file that the relay has not read is unknown to webhooks.
        let rises = !model.announcements.contains {
            $0.app == app && $0.isAsked && !($0.isOfFile && $0.isUnnoticed) && $0.version >= version
        }
        let canary = inheritedCanary(app) ?? (rises ? settings.firstUsers(app) : nil)
        let text = try send(webhook: id, app, version, canary: canary, by: "github", isMeant: true)
        webhooks.append((id, app, version))
        return text
    }

    private func send(webhook id: String, _ app: Int, _ version: Int, isMeant: Bool) throws -> String? {
        try send(webhook: id, app, version, canary: inheritedCanary(app), by: "webhook", isMeant: isMeant)
    }

    private func send(
        webhook id: String, _ app: Int, _ version: Int, canary: Set<Int>?, by tool: String, isMeant: Bool
    ) throws -> String? {
        var bump = VersionBump(app: settings.key(app), required: try Version(Self.text(version: version)))
        if tool != "webhook" { bump.latest = bump.required }
        let receipt = WebhookReceipt(id: id, hook: "version", body: Array("\(app) \(version)".utf8))
        let isHidden = model.announcements.contains { $0.app == app && $0.isUnnoticed && !$0.isOfFile }
        let rose = try apply(bump, app, canary: canary, source: tool, receipt: receipt, isMeant: isMeant)
        if rose, isHidden, let place = model.newest(app, version) {
            // The relay takes a version that another program wrote up before this one, or with it: then there is no canary any more, or
            // still the one before. Which of them it was is read from its record.
            observeCampaigns(isSure: true)
            let record = try? relay?.store.version(of: settings.key(app))?.requirements.required
            let now = inheritedCanary(app, below: version)
            if let record, Set((record.canary ?? []).compactMap(Phone.user)) == now ?? [] {
                model.announcements[place].canary = now
            }
        }
        return "webhook \(id) requires \(World.text(version: version)) of app \(app)\(rose ? "" : ": nothing rises")"
    }

    /// - Parameter isCaptured: whether a signed body is sent again under another id, where the signature is over the body alone.
    func replay(_ number: Int, isCaptured: Bool) throws -> String? {
        guard !webhooks.isEmpty else { return nil }
        let old = webhooks[number % webhooks.count]
        let id = isCaptured ? "captured-\(number)" : old.id
        // A version that was withdrawn since must not rise again.
        let wasWithdrawn = model.announcements.contains { $0.app == old.app && $0.version == old.version && !$0.isLive }
        return try send(webhook: id, old.app, old.version, isMeant: !wasWithdrawn).map { "again: \($0)" }
    }
}
