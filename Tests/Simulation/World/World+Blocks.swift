// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Blocks of a version, and their effects.
extension World {
    /// Blocks a version that a phone runs. A version that another program or a file may have required, still unseen by the relay, is left
    /// alone.
    func block(_ app: Int, _ number: Int) throws -> String? {
        let running = phones.filter { $0.app == app }.compactMap { model.device(app, token($0))?.version }
        guard relay != nil, !running.isEmpty else { return nil }
        let version = running[number % running.count]
        guard model.block(app, version) == nil, !isAskedUnseen(app, version), isWaitPlain(app, version) else {
            return nil
        }
        var bump = VersionBump(app: settings.key(app))
        bump.blocked = [try Version(Self.text(version: version))]
        bump.isConfirmed = true
        return try block(app, bump, version)
    }

    func block(_ app: Int, _ bump: VersionBump, _ version: Int) throws -> String? {
        guard let relay else { return nil }
        model.doubtAgain()
        if asking.approving == nil { judgePlan(bump, app, version) }
        let applied = try acting(.versionBlock, by: .token, changes: { !Self.waits($0) }) {
            if let approving = asking.approving { return try approved(approving, bump, app, by: $0) }
            return try relay.control.bump(bump, by: $0, receipt: nil) { _, _ in StoredAnswer(status: 200, body: []) }
        }
        if case .applied(let outcome, _) = applied, let asked = outcome.waiting { return waits(asked) }
        judgeSecond(app) { $0 == version }
        model.looked(app)
        guard case .applied(let outcome, _) = applied, let block = outcome.blocked.first else { return nil }
        guard let campaign = block.campaign else {
            model.broke("campaign.none", "\(Self.text(version: version)) of app \(app) is blocked, and has no campaign")
            return nil
        }
        did(object: version, campaign: campaign.id)
        var new = Block(app: app, version: version, askedAt: milliseconds, campaign: campaign.id)
        new.isGated = settings.isGated(app)
        new.isOffered = offersWayOut(of: version, app)
        model.blocks.append(new)
        return "\(Self.text(version: version)) of app \(app) is blocked"
    }

    func unblock(_ app: Int, _ number: Int) throws -> String? {
        let blocked = model.blocks.indices.filter { model.blocks[$0].app == app && model.blocks[$0].endedAt == nil }
        guard !blocked.isEmpty else { return nil }
        return try unblock(app, version: model.blocks[blocked[number % blocked.count]].version)
    }

    func unblock(_ app: Int, version number: Int) throws -> String? {
        guard let relay,
            let place = model.blocks.lastIndex(where: { $0.app == app && $0.version == number && $0.endedAt == nil })
        else { return nil }
        let version = try Version(Self.text(version: number))
        model.doubtAgain()
        _ = try acting(.versionUnblock) {
            try relay.control.unblock([version], of: settings.key(app), by: $0, reason: nil)
        }
        did(object: number, campaign: model.blocks[place].campaign)
        model.looked(app)
        model.decided(app)
        model.blocks[place].endedAt = milliseconds
        if settings.isGated(app) { noteOffers(app) }
        return "\(version) of app \(app) may be used again"
    }

    /// Whether the model knows when a store offers a way out: not where the store shows versions a day before every user has them, nor for
    /// a version that the store itself offers.
    private func isWaitPlain(_ app: Int, _ version: Int) -> Bool {
        guard settings.setup["gate", app] > 0 else { return true }
        let isHeld = settings.setup["gate", app] == 1 && !settings.isAndroid(app) && settings.setup["hold", app] > 0
        return settings.isGated(app) && !isHeld && !stores[app].releases.contains { $0.version == version }
    }

    /// Whether an app's store, by its last answer, offers a version above this one.
    func offersWayOut(of version: Int, _ app: Int) -> Bool {
        let usable = toldStores[app].releases.map(\.version).filter { model.block(app, $0) == nil }
        return toldStores[app].only(Set(usable))
            .verdict(on: version + 1, minimum: settings.minimumPercent(app)) == .open
    }

    private func isAskedUnseen(_ app: Int, _ version: Int) -> Bool {
        model.announcements.contains { $0.app == app && $0.version == version && $0.isUnnoticed }
    }

    /// Whether a version is blocked: requiring it is in vain then.
    func isBlocked(_ app: Int, _ version: Int) -> Bool { model.block(app, version) != nil }

    /// Asks the login check about each version that was ever blocked.
    func askBlocks(_ app: Int) {
        guard let relay, !isDiskFailing else { return }
        for version in Set(model.blocks.lazy.filter { $0.app == app }.map(\.version)).sorted() {
            guard let text = try? Version(Self.text(version: version)),
                let answer = relay.cache.check(settings.key(app), version: text, user: .nobody)
            else { continue }
            var isByBlock = false
            if case .forced(let rule) = answer.verdict { isByBlock = rule.isBlock }
            let since = model.block(app, version)?.askedAt ?? milliseconds
            let isSettled =
                milliseconds - since > 90_000 && tick - max(quietSince, diskFailedAt ?? quietSince) > .seconds(90)
            model.says(
                block: app, version, isForced: answer.prompt == .force, isByBlock: isByBlock, isSettled: isSettled)
        }
    }

    /// At the end: every phone that runs a blocked version, and did so when it was blocked, was pushed to.
    func judgeBlocks() {
        for block in model.blocks where block.endedAt == nil && !block.isCancelled && !pushes.wasPruned && !wasClockSet
        {
            // A requirement above the block reaches the same phones, and a phone that the block missed in its time is retried with that
            // requirement alone.
            guard let record = try? relay?.store.campaign(id: block.campaign), record.state == .completed,
                record.facts.finishedAt.map({ $0 < record.facts.expiresAt }) ?? false,
                record.figures.counts.expired == 0,
                model.required(block.app).map({ $0.version <= block.version }) ?? true
            else { continue }
            // Pushes that left before a phone had another token were answered under the old token.
            let wrong = pushes.calledWrong[block.campaign] ?? []
            let answered = Set(block.taken.union(wrong).map { model.successor(block.app, $0) ?? $0 })
            let untold = phones.filter { phone in
                guard phone.app == block.app, phone.isInstalled, !phone.isTooOld,
                    let state = model.device(phone.app, token(phone)), state.isRegistered, state.user != nil
                else { return false }
                let name = "\(phone.app)/\(token(phone))"
                return state.version == block.version && state.since < block.askedAt
                    && !answered.contains(token(phone))
                    && !pushes.calledDead.contains(name)
                    && (try? relay?.store.device(settings.key(phone.app), token: token(phone)))??.retiredAt == nil
            }
            guard let first = untold.first else { continue }
            model.broke(
                "everybody.told",
                "\(untold.count) phones of app \(block.app) run \(Self.text(version: block.version)), which is blocked, and were not told, such as \(first.number)"
            )
        }
    }
}
