// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The effect of each operation on the relay, and what the model learns of it.
extension World {
    func perform(_ operation: Operation, _ prefix: String) {
        model.now = milliseconds
        guard relay != nil else { return }
        // A person who resumes or retries does not wait for an outage, and a reload forgets it.
        if operation.kind != .pass { outages = [:] }
        stirLedgers(by: operation.kind)
        defer { model.doubtAgain() }
        if operation.second % 9 == 4, settings.apps.contains(where: { settings.eyes($0) != nil }) {
            asking.alone = "an emergency"
        }
        defer { asking.alone = nil }
        do {
            guard let text = try act(operation) else { return }
            journal.reach("did: \(operation.kind.rawValue)")
            note(prefix + text)
        } catch let asked as ApprovalAsked {
            journal.reach("asked: \(operation.kind.rawValue)")
            note("\(prefix)\(waits(asked.approval))")
        } catch {
            journal.reach("refused: \(operation.kind.rawValue)")
            // A constraint of the schema is no answer to a person: the component that knows the reason must refuse in words. Only another
            // program gets no other answer.
            if let error = error as? StoreError, error.code == .conflict, operation.kind != .otherProgram,
                !isDiskFailing, !rowsWereDeleted
            {
                model.broke("store.refuses", plain(error))
            }
            note("\(prefix)\(operation.kind.rawValue) is refused: \(plain(error))")
        }
    }

    /// The text without what differs between processes.
    func plain(_ error: any Error) -> String {
        storage.plain("\(error)")
    }

    /// - Returns: the act, for the story; nil: nothing was done.
    private func act(_ operation: Operation) throws -> String? {
        let (first, second) = (operation.first, operation.second)
        let app = first % settings.apps.count
        switch operation.kind {
        case .bump: return try bump(app, next(app, second), by: "api")
        case .canary: return try bump(app, next(app, second), canary: canary(app, second), by: "api")
        case .webhook: return try webhook(app, slip(next(app, second), second))
        case .pipeline: return try release(fromPipeline: app, slip(next(app, second), second))
        case .replay: return try replay(first, isCaptured: second % 2 == 1)
        case .latest: return try announceLatest(app, next(app, second))
        case .confirmTexts: return try reword(app, second)
        case .otherProgram: return try requireOutside(app, slip(next(app, second), second))
        case .releaseApp: return try releaseApp(app)
        case .releaseCampaign: return try withCampaign(second, isOver: false) { try release($0) }
        case .withdraw: return try withdraw(app)
        case .system: return try saySystem(app, second)
        case .listing: return try listSystem(app, second)
        case .block: return try block(app, second)
        case .unblock: return try unblock(app, second)
        case .pause: return try withCampaign(second, isOver: false) { try pause($0) }
        case .resume: return try withCampaign(second, isOver: false) { try resume($0) }
        case .hurry: return try withCampaign(second, isOver: false) { try resume($0, isUrgent: true) }
        case .cancel: return try withCampaign(second, isOver: false) { try cancel($0) }
        case .retry: return try withCampaign(second, isOver: true) { try retry($0) }
        case .look: return try look(app, second)
        case .approve: return try approve(first, second)
        case .refuse: return try refuse(first)
        case .actByLook: return try actByLook(first, second)
        case .register, .login, .logOut, .upgrade, .update, .move, .erase, .remove, .importFile, .uninstall,
            .replace, .patch, .moveOn, .second:
            guard !phones.isEmpty else { return nil }
            return try actOnPhone(operation.kind, first % phones.count, second)
        case .importList: return try importList(first, second)
        case .buyPhone: return try buyPhone(first, second)
        case .publish, .rollOut, .haltRollout, .goOnRollout, .sourceFails, .sourceAnswers, .launchGate:
            return actOnStore(operation.kind, app, second)
        case .reload, .removeApp, .addApp, .removeSource, .addSource:
            return try actOnConfiguration(operation.kind, app, second)
        case .prune, .backUp, .deleteRows: return try actOnRecords(operation.kind, first, second)
        case .copyStore: return try copyStore()
        case .putBack: return try putBack(first, second)
        case .takeOver: return try takeOver(second)
        case .weather, .crash, .kill, .diskFails, .diskWorks, .clockBack, .clockForward:
            return actOnMachine(operation.kind, first, second)
        case .pass: return "\(Self.times[first % Self.times.count]) pass"
        }
    }

    /// Mostly a newer version; sometimes the same again, sometimes one that was withdrawn.
    private func next(_ app: Int, _ number: Int) -> Int {
        let highest = model.announcements.filter { $0.app == app }.map(\.version).max() ?? 2
        let required = model.required(app)?.version ?? 0
        if number % 9 == 1, required > 0 { return required }
        if number % 5 == 2,
            let gone = model.announcements.last(where: { $0.app == app && !$0.isLive && $0.version > required })
        {
            return gone.version
        }
        return max(highest, required) + 1 + number % 2
    }

    /// Now and then a machine sends a mistyped version.
    func slip(_ version: Int, _ number: Int) -> Int { number >= 940 ? version + 60 : version }

    /// One to three of the app's users, and now and then one that no device has.
    private func canary(_ app: Int, _ number: Int) -> Set<Int> {
        let users = phones.filter { $0.app == app }.compactMap(\.user)
        guard !users.isEmpty else { return [999] }
        var canary = Set((0...(number % 3)).map { users[(number / 3 + $0 * 7) % users.count] })
        if number % 11 == 0 { canary.insert(999) }
        return canary
    }

    // MARK: Asking for versions

    private func bump(_ app: Int, _ version: Int, canary: Set<Int>? = nil, by source: String) throws -> String? {
        var bump = VersionBump(
            app: settings.key(app), required: try Version(Self.text(version: version)),
            telephones: canary.map { $0.sorted().map(Phone.telephone) })
        bump.isConfirmed = true
        let hasMinimum = settings.setup["system", app] == 1 && version % 4 != 0
        if hasMinimum { bump.minimumOS = .set(try Version(Phone.minimumSystem)) }
        let moment = moment(app, version)
        if let moment { bump.requiredFrom = .set(clock.now.wall + moment) }
        if settings.isAndroid(app), settings.setup["codes", app] == 1 { bump.builds.required = Int64(version) }
        let promised = judgePlan(bump, app, version)
        let to =
            (canary.map { " for the users \($0.sorted())" } ?? "") + (moment.map { ", in force in \($0)" } ?? "")
        let rose = try apply(bump, app, canary: canary, source: source)
        if let waiting = asking.waiting { return waits(waiting) }
        return bumped(bump, app, version, canary: canary, by: source, promised: promised, moment: moment, rose) + to
    }

    /// The model learns of a bump that was done.
    func bumped(
        _ bump: VersionBump, _ app: Int, _ version: Int, canary: Set<Int>?, by source: String, promised: Bool?,
        moment: Duration?, _ rose: Bool
    ) -> String {
        let hasMinimum = bump.minimumOS != .keep
        remember(bump, app, version, promised: promised, rose)
        if rose, let moment, let place = model.newest(app, version) {
            model.announcements[place].requiredFrom = milliseconds + moment.milliseconds
        }
        if hasMinimum, let place = model.newest(app, version), model.announcements[place].isLive,
            !model.announcements[place].isOutside, !model.announcements[place].isUnclear
        {
            model.announcements[place].minimumAt = model.announcements[place].minimumAt ?? milliseconds
        }
        // Other users are named, as long as the version is for named users alone.
        if !rose, let canary, let place = model.newest(app, version), model.announcements[place].isLive,
            model.announcements[place].canaryReleasedAt == nil, model.announcements[place].canary != nil
        {
            for user in model.announcements[place].canary ?? [] where !canary.contains(user) {
                model.announcements[place].gone[user] = milliseconds
            }
            model.announcements[place].canary = canary
            // Its campaign begins anew: a push that the service refused, having taken none, is in line again, and its user may be left out.
            for (id, facts) in model.campaigns where facts.announcement == place { ledger.stirred.insert(id) }
        }
        return "\(source) requires \(World.text(version: version)) of app \(app)\(rose ? "" : ": nothing rises")"
    }

    /// The time from now until a version may come into force; nil: at once. A version that is already required keeps its moment.
    private func moment(_ app: Int, _ version: Int) -> Duration? {
        let isNew = model.newest(app, version).map { !model.announcements[$0].isLive } ?? true
        // There is no promise by which of two clocks a moment is reached.
        guard settings.setup["moment", app] == 1, isNew, model.isClockRight else { return nil }
        return [nil, .seconds(600), .seconds(7200), .seconds(40 * 3600)][version % 4]
    }

    /// - Returns: whether the required version rose.
    @discardableResult
    func apply(
        _ bump: VersionBump, _ app: Int, canary: Set<Int>?, source: String, receipt: WebhookReceipt? = nil,
        isMeant: Bool = true
    ) throws -> Bool {
        guard let relay else { return false }
        // A user whom it names is known again.
        for user in canary ?? [] { model.erased[user] = nil }
        // The relay looks at the versions that another program wrote before it takes this bump.
        model.doubtAgain()
        asking.waiting = nil
        let applied = try acting(
            .versionBump, by: receipt == nil ? .token : .webhook, via: source, changes: Self.hasRisen
        ) {
            if let approving = asking.approving { return try approved(approving, bump, app, by: $0) }
            return try relay.control.bump(bump, by: $0, receipt: receipt) { _, _ in StoredAnswer(status: 200, body: [])
            }
        }
        if case .applied(let outcome, _) = applied, let asked = outcome.waiting {
            asking.waiting = asked
            return false
        }
        guard case .applied(let outcome, _) = applied, let required = outcome.record.required else { return false }
        defer { model.looked(app) }
        guard outcome.requiredRose else {
            if bump.required == required { reworded(app, Self.number(of: required.text), to: bump.message?.text) }
            // The same version again for other users: they are of its canary, too.
            if let canary, let place = model.newest(app, Self.number(of: required.text)), bump.required == required {
                model.announcements[place].canary?.formUnion(canary)
                // The relay has not looked yet at the version that another program wrote: this bump names its users.
                if model.announcements[place].isOutside, model.announcements[place].noticedAt == nil {
                    (model.announcements[place].canary, model.announcements[place].isUnclear) = (canary, true)
                }
            }
            return false
        }
        let version = Self.number(of: required.text)
        if canary == nil { judgeSecond(app) { $0.map { $0 < version } ?? true } }
        did(object: version, campaign: outcome.campaign?.id, values: values(of: bump, app, version))
        if bump.message == nil, let message = outcome.record.texts?.message {
            model.broke("texts.stick", "\(required) of app \(app) has the text \"\(message)\" of the bump before")
        }
        if !bump.isConfirmed, model.doubts(app, version) == true {
            model.broke(
                "inForce.implausible",
                "\(source) has raised \(required) of app \(app), and nobody has said that it is meant")
        }
        if !isMeant {
            model.broke(
                "webhook.captured", "a captured webhook has raised \(required) of app \(app), which was withdrawn")
        }
        asked(app, version, canary: canary)
        model.announcements[model.announcements.count - 1].text = bump.message?.text
        return true
    }

    /// The model learns which version was asked for.
    func asked(
        _ app: Int, _ version: Int, canary: Set<Int>? = nil, isOutside: Bool = false, isOfFile: Bool = false
    ) {
        var announcement = Announcement(
            app: app, version: version, askedAt: milliseconds, isGated: settings.isGated(app))
        // Only the App Store's lookup is held for hours.
        announcement.hold =
            settings.setup["gate", app] == 1 && !settings.isAndroid(app)
            ? Int64(settings.setup["hold", app]) * 3_600_000 : 0
        announcement.canary = canary
        announcement.hasWaves = settings.setup["waves", app] > 0
        (announcement.isOutside, announcement.isOfFile) = (isOutside, isOfFile)
        if isOutside {
            let isDoubted = model.doubts(app, version)
            announcement.isHeld = model.wasTakenBack(app, version)
            announcement.isDoubted = announcement.isHeld || isDoubted == true
            announcement.isUnclear = !announcement.isHeld && isDoubted == nil
        }
        announcement.lostItsGate = announcement.isGated && !settings.hasApp[app]
        // The relay may already know that its store offers it.
        if announcement.isGated, toldStores[app].verdict(on: version, minimum: settings.minimumPercent(app)) == .open {
            (announcement.offeredAt, announcement.isOfferSure) = (milliseconds, isToldSure[app])
        }
        // The same version in a file that the relay has not read no longer counts; nor does a version above it that waits for a person.
        for place in model.announcements.indices where !isOutside && model.announcements[place].app == app {
            let other = model.announcements[place]
            if other.version == version || other.version > version && (other.isDoubted || other.isUnclear) {
                model.announcements[place].isOverwritten = true
            }
        }
        model.announcements.append(announcement)
    }

    private func announceLatest(_ app: Int, _ version: Int) throws -> String? {
        var bump = VersionBump(app: settings.key(app), latest: try Version(Self.text(version: version)))
        bump.isConfirmed = true
        let rose = try apply(bump, app, canary: nil, source: "api")
        // A version that the policy requires is known for as long as it is asked for: it is taken back with its campaign. The same goes for
        // a version that is already required.
        if !rose, model.required(app).map({ $0.version < version }) ?? true {
            model.announced[app] = max(model.announced[app], version)
        }
        return
            "api announces \(World.text(version: version)) as the latest of app \(app)\(rose ? ", which its policy requires" : "")"
    }

    private func reword(_ app: Int, _ number: Int) throws -> String? {
        guard let version = model.required(app)?.version else { return nil }
        var bump = VersionBump(
            app: settings.key(app), required: try Version(Self.text(version: version)),
            message: LocalizedText("text \(number)"))
        bump.isConfirmed = true
        try apply(bump, app, canary: nil, source: "api")
        return "api gives \(World.text(version: version)) of app \(app) another text"
    }

    /// Another program writes to the store, as README allows.
    private func requireOutside(_ app: Int, _ version: Int) throws -> String? {
        // A blocked version would wait for a person (`RequirementBlockTests`), and so does any where two are wanted.
        guard !isBlocked(app, version), settings.setup["eyes", app] == 0 else { return nil }
        let key = settings.key(app)
        try otherProgram?.require(World.text(version: version), of: key)
        // The same version again is nothing new, also where its campaign was cancelled; a version in a file that the relay has not read is
        // not there yet.
        for place in model.announcements.indices
        where model.announcements[place].app == app && model.announcements[place].version == version
            && model.announcements[place].isOfFile && model.announcements[place].isUnnoticed
        {
            model.announcements[place].isOverwritten = true
        }
        let asked = model.announcements.filter { $0.app == app && $0.isAsked && !($0.isOfFile && $0.isUnnoticed) }
            .map(\.version).max()
        if asked.map({ $0 < version }) ?? true { self.asked(app, version, isOutside: true) }
        return "another program requires \(World.text(version: version)) of app \(app)"
    }

    func releaseApp(_ app: Int) throws -> String? {
        guard let relay else { return nil }
        let key = settings.key(app)
        observeCampaigns(isSure: true)
        // A person sees which version waits, and wants its campaign to go on.
        let before = try relay.store.version(of: key)?.requirements
        for (id, facts) in model.campaigns where model.announcements[facts.announcement].app == app {
            model.campaigns[id]?.isWanted = true
            // A canary's campaign begins anew: pushes that a service refused, having taken none, are in line again.
            if model.announcements[facts.announcement].canary != nil { ledger.stirred.insert(id) }
        }
        let after: Requirements
        do {
            // The release of a request names its version.
            after = try acting(asking.approving == nil ? .versionRelease : .campaignRelease) {
                guard let approving = asking.approving else {
                    return try relay.control.release(app: key, isUrgent: false, by: $0).requirements
                }
                _ = try relay.control.approve(approving.id, by: $0)
                return try undisturbed { try relay.store.releasable(of: key, nil, nil).0 }
            }
        } catch {
            for id in model.campaigns.keys { model.campaigns[id]?.isWanted = false }
            throw error
        }
        quietSince = tick
        // The version that the release has let through, or widened: it may be below one that is in force for some users.
        let changed = after.rows.first { row in
            before?[row.id].map { $0.isReleased != row.isReleased || $0.reach != row.reach } ?? false
        }
        guard let released = changed?.version else { return "app \(app) is released" }
        if let changed { judgeSecond(app, release: changed, before) }
        did(object: Self.number(of: released.text))
        if changed?.kind == .blocked {
            model.offersWayOut(app) { $0 == Self.number(of: released.text) }
            return "the block of \(released) of app \(app) is released"
        }
        model.release(
            app, Self.number(of: released.text),
            isWaiting: before?.live(released).map { $0.state != .inForce } ?? false)
        return "\(released) of app \(app) is released"
    }

    private func withdraw(_ app: Int) throws -> String? {
        guard let relay else { return nil }
        // As the command does: it takes back the version that it has read.
        guard let required = try relay.store.version(of: settings.key(app))?.required else { return nil }
        let withdrawal = try acting(.versionWithdraw) {
            try relay.control.withdraw(required, of: settings.key(app), by: $0, reason: nil)
        }
        did(object: Self.number(of: withdrawal.withdrawn.text), campaign: withdrawal.campaign?.id)
        model.withdraw(app, Self.number(of: withdrawal.withdrawn.text))
        model.decided(app)
        // A campaign that it had superseded goes on, as after a retry by hand: the waits that the service asked for before do not count.
        for (id, facts) in model.campaigns where model.announcements[facts.announcement].app == app {
            pushes.forgetRetries(of: id, inFlight: relay.lane.inFlight(of: id))
        }
        return "\(withdrawal.withdrawn) of app \(app) is withdrawn"
    }
}

extension Phone {
    /// A user's number, in the apps' own spelling.
    static func telephone(_ user: Int) -> String { "138\(10_000_000 + user)" }

    static func user(_ telephone: String) -> Int? { Int(telephone.dropFirst(3)).map { $0 - 10_000_000 } }
}
