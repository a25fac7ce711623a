// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import TestStores
import UpgradeRules

/// The registry, compared with what was reported of each device.
extension World {
    func registryKey(_ app: Int, _ token: String) -> String { "\(app)/\(token)" }

    private var wallTime: Int64 { clock.now.wall.milliseconds }

    /// The relay has taken a report about a device.
    func happens(_ event: RegistryEvent, to app: Int, _ token: String) {
        let key = registryKey(app, token)
        if case .record = event, pushes.calledDead.contains(key) { model.registry.mayHaveDied(key) }
        model.registry.happens(event, to: key, at: wallTime)
    }

    /// The fields of a whole registration.
    static func word(_ device: DeviceRegistration) -> DeviceWord {
        var word = DeviceWord()
        word.telephone = .says(device.telephone)
        word.version = .says(device.version.map { number(of: $0.text) })
        word.system = .says(device.osVersion.map { tenths(of: $0.text) })
        word.country = .says(device.country)
        word.isSandbox = .says(device.environment == .sandbox)
        return word
    }

    /// The fields of a file's line.
    static func word(_ change: DeviceChange) -> DeviceWord {
        func word<Value, Number>(_ change: FieldChange<Value>, _ number: (Value) -> Number) -> FieldWord<Number> {
            switch change {
            case .keep: .nothing
            case .set(let value): .says(value.map(number))
            }
        }
        var all = DeviceWord()
        all.telephone = word(change.telephone) { $0 }
        all.version = word(change.version) { number(of: $0.text) }
        all.system = word(change.osVersion) { tenths(of: $0.text) }
        all.country = word(change.country) { $0 }
        all.isSandbox = word(change.environment) { $0 == .sandbox }
        (all.registeredAt, all.deadSince) = (change.registeredAt?.milliseconds, change.deadSince?.milliseconds)
        all.seenAt = change.seenAt?.milliseconds
        return all
    }

    /// A system's version in tenths.
    static func tenths(of system: String) -> Int {
        let parts = system.split(separator: ".").map { Int($0) ?? 0 }
        return (parts.first ?? 0) * 10 + (parts.count > 1 ? parts[1] : 0)
    }

    /// The relay has just tried to store the logins that it had gathered.
    func loginsAreFlushed() {
        model.registry.flushes(at: wallTime, isSure: !isDiskFailing && !isDoomed && !isBack)
    }

    /// Updates the rest of the model from what the registry has of a device.
    func learnDevice(_ app: Int, _ token: String) {
        let key = registryKey(app, token)
        // Only a look shows which of several states it is.
        if model.registry.states(key).count > 1, let row = try? relay?.store.device(settings.key(app), token: token) {
            judge(key, app, Self.device(row))
        }
        let states = model.registry.states(key)
        guard states.count == 1 else { return }
        let device = states[0].flatMap { $0.isThere ? $0 : nil }
        let user = device?.telephone.flatMap(Phone.user)
        let isTooOld = device?.system == Self.tenths(of: Phone.oldSystem)
        let known = model.device(app, token)
        guard
            known?.isRegistered ?? false != (device != nil) || known?.user != user || known?.version != device?.version
                || known?.isTooOld ?? false != isTooOld
        else { return }
        if known?.user != user { wasMoved = true }
        model.device(app, token) {
            ($0.isRegistered, $0.user, $0.version) = (device != nil, user, device?.version)
            $0.isTooOld = isTooOld
        }
    }

    // MARK: Looking

    /// A number that differs after any write to what the registry is read from, by any program.
    var registryMark: Int64 { storage.registryChanges ?? Int64(change) }

    /// Once after each step in which anything was written. The rows are read where a row, or a count of rows, may have changed.
    func judgeRegistry() {
        guard let relay, change != registryChange else { return }
        let isRead = registryMark != registryRead
        guard let rows = isRead ? undisturbed({ rows(relay) }) : registryRows else { return }
        registryChange = change
        let isSame = !isRead || rows == registryRows
        let before = registryRows
        registryRows = rows
        if !isSame || !model.registry.news.isEmpty {
            compare(rows)
            judgeFinding(rows, before, relay)
        }
        model.registry.compared()
        guard isRead else { return }
        // Counts that could not be read are judged the next time.
        let mark = registryMark
        registryRead = undisturbed { judgeCounts(rows, relay, isSame: isSame) } ? mark : nil
    }

    /// nil: the registry cannot be read just now.
    private func rows(_ relay: Relay) -> [DeviceRecord]? { try? relay.store.devices(of: nil, after: 0, limit: 10_000) }

    private func compare(_ rows: [DeviceRecord]) {
        var unseen = Set(model.registry.devices.keys)
        for row in rows {
            guard let app = settings.apps.first(where: { settings.key($0) == row.registration.app }) else {
                model.broke("registry.unasked", "device \(row.id) is of an app that is none")
                continue
            }
            let key = registryKey(app, row.registration.token)
            unseen.remove(key)
            judge(key, app, Self.device(row))
        }
        for key in unseen.sorted() { judge(key, Int(String(key.prefix(1))) ?? 0, nil) }
    }

    private func judge(_ key: String, _ app: Int, _ row: RegistryDevice?) {
        let news = model.registry.news[key]
        guard
            let wanted = model.registry.sees(key, row, mayBecome: { [self] in mayBecome(key, app, $0, $1) })
        else { return }
        guard let wanted else {
            return model.broke(
                news == nil ? "registry.unasked" : "registry.field",
                "\(key) is in the registry, and nobody registered it")
        }
        guard let row else {
            return model.broke(
                news == nil ? "registry.unasked" : "registry.field", "\(key) is registered, and is not in the registry")
        }
        let differences = wanted.differences(from: row)
        let text = "\(key) has \(differences.map(\.text).joined(separator: ", "))"
        guard let news else { return model.broke("registry.unasked", "\(text), and nobody has said anything of it") }
        let fields = differences.compactMap(\.field)
        if fields.isEmpty {
            model.broke("registry.life", text)
        } else if fields.contains(where: news.older.contains) {
            model.broke("registry.older", text)
        } else if fields.contains(where: { !news.named.contains($0) }) {
            model.broke("registry.leftOut", text)
        } else {
            model.broke("registry.field", text)
        }
    }

    private static func device(_ row: DeviceRecord) -> RegistryDevice {
        var device = RegistryDevice(registered: row.registeredAt.milliseconds)
        device.id = row.id
        (device.telephone, device.country) = (row.registration.telephone, row.registration.country)
        device.version = row.registration.version.map { number(of: $0.text) }
        device.system = row.registration.osVersion.map { tenths(of: $0.text) }
        device.isSandbox = row.registration.environment == .sandbox
        (device.dead, device.seen) = (row.retiredAt?.milliseconds, row.seenAt?.milliseconds)
        return device
    }

    /// Whether the relay may have made this change to a device by itself: a token dies by its service's answer, a device in the wrong
    /// environment is moved to the other, and dead devices are forgotten in time.
    ///
    /// - Parameter row: nil: it is gone.
    private func mayBecome(_ key: String, _ app: Int, _ device: RegistryDevice, _ row: RegistryDevice?) -> Bool {
        let mayDie = device.dead == nil && pushes.calledDead.contains(key)
        guard let row else { return pushes.wasPruned && (device.dead != nil || mayDie) }
        var after = device
        if mayDie, let dead = row.dead, dead >= row.registered { after.dead = dead }
        if settings.setup["other", app] == 1, !settings.isAndroid(app) { after.isSandbox = row.isSandbox }
        return after.equals(row)
    }

    // MARK: Finding devices

    /// An erased user's number is in no row of the store.
    func judgeErasure(_ user: Int) {
        guard !rowsWereDeleted, let relay else { return }
        // The list of a user's deliveries would not do: it only covers devices that are known to be the user's.
        do {
            let places = Set(
                try relay.store.inspect(storage.places(of: Phone.telephone(user), relay.store)).map { $0[0] })
            if !places.isEmpty {
                model.broke(
                    "registry.erased", "user \(user) was erased and is in \(places.sorted().joined(separator: ", "))")
            }
        } catch {
            guard !isDiskFailing, !isDoomed else { return }
            model.broke("store.check", "the store cannot be searched: \(plain(error))")
        }
    }

    /// A device is found by its token and by its user as it is listed, and a dead one is in the list of the dead. By token and user only
    /// devices that have changed are looked for.
    private func judgeFinding(_ rows: [DeviceRecord], _ before: [DeviceRecord], _ relay: Relay) {
        let old = Set(before)
        for row in rows where !old.contains(row) {
            let (app, token) = (row.registration.app, row.registration.token)
            guard let found = try? relay.store.device(app, token: token) else { continue }
            if found != row {
                model.broke(
                    "registry.found", "device \(row.id) is listed as \(row), and found by its token as \(found)")
            }
            guard let telephone = row.registration.telephone,
                let users = try? relay.store.devices(telephone: telephone, token: nil, after: 0, limit: 10_000)
            else { continue }
            let listed = rows.filter { $0.registration.telephone == telephone }
            if users != listed {
                model.broke(
                    "registry.found",
                    "of \(telephone) the devices \(listed.map(\.id)) are listed, and \(users.map(\.id)) found")
            }
        }
        for app in settings.apps {
            let key = settings.key(app)
            guard let dead = try? relay.store.deadDevices(of: key, after: DeadPlace(order: 0), limit: 10_000) else {
                return
            }
            let (known, listed) = (
                rows.filter { $0.registration.app == key && $0.retiredAt != nil }.map(\.id), dead.map(\.record.id)
            )
            if known != listed.sorted() {
                model.broke(
                    "registry.dead",
                    "of app \(app) the devices \(known) are dead, and the list of them has \(listed.sorted())")
            }
        }
    }

    /// The reported numbers of devices, by version and by app, are right. Not judged once another program has deleted rows, which are not
    /// counted anew.
    ///
    /// - Returns: whether all of it could be read.
    private func judgeCounts(_ rows: [DeviceRecord], _ relay: Relay, isSame: Bool) -> Bool {
        guard !rowsWereDeleted else { return true }
        var isWhole = true
        let census = isSame ? nil : try? relay.store.census()
        for app in settings.apps {
            let key = settings.key(app)
            let own = rows.lazy.map(\.registration).filter { $0.app == key }
            guard let seen = try? relay.store.seenVersions(of: key) else {
                isWhole = false
                continue
            }
            var counted: [String: Int64] = [:]
            for device in own { counted[device.version?.text ?? "", default: 0] += 1 }
            var told = Dictionary(seen.versions.map { ($0.version.text, $0.devices) }) { $0 + $1 }
            if seen.unknown != 0 { told[""] = seen.unknown }
            if told != counted {
                model.broke(
                    "registry.counts",
                    "app \(app) has \(shown(counted)) devices by version, and is said to have \(shown(told))")
            }
            guard !isSame else { continue }
            if let census, census.devices[key] ?? 0 != Int64(own.count) {
                model.broke(
                    "registry.counts",
                    "app \(app) has \(own.count) devices, and is said to have \(census.devices[key] ?? 0)")
            }
            let systems = Set(own.compactMap(\.osVersion?.text))
            if Set(seen.systems.map(\.text)) != systems {
                model.broke(
                    "registry.places",
                    "app \(app) has the systems \(systems.sorted()), and is said to have \(seen.systems)")
            }
            guard let countries = try? relay.store.seenCountries(of: key) else {
                isWhole = false
                continue
            }
            if countries.known != Set(own.compactMap(\.country))
                || countries.hasUnknown != own.contains(where: { $0.country == nil })
            {
                model.broke("registry.places", "app \(app) has devices elsewhere than \(countries)")
            }
        }
        return isWhole && (isSame || census != nil)
    }

    private func shown(_ counts: [String: Int64]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key.isEmpty ? "none" : $0.key)" }.joined(
            separator: ", ")
    }

    /// Once, at the end: the numbers of devices by version at the last count, if that was just now.
    func judgeShares(_ relay: Relay) {
        for app in settings.apps where !rowsWereDeleted {
            let now = clock.now.wall
            guard (try? relay.store.followVersions(of: settings.key(app), by: RetirementRules(), at: now)) == true,
                let shares = try? relay.store.versionShares(of: settings.key(app)), shares.countedAt == now
            else { continue }
            var counted: [String: Int64] = [:]
            for row in registryRows
            where row.registration.app == settings.key(app) && row.retiredAt == nil
                && [row.registeredAt, row.seenAt].contains(where: { $0.map { $0 >= shares.seenSince } ?? false })
            {
                counted[row.registration.version?.text ?? "", default: 0] += 1
            }
            var told = Dictionary(shares.rows.map { ($0.version.text, $0.devices) }) { $0 + $1 }
            if shares.unknown > 0 { told[""] = shares.unknown }
            told = told.filter { $0.value > 0 }
            if told != counted {
                model.broke(
                    "registry.counts",
                    "app \(app) has \(shown(counted)) living devices by version, and counts \(shown(told))")
            }
            let kept = (try? relay.store.versionCounts(of: settings.key(app))) ?? []
            if let count = VersionCount(shares),
                kept.last?.isSame(as: count) != true || kept.contains(where: { $0.at > now })
            {
                model.broke("registry.counts", "app \(app) counts \(count), and kept \(kept)")
            }
        }
    }
}
