// SPDX-License-Identifier: Apache-2.0

/// The registry, device by device, as what was said of them makes it.
struct RegistryModel {
    /// By app and token: what there may be; nil among it: no device. More than one where nobody outside can tell: a login waits for the disk,
    /// or the pruning may have taken what was left of a removed device.
    private(set) var devices: [String: [RegistryDevice?]] = [:]
    /// What was said of a device since it was compared last: fields that were named, and those of which something older was.
    private(set) var news: [String: (named: Set<RegistryField>, older: Set<RegistryField>)] = [:]
    /// Logins that the relay has in memory, by app and token.
    private(set) var logins: [String: WaitingLogin] = [:]

    /// What a phone notified at login, as the relay gathers it.
    struct WaitingLogin {
        var version: Int
        var system: Int?
        var at: Int64
        /// Whether it may have been stored already: the store was in trouble.
        var isPerhapsStored = false
    }

    /// The device of a token, where there is no doubt.
    func sure(_ key: String) -> RegistryDevice? {
        guard let states = devices[key], states.count == 1, let only = states[0], only.isThere else { return nil }
        return only
    }

    func states(_ key: String) -> [RegistryDevice?] { devices[key] ?? [nil] }

    /// Whether there may be a device with the token.
    func mayBeThere(_ key: String) -> Bool { states(key).contains { $0?.isThere == true } }

    /// Whether there may be none.
    func mayBeGone(_ key: String) -> Bool { states(key).contains { $0?.isThere != true } }

    /// A service has called the token dead: where its device is removed, nobody outside sees whether the registry has taken that.
    mutating func mayHaveDied(_ key: String) {
        let states = states(key)
        for case var device? in states where !device.isThere && device.dead == nil {
            device.diedUnseen = true
            if !states.contains(device) { devices[key, default: []].append(device) }
        }
    }

    mutating func happens(_ event: RegistryEvent, to key: String, at now: Int64) {
        var older: Set<RegistryField> = []
        var after: [RegistryDevice?] = []
        for state in states(key) {
            let new = RegistryDevice.after(event, state, at: now, older: &older)
            if !after.contains(new) { after.append(new) }
        }
        devices[key] = after
        var known = news[key] ?? ([], [])
        switch event {
        case .put: known = (Set(RegistryField.allCases), [])
        case .patch(let word): known = (known.named.union(word.named), known.older.subtracting(word.named))
        case .record(let word):
            known = (
                known.named.union(word.named.subtracting(older)), known.older.union(older.intersection(word.named))
            )
        case .login(_, let system, _):
            known.named.insert(.version)
            if system != nil { known.named.insert(.system) }
        case .removed, .deleted: known = (Set(RegistryField.allCases), [])
        }
        news[key] = known
    }

    /// A registration names the token that the phone had before: its device has the new one, which had none.
    mutating func moves(from old: String, to new: String, _ word: DeviceWord, at now: Int64) {
        let states = states(old)
        var older: Set<RegistryField> = []
        var after: [RegistryDevice?] = []
        for state in states {
            let known = state?.isThere == true ? state : nil
            // So that an answer about the old token is told from one about the new.
            let moment = known?.registered == now ? now + 1 : now
            let moved = RegistryDevice.after(.put(word), known, at: moment, older: &older)
            if !after.contains(moved) { after.append(moved) }
        }
        devices[new] = after
        devices[old] = states.contains { $0?.isThere == true } ? [nil] : states
        for key in [old, new] { news[key] = (Set(RegistryField.allCases), []) }
    }

    /// Every device of a user is removed.
    mutating func erases(_ telephone: String, at now: Int64) {
        for key in devices.keys.sorted() {
            let isUsers: (RegistryDevice?) -> Bool = { $0?.isThere == true && $0?.telephone == telephone }
            guard let states = devices[key], states.contains(where: isUsers) else { continue }
            let others = states.filter { !isUsers($0) }
            devices[key] = states.filter(isUsers)
            happens(.removed, to: key, at: now)
            devices[key]?.append(contentsOf: others)
        }
    }

    // MARK: Logins

    mutating func logsIn(_ key: String, version: Int, system: Int?, at now: Int64) {
        let before = logins[key]
        logins[key] = WaitingLogin(
            version: version, system: system ?? before?.system, at: now,
            isPerhapsStored: before?.isPerhapsStored ?? false)
    }

    /// The relay has tried to store what it has of logins.
    ///
    /// - Parameter isSure: whether the store takes everything.
    mutating func flushes(at now: Int64, isSure: Bool) {
        for (key, login) in logins.sorted(by: { $0.key < $1.key }) {
            let before = states(key)
            happens(.login(version: login.version, system: login.system, at: login.at), to: key, at: now)
            if !isSure || login.isPerhapsStored {
                for state in before where devices[key]?.contains(state) == false { devices[key]?.append(state) }
            }
            logins[key]?.isPerhapsStored = true
        }
        if isSure { logins = [:] }
    }

    /// The process has died with what it had in memory.
    mutating func forgetsLogins() { logins = [:] }

    /// What was left of a removed device, or a dead one, may be gone.
    mutating func prunes() {
        for (key, states) in devices where !states.contains(nil) {
            if states.contains(where: { $0?.isThere == false || $0?.dead != nil }) { devices[key]?.append(nil) }
        }
    }

    // MARK: Comparing

    /// A look at the registry.
    ///
    /// - Parameter row: nil: there is no such device.
    /// - Returns: what it must be in the place of that; nil: it is that.
    mutating func sees(
        _ key: String, _ row: RegistryDevice?, mayBecome: (RegistryDevice, RegistryDevice?) -> Bool
    ) -> RegistryDevice?? {
        let states = states(key)
        var matching: [RegistryDevice?] = []
        for state in states {
            if let row {
                if let state, state.isThere, state.equals(row) || mayBecome(state, row) { matching = [row] }
            } else if state?.isThere != true {
                matching.append(state)
            } else if let state, mayBecome(state, nil) {
                matching.append(nil)
            }
        }
        if matching.isEmpty {
            devices[key] = [row]
            return .some(states.first { $0?.isThere == true } ?? nil)
        }
        devices[key] = matching
        return nil
    }

    mutating func compared() { news = [:] }
}

extension RegistryDevice {
    /// Whether a row is this device.
    func equals(_ row: RegistryDevice) -> Bool {
        var own = self
        own.id = own.id ?? row.id
        if own.diedUnseen { (own.dead, own.diedUnseen) = (row.dead, false) }
        return own == row
    }
}
