// SPDX-License-Identifier: Apache-2.0
import Terminal

/// Walks one object of a configuration: each key is read once, with its type and its default; what is wrong is noted with
/// its path and reading goes on, so that all faults are found at once. What was never read is an unknown key.
///
/// `null` counts as absent, so that a sample can show a key without setting it.
final class ConfigurationReader {
    /// What was found in the whole document, in the order of reading.
    final class Faults {
        var list: [ConfigurationFault] = []
        /// Every key that was asked for, whether it stands there or not.
        var keys: [ConfigurationKey] = []
    }

    let path: String
    private let members: [String: JSONTree]
    private let faults: Faults
    /// For readers of parts that this one does not know by a key.
    var sharedFaults: Faults { faults }
    private var known: Set<String> = []

    init(_ members: [String: JSONTree], path: String = "", faults: Faults) {
        self.members = members
        self.path = path
        self.faults = faults
    }

    // MARK: Paths and faults

    func path(of key: String) -> String {
        path.isEmpty ? key : "\(path).\(key)"
    }

    /// The path of a member whose name is the owner's: `apps["com.example.app"]`.
    private func path(named key: String) -> String {
        "\(path)[\"\(DisplayWidth.sanitised(key))\"]"
    }

    func fault(_ key: String, _ problem: String) {
        faults.list.append(ConfigurationFault(path(of: key), problem))
    }

    /// Notes every key that nobody asked for. Call last.
    func finish() {
        for key in members.keys.sorted() where !known.contains(key) {
            let nearest = Suggestion.nearest(to: key, among: known.sorted()).map { "; did you mean \($0)?" }
            let list = known.sorted().joined(separator: ", ")
            fault(DisplayWidth.sanitised(key), "unknown key\(nearest ?? "; known here: \(list)")")
        }
    }

    /// Notes a key with what it may hold: what the manual and the sample are held to.
    private func note(_ key: String, _ values: ConfigurationKey.Values) {
        note(at: path(of: key), values)
    }

    func note(at path: String, _ values: ConfigurationKey.Values) {
        faults.keys.append(ConfigurationKey(path, values))
    }

    // MARK: Values

    /// The value as it stands; nil where it is absent or null.
    func raw(_ key: String) -> JSONTree? {
        known.insert(key)
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    /// Whether the owner wrote `null`, which is an answer where leaving it out may be an oversight.
    func isNull(_ key: String) -> Bool {
        known.insert(key)
        return members[key]?.isNull == true
    }

    /// nil after a fault, and where the key is absent and has no default.
    func string(_ key: String, default fallback: String? = nil, check: (String) -> String? = { _ in nil }) -> String? {
        note(key, .text(default: fallback))
        return given(key, check: check) { fallback }
    }

    private func given(_ key: String, check: (String) -> String?, else fallback: () -> String?) -> String? {
        guard let value = raw(key) else { return fallback() }
        guard case .string(let text) = value else {
            fault(key, "\(value.held) is not text")
            return nil
        }
        if let problem = check(text) {
            fault(key, "\(value.held) \(problem)")
            return nil
        }
        return text
    }

    /// A text that only the owner can know. "" after a fault.
    func requiredString(_ key: String, _ what: String, check: (String) -> String? = { _ in nil }) -> String {
        note(key, .requiredText)
        return given(key, check: check) {
            fault(key, "missing; \(what)")
            return nil
        } ?? ""
    }

    func flag(_ key: String, default value: Bool) -> Bool {
        note(key, .flag(default: value))
        guard let held = raw(key) else { return value }
        if case .bool(let flag) = held { return flag }
        fault(key, "\(held.held) is not true or false")
        return value
    }

    func integer(_ key: String, default value: Int, in range: ClosedRange<Int>, _ what: String) -> Int {
        note(key, .integer(range, default: value))
        return number(key, in: range, what) ?? value
    }

    /// nil where it is absent, and after a fault.
    func optionalInteger(_ key: String, in range: ClosedRange<Int>, _ what: String) -> Int? {
        note(key, .integer(range, default: nil))
        return number(key, in: range, what)
    }

    private func number(_ key: String, in range: ClosedRange<Int>, _ what: String) -> Int? {
        guard let held = raw(key) else { return nil }
        guard let number = held.integer, let exact = Int(exactly: number), range.contains(exact) else {
            fault(key, "\(held.held) is not \(what); a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return exact
    }

    /// nil where it is absent, and after a fault.
    ///
    /// - Parameter usual: what holds where it is absent, for the manual.
    func number(_ key: String, usual: String? = nil, in range: ClosedRange<Double>, _ what: String) -> Double? {
        note(key, .number(range, default: usual))
        guard let held = raw(key) else { return nil }
        guard let number = held.number, range.contains(number) else {
            let limits = [range.lowerBound, range.upperBound].map(ConfigurationKey.text)
            fault(key, "\(held.held) is not \(what); a number from \(limits[0]) to \(limits[1])")
            return nil
        }
        return number
    }

    func duration(_ key: String, default text: String, in range: ClosedRange<Duration>) -> Duration {
        note(key, .duration(range, default: text))
        return span(key, in: range) ?? DurationText.parse(text) ?? .zero
    }

    /// nil where it is absent, and after a fault.
    func optionalDuration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        note(key, .duration(range, default: nil))
        return span(key, in: range)
    }

    private func span(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        guard let held = raw(key) else { return nil }
        guard case .string(let given) = held, let duration = DurationText.parse(given) else {
            fault(key, "\(held.held) is not a duration; write it like \"7d\", \"12h\", \"30m\" or \"45s\"")
            return nil
        }
        guard range.contains(duration) else {
            let limits = "\(DurationText.exact(range.lowerBound)) to \(DurationText.exact(range.upperBound))"
            fault(key, "\(held.held) is out of range; from \(limits)")
            return nil
        }
        return duration
    }

    /// One of a few words.
    func choice<Value: Equatable>(
        _ key: String, default value: Value, among choices: [(String, Value)], _ what: String
    ) -> Value {
        let usual = choices.first { $0.1 == value }.map { "\"\($0.0)\"" }
        note(key, .choice(choices.map { "\"\($0.0)\"" }, default: usual))
        guard let held = raw(key) else { return value }
        if case .string(let text) = held, let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        fault(key, "\(held.held) is not \(what); \(Self.alternatives(choices.map { "\"\($0.0)\"" }))")
        return value
    }

    /// One of a few numbers.
    func choice(_ key: String, default value: Int, among choices: [Int], _ what: String) -> Int {
        note(key, .choice(choices.map(String.init), default: String(value)))
        guard let held = raw(key) else { return value }
        if let number = held.integer, let choice = choices.first(where: { Int64($0) == number }) { return choice }
        fault(key, "\(held.held) is not \(what); \(Self.alternatives(choices.map(String.init)))")
        return value
    }

    func list(_ key: String) -> [(value: JSONTree, path: String)] {
        note(key, .list)
        guard let value = raw(key) else { return [] }
        guard case .array(let elements) = value else {
            fault(key, "\(value.held) is not a list")
            return []
        }
        return elements.enumerated().map { ($0.element, "\(path(of: key))[\($0.offset)]") }
    }

    // MARK: Objects

    /// A reader of the object at `key`; where it is absent, one of an empty object, so that defaults apply. nil after a fault.
    func object(_ key: String) -> ConfigurationReader? {
        note(key, .object)
        guard let value = raw(key) else { return ConfigurationReader([:], path: path(of: key), faults: faults) }
        return reader(of: value, at: path(of: key))
    }

    /// nil where the object is absent, or after a fault.
    func optionalObject(_ key: String) -> ConfigurationReader? {
        note(key, .optionalObject)
        return raw(key).flatMap { reader(of: $0, at: path(of: key)) }
    }

    /// The members of an object whose names are the owner's, by name.
    func namedObjects() -> [(name: String, reader: ConfigurationReader)] {
        members.keys.sorted().compactMap { name in
            guard let value = raw(name) else { return nil }
            return reader(of: value, at: path(named: name)).map { (name, $0) }
        }
    }

    func reader(of value: JSONTree, at path: String) -> ConfigurationReader? {
        guard case .object(let members) = value else {
            faults.list.append(ConfigurationFault(path, "\(value.held) is not an object { … }"))
            return nil
        }
        return ConfigurationReader(members, path: path, faults: faults)
    }

    func fault(at path: String, _ problem: String) {
        faults.list.append(ConfigurationFault(path, problem))
    }

    static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}
