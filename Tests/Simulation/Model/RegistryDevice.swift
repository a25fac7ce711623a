// SPDX-License-Identifier: Apache-2.0

/// A field of a device.
enum RegistryField: String, CaseIterable {
    case telephone, version, system, country, environment
}

/// An input's value for one field of a device.
enum FieldWord<Value: Hashable>: Hashable {
    /// The field is left out.
    case nothing
    /// nil: the field is named and empty.
    case says(Value?)

    /// The device's value after the input, where it was `before`.
    func over(_ before: Value?) -> Value? {
        switch self {
        case .nothing: before
        case .says(let value): value
        }
    }

    var isNothing: Bool { self == .nothing }
}

/// An input for a device. Versions are `World.number(of:)`, systems are tenths ("15.2" is 152), times are milliseconds of the
/// relay's wall clock.
struct DeviceWord: Hashable {
    var telephone = FieldWord<String>.nothing
    var version = FieldWord<Int>.nothing
    var system = FieldWord<Int>.nothing
    var country = FieldWord<String>.nothing
    var isSandbox = FieldWord<Bool>.nothing
    /// From a file only: when the token was registered, when it died, when the version was seen; nil: not in the file.
    var (registeredAt, deadSince, seenAt): (Int64?, Int64?, Int64?)

    var named: Set<RegistryField> {
        var named: Set<RegistryField> = []
        if !telephone.isNothing { named.insert(.telephone) }
        if !version.isNothing { named.insert(.version) }
        if !system.isNothing { named.insert(.system) }
        if !country.isNothing { named.insert(.country) }
        if !isSandbox.isNothing { named.insert(.environment) }
        return named
    }
}

enum RegistryEvent: Hashable {
    /// Its app registers it: omitted fields are cleared.
    case put(DeviceWord)
    /// Omitted fields stay.
    case patch(DeviceWord)
    /// A line of a file.
    case record(DeviceWord)
    /// Its app has asked at login, at that time.
    case login(version: Int, system: Int?, at: Int64)
    /// It was removed, or its user erased.
    case removed
    /// Another program, or the pruning, has deleted its row.
    case deleted
}

/// A device as the registry must have it.
struct RegistryDevice: Hashable {
    /// nil: not seen yet.
    var id: Int64?
    /// false: it is removed, and this is what is left of it.
    var isThere = true
    var telephone: String?
    var version: Int?
    var system: Int?
    var country: String?
    var isSandbox = false
    var registered: Int64
    var dead: Int64?
    var seen: Int64?
    /// Whether its token died while the device was removed. The registry keeps such a state, but shows neither the device nor the
    /// death.
    var diedUnseen = false

    init(registered: Int64) { self.registered = registered }

    /// When its version was last reported, from any source.
    var told: Int64 { max(registered, seen ?? registered) }

    /// A login with nothing new is stored only if the version was last reported at least a week ago.
    private static let seenEvery: Int64 = 7 * 86_400_000

    /// The device after an event.
    ///
    /// - Parameters:
    ///   - device: nil: no device has the token.
    ///   - older: gets the fields for which a file has something older than the known value.
    static func after(
        _ event: RegistryEvent, _ device: RegistryDevice?, at now: Int64, older: inout Set<RegistryField>
    ) -> RegistryDevice? {
        switch event {
        case .deleted: return nil
        case .removed:
            guard var device, device.isThere else { return device }
            device.isThere = false
            // The next user with the token may have another phone (conformance, "the system of a device").
            (device.telephone, device.system, device.country) = (nil, nil, nil)
            return device
        case .put(let word):
            var new = device ?? RegistryDevice(registered: now)
            (new.isThere, new.registered, new.dead, new.diedUnseen) = (true, now, nil, false)
            (new.telephone, new.version) = (word.telephone.over(nil), word.version.over(nil))
            (new.system, new.country) = (word.system.over(nil), word.country.over(nil))
            new.isSandbox = word.isSandbox.over(nil) ?? false
            return new
        case .patch(let word):
            guard var device, device.isThere else { return device }
            (device.registered, device.dead, device.diedUnseen) = (now, nil, false)
            device.take(word, without: [])
            return device
        case .record(let word): return record(word, device, at: now, older: &older)
        case .login(let version, let system, let at):
            guard var device, device.isThere else { return device }
            device.login(version, system, at: min(at, now))
            return device
        }
    }

    private mutating func take(_ word: DeviceWord, without older: Set<RegistryField>) {
        telephone = word.telephone.over(telephone)
        if !older.contains(.version) { version = word.version.over(version) }
        if !older.contains(.system) { system = word.system.over(system) }
        if !older.contains(.country) { country = word.country.over(country) }
        isSandbox = word.isSandbox.over(isSandbox) ?? false
    }

    /// A device's own report counts unless the device has reported something newer since.
    private mutating func login(_ version: Int, _ system: Int?, at: Int64) {
        if at <= told, let known = self.version, version < known { return }
        let isSystemOlder = at <= told && (system ?? 0) < self.system ?? 0
        let newSystem = isSystemOlder ? self.system : system ?? self.system
        if version != self.version || newSystem != self.system || at - told >= Self.seenEvery { seen = at }
        (self.version, self.system) = (version, newSystem)
    }

    /// A line of a file. Omitted fields stay, and fields that are older than the device's own report are skipped.
    private static func record(
        _ word: DeviceWord, _ device: RegistryDevice?, at now: Int64, older: inout Set<RegistryField>
    ) -> RegistryDevice? {
        let death = word.deadSince.map { min($0, now) }
        let seen = word.version.isNothing ? nil : word.seenAt.map { min($0, now) }
        let isThere = device?.isThere ?? false
        var new: RegistryDevice
        if let device, isThere || device.dead != nil || device.diedUnseen {
            new = device
            new.registered = max(device.registered, min(word.registeredAt ?? device.registered, now))
        } else {
            new = device ?? RegistryDevice(registered: now)
            new.registered = min(word.registeredAt ?? death ?? word.seenAt ?? now, now)
            (new.dead, new.seen) = (nil, nil)
        }
        if let dead = new.dead, new.registered > dead { new.dead = nil }
        if new.dead == nil, !new.diedUnseen, let death, death >= new.registered { new.dead = death }
        new.isThere = true
        let left = if isThere, let device { new.olderFields(of: word, device) } else { Set<RegistryField>() }
        older.formUnion(left)
        new.take(word, without: left)
        if !left.contains(.version) { new.seen = [new.seen, seen].compactMap { $0 }.max() }
        return new
    }

    /// The fields of a file that are older than the device's own report: by the time at which it was seen, if the file has that,
    /// and else by the numbers, because neither an app nor a system goes back without a new registration. The file's system and
    /// country are as old as its version, and override no known value.
    private func olderFields(of word: DeviceWord, _ before: RegistryDevice) -> Set<RegistryField> {
        func isBelow(_ new: FieldWord<Int>, _ old: Int?) -> Bool {
            if case .says(let new?) = new, let old { new < old } else { false }
        }
        let said = word.seenAt ?? registered
        guard said <= before.told else { return [] }
        var older: Set<RegistryField> = []
        if word.seenAt != nil && said < before.told || isBelow(word.version, before.version) {
            if word.version.over(before.version) != before.version { older.insert(.version) }
            if before.system != nil { older.insert(.system) }
            if before.country != nil { older.insert(.country) }
        } else if isBelow(word.system, before.system) {
            older.insert(.system)
        }
        return older
    }

    /// The differences from an actual row.
    func differences(from row: RegistryDevice) -> [(field: RegistryField?, text: String)] {
        func text<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "none" }
        var all: [(RegistryField?, String)] = []
        func compare<Value: Equatable>(_ field: RegistryField?, _ name: String, _ path: KeyPath<RegistryDevice, Value?>)
        {
            if self[keyPath: path] != row[keyPath: path] {
                all.append((field, "\(name) \(text(row[keyPath: path])) in the place of \(text(self[keyPath: path]))"))
            }
        }
        compare(.telephone, "telephone", \.telephone)
        compare(.version, "version", \.version)
        compare(.system, "system", \.system)
        compare(.country, "country", \.country)
        if isSandbox != row.isSandbox { all.append((.environment, "sandbox \(row.isSandbox)")) }
        compare(nil, "registered at", \.registeredTime)
        compare(nil, "dead since", \.dead)
        compare(nil, "seen at", \.seen)
        if id != nil { compare(nil, "id", \.id) }
        return all
    }

    private var registeredTime: Int64? { registered }
}
