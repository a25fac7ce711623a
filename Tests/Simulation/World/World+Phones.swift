// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The acts of phones and their owners.
extension World {
    /// Makes the phones that a world begins with; `registerAll` registers them.
    func populate() {
        for app in settings.apps {
            for number in 0..<settings.setup["devices"] {
                // Some have two phones, some are not logged in, some are current from the start.
                let user: Int? = number % 7 == 6 ? nil : number % 5 == 4 ? number - 1 : number
                let isSandbox = settings.setup["sandbox", app] == 1 && !settings.isAndroid(app) && number % 3 == 2
                var phone = Phone(
                    number: number, app: app, isAndroid: settings.isAndroid(app), user: user,
                    version: number % 11 == 10 ? 800 : 1 + number % 2, isSandbox: isSandbox,
                    isAstray: isAstray(number, app))
                if settings.setup["system", app] == 1 {
                    phone.system = [Phone.oldSystem, "15.2", nil][number % 3]
                }
                phones.append(phone)
                noteToken(of: phones.count - 1)
            }
        }
    }

    /// Whether a phone registers in the wrong environment: developers' builds here and there, or a release that was signed wrongly.
    private func isAstray(_ number: Int, _ app: Int) -> Bool {
        switch settings.setup["astray", app] {
        case _ where settings.isAndroid(app): false
        case 1: number % 5 == 1
        case 2: number % 5 != 1
        default: false
        }
    }

    /// The registration that an app sends at its start: `PUT` of the whole device.
    func registration(_ phone: Phone, version: Int?) throws -> DeviceRegistration {
        DeviceRegistration(
            app: settings.key(phone.app), token: token(phone), telephone: phone.user.map(Phone.telephone),
            version: try version.map { try Version(Self.text(version: $0)) },
            environment: phone.saysSandbox ? .sandbox : .production,
            osVersion: try phone.system.map { try Version($0) },
            country: phone.country)
    }

    /// Notes which phone has a token.
    func noteToken(of place: Int) {
        let phone = phones[place]
        phonesByToken["\(phone.app)/\(token(phone))"] = (place, phone.installation)
    }

    func token(_ phone: Phone) -> String { phone.token }

    /// Registers all phones of the beginning; some do not report their version.
    func registerAll() {
        guard let relay else { return }
        let devices = phones.compactMap { phone in
            try? registration(phone, version: phone.number % 6 == 5 ? nil : phone.version)
        }
        guard (try? relay.store.register(devices, at: clock.now.wall)) != nil else { return }
        for (phone, device) in zip(phones, devices) { happens(.put(Self.word(device)), to: phone.app, token(phone)) }
        for phone in phones {
            model.device(phone.app, token(phone)) { state in
                (state.isRegistered, state.user) = (true, phone.user)
                state.version = phone.number % 6 == 5 ? nil : phone.version
                state.isTooOld = phone.isTooOld
            }
        }
    }

    func put(_ place: Int) throws {
        let phone = phones[place]
        let device = try registration(phone, version: phone.version)
        try relay?.store.register([device], at: clock.now.wall)
        happens(.put(Self.word(device)), to: phone.app, token(phone))
        pushes.calledDead.remove("\(phone.app)/\(token(phone))")
        model.calledDead.remove("\(phone.app)/\(token(phone))")
        model.device(phone.app, token(phone)) {
            ($0.isRegistered, $0.user, $0.version) = (true, phone.user, phone.version)
            $0.isTooOld = phone.isTooOld
        }
    }

    func actOnPhone(_ kind: OperationKind, _ place: Int, _ number: Int) throws -> String? {
        let phone = phones[place]
        let name = "phone \(phone.number) of app \(phone.app)"
        switch kind {
        case .register:
            let isSame = number % 2 == 1
            if !phone.isInstalled {
                // A new installation of the app has a token of its own, as a rule; one that is restored may have the old one.
                if !isSame { phones[place].installation += 1 }
                phones[place].isInstalled = true
                noteToken(of: place)
            }
            try put(place)
            if !phone.isInstalled, isSame { restored["\(phone.app)/\(token(phone))"] = place }
            return "\(name) registers\(!phone.isInstalled && isSame ? " with the token that it had" : "")"
        case .login:
            guard phone.isInstalled else { return nil }
            return try login(place)
        case .logOut:
            phones[place].user = nil
            do { try put(place) } catch {
                phones[place].user = phone.user
                throw error
            }
            wasMoved = true
            return "\(name) logs out"
        case .upgrade:
            guard phone.isInstalled else { return nil }
            phones[place].version = max(phone.version, model.required(phone.app)?.version ?? 2) + number % 2
            if number % 3 == 0 {
                try put(place)
            } else {
                _ = try login(place)
            }
            return "\(name) upgrades to \(World.text(version: phones[place].version)) and says so"
        case .update:
            phones[place].version = max(phone.version, model.required(phone.app)?.version ?? 2)
            return "\(name) is updated to \(World.text(version: phones[place].version)) and does not say so"
        case .move:
            let user = (number * 3) % max(settings.setup["devices"], 1)
            phones[place].user = user
            do { try put(place) } catch {
                phones[place].user = phone.user
                throw error
            }
            wasMoved = true
            return "\(name) is user \(user)'s now"
        case .erase:
            guard let user = phone.user else { return nil }
            _ = try acting(.userErase, changes: { $0 != UserErasure() }) {
                try relay?.control.eraseUser(Phone.telephone(user), by: $0) { _ in true } ?? UserErasure()
            }
            // A canary whose users have changed begins anew: its refused pushes are in line again, and this user is gone.
            for (id, facts) in model.campaigns where model.announcements[facts.announcement].canary != nil {
                ledger.stirred.insert(id)
            }
            // Also under a token that a phone had before.
            for (name, states) in model.devices where states.last?.isRegistered == true && states.last?.user == user {
                let parts = name.split(separator: "/", maxSplits: 1)
                guard parts.count == 2, let app = Int(parts[0]) else { continue }
                model.device(app, String(parts[1])) { ($0.isRegistered, $0.user) = (false, nil) }
            }
            model.registry.erases(Phone.telephone(user), at: clock.now.wall.milliseconds)
            judgeErasure(user)
            model.erased[user] = milliseconds
            model.everErased.insert(user)
            for place in model.announcements.indices
            where model.announcements[place].canary?.remove(user) != nil {
                model.announcements[place].gone[user] = milliseconds
            }
            return "user \(user) is erased"
        case .remove:
            let isRemoved = try acting(.deviceRemove, changes: { $0 }) {
                try relay?.store.removeDevice(
                    settings.key(phone.app), token: token(phone), by: Signature(by: $0, at: clock.now.wall)) ?? false
            }
            let key = registryKey(phone.app, token(phone))
            guard isRemoved ? model.registry.mayBeThere(key) : model.registry.mayBeGone(key) else {
                model.broke("registry.field", "\(name) is \(isRemoved ? "" : "not ")removed by its token")
                return nil
            }
            guard isRemoved else { return nil }
            happens(.removed, to: phone.app, token(phone))
            model.device(phone.app, token(phone)) { ($0.isRegistered, $0.user) = (false, nil) }
            return "\(name) is removed"
        case .importFile: return try importFile(phone, name, number)
        case .uninstall:
            guard phone.isInstalled else { return nil }
            phones[place].isInstalled = false
            phones[place].goneAt = clock.rightTime.milliseconds
            return "\(name) loses the app"
        case .replace: return try replaceToken(of: place, name, number)
        case .patch: return try patch(place, number)
        case .moveOn: return try moveOn(place, number)
        case .second: return try secondPhone(of: place, name)
        default: return nil
        }
    }

    /// The app asks at login, with its token, as SEEDS S1 has it.
    func login(_ place: Int) throws -> String? {
        guard let relay else { return nil }
        let phone = phones[place]
        let version = try Version(Self.text(version: phone.version))
        let key = settings.key(phone.app)
        let system = try phone.system.map { try Version($0) }
        let user = UpgradeRule.User(phone.user.map(Phone.telephone), system: system)
        let answer = relay.cache.check(key, version: version, user: user)
        if phone.isTooOld, let told = answer?.toldAtLogin, !told.isBlock {
            model.forces(tooOld: phone.app, Self.number(of: told.version.text))
        }
        if relay.cache.isCredible(version, of: key) {
            relay.sightings.note(
                Sighting(
                    app: key, token: token(phone), version: version, system: system,
                    toldAtLogin: answer?.toldAtLogin?.id))
            model.registry.logsIn(
                registryKey(phone.app, token(phone)), version: phone.version, system: phone.system.map(Self.tenths),
                at: clock.now.wall.milliseconds)
            relay.sightings.flush()
            loginsAreFlushed()
            // A login is stored a second later at the latest, where the store can be written.
            let known = try relay.store.device(key, token: token(phone))
            if known?.registration.version == version, system.map({ known?.registration.osVersion == $0 }) ?? true {
                learn(phone.app, token(phone), phone.version)
                learnDevice(phone.app, token(phone))
            } else {
                unstoredLogins.append(
                    UnstoredLogin(app: phone.app, token: token(phone), version: phone.version, system: system))
            }
        }
        return "phone \(phone.number) of app \(phone.app) logs in with \(World.text(version: phone.version))"
            + (answer?.toldAtLogin.map { " and is told of \($0.version)" } ?? "")
    }

    private func learn(_ app: Int, _ token: String, _ version: Int) {
        guard model.device(app, token)?.isRegistered == true else { return }
        model.device(app, token) { $0.version = version }
    }

    /// Logins from a time when the store could not be written may be in it now, also where a phone has a newer version since.
    func learnLogins() {
        unstoredLogins.removeAll { login in
            let known = try? relay?.store.device(settings.key(login.app), token: login.token)
            guard known?.registration.version.map({ Self.number(of: $0.text) }) == login.version,
                login.system.map({ known?.registration.osVersion == $0 }) ?? true
            else { return false }
            learn(login.app, login.token, login.version)
            learnDevice(login.app, login.token)
            return true
        }
    }

    /// An answer about a token from before it was registered again retires no device. By a clock that was set, the relay cannot know which
    /// came first.
    func judgeRestored() {
        for (name, place) in restored.sorted(by: { $0.key < $1.key }) where !wasClockSet {
            let phone = phones[place]
            guard phone.isInstalled, name == "\(phone.app)/\(token(phone))", !pushes.calledDead.contains(name),
                model.device(phone.app, token(phone))?.isRegistered == true,
                let device = try? relay?.store.device(settings.key(phone.app), token: token(phone)),
                device.retiredAt != nil
            else { continue }
            model.broke(
                "token.wrong",
                "phone \(phone.number) of app \(phone.app) is retired by what was said before it registered")
        }
    }

    /// The back end's file of the morning has an older version than the phone itself has reported, and does not know that its token died.
    private func importFile(_ phone: Phone, _ name: String, _ number: Int) throws -> String? {
        guard let relay else { return nil }
        var batch = RegistrationBatch(app: settings.key(phone.app))
        var change = DeviceChange(token: token(phone))
        change.telephone = phone.user.map { .set(Phone.telephone($0)) } ?? .keep
        change.version = .set(try Version(Self.text(version: 1)))
        if phone.saysSandbox { change.environment = .set(.sandbox) }
        // By the file, it was registered when the world began.
        if number % 2 == 0 { change.registeredAt = clock.rightTime - .nanoseconds(Int64(tick.nanoseconds)) }
        // By the file, it was seen with that version when the world began.
        if number % 3 == 0 { change.seenAt = clock.rightTime - .nanoseconds(Int64(tick.nanoseconds)) }
        batch.append(change)
        let key = settings.key(phone.app)
        let known = try relay.store.device(key, token: token(phone))
        // A file that has it registered after its death is right to revive it: a list may have set a death before the world began.
        let wasDead = known?.retiredAt.map { died in change.registeredAt.map { $0 <= died } ?? true } ?? false
        // A device that was called dead is forgotten in time.
        let isForgotten =
            known == nil && pushes.wasPruned && pushes.calledDead.contains("\(phone.app)/\(token(phone))")
        let isKnown = model.device(phone.app, token(phone))?.isRegistered == true && !isForgotten
        // A list may have brought back an erased device with a time before its own reports: then the file has seen it later, or has it
        // registered later.
        let isSeenLater = model.registry.states(registryKey(phone.app, token(phone))).contains { device in
            guard let device, let seen = (change.seenAt ?? change.registeredAt)?.milliseconds else { return false }
            return max(device.registered, device.seen ?? device.registered) < seen
        }
        _ = try relay.store.register(batch, at: clock.now.wall, isDryRun: false) { _ in }
        happens(.record(Self.word(change)), to: phone.app, token(phone))
        if wasDead, !wasClockSet, try relay.store.device(key, token: token(phone))?.retiredAt == nil {
            model.broke("token.revived", "\(name) was dead and is alive again because of an older file")
        }
        // The device's own reports stay. A device that was unknown is as the file has it.
        model.disputed.insert("\(phone.app)/\(token(phone))")
        model.device(phone.app, token(phone)) { state in
            if isKnown {
                state.user = phone.user ?? state.user
                if isSeenLater { state.version = 1 }
            } else {
                (state.isRegistered, state.user, state.version) = (true, phone.user, 1)
                state.isTooOld = false
            }
        }
        return "a file says of \(name) that it has 1.1.0"
    }
}
