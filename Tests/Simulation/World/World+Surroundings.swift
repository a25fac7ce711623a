// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import PushProviders
import RelayEngine
import RelayStore
import TestStores

/// Stores, the configuration, the relay's records, and the faults of machines.
extension World {
    // MARK: Stores and files

    /// A store has answered: the model may expect the relay to know.
    ///
    /// - Parameter versions: the versions in the answer; nil: all. Other parts have a turn between two questions that make one answer.
    func tells(_ app: Int, of versions: Set<Int>? = nil) {
        let told = versions.map { stores[app].only($0) } ?? stores[app]
        model.now = milliseconds
        keepsAnswer(app, told)
        (toldStores[app], isToldSure[app]) = (told, !isDiskFailing)
        let offered = told.releases.filter { !$0.isHalted }.map(\.version).max() ?? 0
        let seen = told.releases.map(\.version).max() ?? 0
        model.offered[app] = (offered, max(model.offered[app].perhaps, seen))
        journal.trace(
            "the store of app \(app) is asked: "
                + told.releases.map { "\($0.version) \($0.percent) %\($0.isHalted ? " halted" : "")" }
                .joined(separator: ", "))
        noteOffers(app)
    }

    /// The verdict of each version of an app that follows from its store's last answer. A blocked version opens no gate (VERSIONS.md).
    func noteOffers(_ app: Int) {
        let usable = Set(toldStores[app].releases.map(\.version).filter { model.block(app, $0) == nil })
        let told = toldStores[app].only(usable)
        let (isAndroid, minimum) = (settings.isAndroid(app), settings.minimumPercent(app))
        let newest = told.releases.filter { $0.percent == 100 && !$0.isHalted }.map(\.version).max()
        model.told(app, newest: newest, isRecordable: !isDiskFailing) { version in
            let verdict = told.verdict(on: version, minimum: minimum)
            // Apple does not report a halt: the version is not offered.
            return verdict == .halted && !isAndroid ? .closed : verdict
        }
        model.offersWayOut(app) { told.verdict(on: $0 + 1, minimum: minimum) == .open }
    }

    func actOnStore(_ kind: OperationKind, _ app: Int, _ number: Int) -> String? {
        let now = clock.rightTime.milliseconds
        let wanted = model.required(app)?.version ?? 2
        switch kind {
        case .publish:
            let version = number % 4 == 0 ? wanted + 1 : wanted
            guard !isBlocked(app, version) else { return nil }
            let isForSome = settings.setup["country", app] == 1 && settings.isAndroid(app) && number % 3 == 0
            stores[app].publish(version, percent: 100, inSomeCountries: isForSome, at: now)
            return
                "the store of app \(app) offers \(World.text(version: version)) to everybody\(isForSome ? " in two countries" : "")"
        case .rollOut:
            // Apple does not take back a version that every user is offered, and the relay takes an answer to that effect for a fault.
            guard settings.isAndroid(app) || stores[app].verdict(on: wanted, minimum: 100) != .open else { return nil }
            guard !isBlocked(app, wanted) else { return nil }
            stores[app].publish(wanted, percent: 5 + number % 60, at: now)
            return "the store of app \(app) rolls \(World.text(version: wanted)) out to \(5 + number % 60) %"
        case .haltRollout, .goOnRollout:
            guard !stores[app].releases.isEmpty else { return nil }
            let release = stores[app].releases[number % stores[app].releases.count]
            // Apple does not take back a version that every user is offered.
            guard settings.isAndroid(app) || release.percent < 100 else { return nil }
            stores[app].halt(release.version, kind == .haltRollout)
            return
                "the rollout of \(World.text(version: release.version)) of app \(app) \(kind == .haltRollout ? "is halted" : "goes on")"
        case .sourceFails, .sourceAnswers:
            stores[app].answers = kind == .sourceAnswers
            model.offered[app].surely = 0
            return "the store of app \(app) \(kind == .sourceAnswers ? "answers" : "does not answer any more")"
        case .launchGate:
            guard settings.watchesFile(app) else { return nil }
            let highest = model.announcements.filter { $0.app == app }.map(\.version).max() ?? 2
            let version = slip(max(wanted, highest) + number % 2, number)
            guard !isBlocked(app, version) else { return nil }
            if let before = files[app], before != version, let place = model.newest(app, before) {
                model.announcements[place].isOverwritten = true
            }
            edit(file: app, version)
            // An edit of the file asks for the version.
            if model.required(app).map({ $0.version < version }) ?? true,
                !model.announcements.contains(where: { $0.app == app && $0.version == version })
            {
                asked(app, version, canary: inheritedCanary(app), isOutside: true, isOfFile: true)
            }
            return "the LaunchGate file of app \(app) requires \(World.text(version: version))"
        default: return nil
        }
    }

    // MARK: The configuration

    func actOnConfiguration(_ kind: OperationKind, _ app: Int, _ number: Int) throws -> String? {
        var new = settings
        var text = "the configuration is read again"
        switch kind {
        case .reload:
            if number % 2 == 0 {
                new.pace[app] = [0, 5, 100][number / 2 % 3]
                text += ", with a pace of \(new.pace[app]) for app \(app)"
                if number % 4 == 0, SimulatedHours(new.setup["hours", app]) != nil {
                    new.hasHours[app].toggle()
                    text += new.hasHours[app] ? " and its hours again" : " and without its hours"
                }
            }
        case .removeApp, .addApp:
            guard new.hasApp[app] != (kind == .addApp) else { return nil }
            new.hasApp[app] = kind == .addApp
            text += kind == .addApp ? ", with app \(app) again" : ", without app \(app)"
        case .removeSource, .addSource:
            guard new.hasSources[app] != (kind == .addSource) else { return nil }
            new.hasSources[app] = kind == .addSource
            text +=
                kind == .addSource ? ", with the sources of app \(app) again" : ", without the sources of app \(app)"
        default: return nil
        }
        try relay?.reload(new)
        settings = new
        quietSince = tick
        for index in model.announcements.indices
        where model.announcements[index].isGated && model.announcements[index].withdrawnAt == nil
            && !model.announcements[index].isUnnoticed
        {
            let owner = model.announcements[index].app
            model.announcements[index].lostItsGate = !settings.isGated(owner) || !settings.hasApp[owner]
        }
        // A version that another program wrote waits for its store if that is configured when the relay looks at it. For a version that a
        // newer one stood above, and in the middle of the turn in which the relay looks, it cannot be seen from outside when that was.
        for index in model.announcements.indices
        where model.announcements[index].isUnnoticed {
            let isGated = settings.isGated(model.announcements[index].app)
            let isHidden = model.announcements.contains {
                $0.app == model.announcements[index].app && $0.version > model.announcements[index].version
            }
            if isHidden || turnDepth > 0, isGated, !model.announcements[index].isGated {
                model.announcements[index].isUnclear = true
            }
            model.announcements[index].isGated = isGated
        }
        for app in settings.apps {
            if !settings.hasSources[app] || !settings.hasApp[app] {
                model.offered[app].surely = 0
                model.forgetHalts(of: app)
                (kept[app].isSure, kept[app].shown) = (false, nil)
                isToldSure[app] = false
            }
            model.routeGoneAt[app] = settings.hasApp[app] ? nil : model.routeGoneAt[app] ?? milliseconds
        }
        return text
    }

    // MARK: The records

    func actOnRecords(_ kind: OperationKind, _ first: Int, _ second: Int) throws -> String? {
        guard let relay else { return nil }
        switch kind {
        case .prune:
            let keep = [Duration.seconds(3600), .seconds(6 * 3600), .seconds(2 * 86_400)][first % 3]
            // A device may be gone before the operations in the middle, and one that they remove may be gone after them.
            model.registry.prunes()
            inTurn {
                let level = silence
                silence = 0
                relay.prune(keep: keep)
                silence = level
            }
            pushes.wasPruned = true
            model.registry.prunes()
            model.calledDead.formUnion(pushes.calledDead)
            let emptied = try relay.store.inspect(
                "SELECT id FROM campaign WHERE pruned_at IS NOT NULL AND finished_at IS NULL")
            if !emptied.isEmpty {
                model.broke(
                    "store.pruned", "\(emptied.count) campaigns are open, and their devices are taken by the pruning")
            }
            return "the store is pruned of what is older than \(keep)"
        case .backUp:
            guard storage.makesBackups else { return nil }
            let copy = try relay.store.snapshot { _ in true }
            guard try copy.read(atMost: 16) == Array("SQLite format 3\0".utf8) else {
                model.broke("store.check", "the backup is no SQLite file")
                return nil
            }
            return "a backup is made"
        case .deleteRows:
            // Half of the deletions hit a device with a push on its way, where there is one.
            let busy = phones.filter { relay.lane.isInFlight(app: $0.app, token($0)) }
            let choice = busy.isEmpty || second % 2 == 0 ? phones : busy
            guard !choice.isEmpty else { return nil }
            let phone = choice[first % choice.count]
            guard let device = try relay.store.device(settings.key(phone.app), token: token(phone)) else { return nil }
            try otherProgram?.deleteDevice(device.id)
            rowsWereDeleted = true
            happens(.deleted, to: phone.app, token(phone))
            pushes.deletedRows.insert(device.id)
            model.forget(device: device.id)
            // Registered again it is another device, which has none of the former results.
            for id in model.campaigns.keys { model.campaigns[id]?.settled[token(phone)] = nil }
            for place in model.blocks.indices { model.blocks[place].settled[token(phone)] = nil }
            if let version = model.device(phone.app, token(phone))?.version {
                model.deletedRows[phone.app].append(version)
            }
            model.device(phone.app, token(phone)) { ($0.isRegistered, $0.user) = (false, nil) }
            return "another program deletes the row of phone \(phone.number) of app \(phone.app)"
        default: return nil
        }
    }

    // MARK: Faults

    func actOnMachine(_ kind: OperationKind, _ first: Int, _ second: Int) -> String? {
        switch kind {
        case .weather:
            let place = PushPlace(app: first % settings.apps.count, isSandbox: first / 2 % 4 == 3)
            return set(Weather.of(second), at: place)
        case .crash:
            // Between two writes: the first of them is there, the second is not.
            isDoomed = true
            isDiskFailing = false
            storage.arm(.write, first: 1 + first % 40)
            return "the process is to die at its \(1 + first % 40). write from now"
        case .kill:
            let downFor = [Duration.zero, .zero, .seconds(30), .seconds(1200), .seconds(5 * 3600)][first % 5]
            guard silence == 1, turnDepth == 0 else { return nil }
            // The relay first notices what it has not noticed yet, so that the two lives can be compared.
            silence -= 1
            relay?.poke()
            step(.zero)
            // A relay that starts asks its stores at once and believes the clock. A running one believes it when the clock has stood for a
            // minute (`BelievedClock`) and its next look comes, which is up to ten minutes away here.
            let isClockBelieved = clockSetAt.map { tick - $0 > .seconds(700) } ?? true
            let isRested = diskFailedAt.map { tick - $0 > Relay.storeRest } ?? true
            // Nor does an empty bucket, or a push on its way, outlive the process: a wave that waits for its turn, or for a connection that
            // the campaign before it still uses, goes on at once after a start, and may be the last.
            let isSpared = settings.apps.contains { settings.setup["quota", $0] > 0 || settings.pace[$0] > 0 }
            let isHeldUp = isSpared || relay?.lane.isIdle == false
            let isStaged = told.values.contains { campaign, _ in
                !campaign.isOver
                    && (campaign.wavesBegun < campaign.waves || model.announcement(of: campaign.id)?.isStaged == true)
            }
            // A device whose row another program deletes has its turn in the batch that it was read with, and in no later one.
            let isComparable =
                !rowsWereDeleted && !isDiskFailing && isRested && !settings.hasAnySource && isClockBelieved
                && !(isHeldUp && isStaged)
            let before = answers()
            die(downFor: downFor)
            if downFor == .zero, isComparable { compare(before) }
            silence += 1
            return "(it was killed)"
        case .diskFails:
            // Not .sync: a commit whose last wait for the disk fails is there or not after a crash, and its caller knows neither.
            let kind = [StoreFaults.Kind.full, .readOnly, .write][first % 3]
            guard !isDoomed else { return nil }
            // The campaign could not be given back while the disk fails.
            giveBackCampaign()
            // A disk that failed already works again for the calls before this one: outcomes that waited are recorded, and more pushes
            // leave.
            unrecordedSince = nil
            isDiskFailing = true
            storage.arm(kind, first: 1 + second % 10)
            return "the disk fails from the \(1 + second % 10). call on: \(kind)"
        case .diskWorks:
            guard !isDoomed else { return nil }
            storage.disarm()
            isDiskFailing = false
            return "the disk works"
        case .clockBack, .clockForward:
            let time = [Duration.seconds(90), .seconds(3600), .seconds(2 * 3600), .seconds(30 * 3600)][first % 4]
            clock.error += kind == .clockBack ? .zero - time : time
            clockSetAt = tick
            model.isClockRight = false
            for place in model.announcements.indices where (model.announcements[place].requiredFrom ?? 0) > milliseconds
            {
                model.announcements[place].isUnclear = true
            }
            return "the clock is set \(kind == .clockBack ? "back" : "forward") by \(time)"
        default: return nil
        }
    }

    func set(_ weather: Weather, at place: PushPlace) -> String? {
        guard services[place]?.weather != weather else { return nil }
        services[place]?.weather = weather
        weatherSince[place] = tick
        if weather == .unreachable { relay?.lane.disconnect(place) }
        if weather == .allGone || weather == .good { pushes.madness.append(.init(place: place)) }
        return "the push service of \(place.host): \(weather.rawValue)"
    }
}
