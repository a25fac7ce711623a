// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import UpgradeRules

/// Versions that machines ask for: webhooks, files, and the policies that derive one from a store's offer.
extension World {
    /// A source names the version that is required already: its text, or none, is the version's now.
    func machineRepeated(_ bump: VersionBump) {
        guard let app = settings.apps.first(where: { settings.key($0) == bump.app }), let required = bump.required,
            let now = try? relay?.store.version(of: bump.app)?.required, now == required
        else { return }
        reworded(app, Self.number(of: required.text), to: bump.message?.text)
    }

    /// A source raised a version, or the version that a policy derived from it. No machine asks for a withdrawn version.
    func machineAsked(_ app: AppKey, _ required: String) {
        guard let app = settings.apps.first(where: { settings.key($0) == app }) else { return }
        let version = Self.number(of: required)
        let unread = model.newest(app, version).flatMap { place in
            model.announcements[place].isLive && model.announcements[place].isUnnoticed ? place : nil
        }
        guard unread != nil || model.required(app).map({ $0.version < version }) ?? true else { return }
        if model.doubts(app, version, askedBy: unread) == true {
            model.broke(
                "inForce.implausible",
                "a source has raised \(required) of app \(app), and nobody has said that it is meant")
        }
        // A version in a file is asked for when the relay takes it up: for the users that are a canary then.
        if let unread {
            // As below: a version that another program wrote is taken up before it, with it or after it.
            let canary = inheritedCanary(app, below: version)
            if model.announcements.contains(where: { $0.app == app && $0.isUnnoticed && !$0.isOfFile }) {
                // Its users may be others than when the file was written.
                model.announcements[unread].isUnclear = true
                observeCampaigns(isSure: true)
            }
            let inherited = inheritedCanary(app, below: version)
            // A version that another program wrote above it was held for a person, or the file would have been refused: it gives way, as in
            // `asked`.
            for place in model.announcements.indices
            where model.announcements[place].app == app && model.announcements[place].version > version
                && model.announcements[unread].isOfFile && !model.announcements[place].isOfFile
                && model.announcements[place].isUnnoticed
            {
                model.announcements[place].isOverwritten = true
            }
            model.announcements[unread].canary = inherited
            (model.announcements[unread].isDoubted, model.announcements[unread].isUnclear) = (
                false, inherited != canary
            )
            return model.announcements[unread].noticed(at: milliseconds)
        }
        if model.newest(app, version) != nil {
            model.broke("source.revives", "a source has raised \(required) of app \(app), which was withdrawn")
        }
        // A version that another program wrote since the last check may have been taken up before this one, or with it: which of these
        // cannot be seen from outside.
        let canary = inheritedCanary(app)
        asked(app, version, canary: canary)
        let place = model.announcements.count - 1
        model.announcements[place].isUnclear = true
        observeCampaigns(isSure: true)
        let inherited = inheritedCanary(app, below: version)
        (model.announcements[place].canary, model.announcements[place].isUnclear) = (inherited, inherited != canary)
    }

    /// No machine makes a canary wider: its version begins with the same users. A version that was not taken up yet does not count.
    func inheritedCanary(_ app: Int, below version: Int = .max) -> Set<Int>? {
        let takenUp = model.announcements.filter {
            $0.app == app && $0.isAsked && !$0.isUnnoticed && $0.version < version
        }
        return takenUp.max { $0.version < $1.version }.flatMap { $0.isForAll ? nil : $0.canary }
    }
}
