// SPDX-License-Identifier: Apache-2.0

/// Walks one object of a configuration: each key is read once, with its type and its default; what is wrong is noted with
/// its path and reading goes on, so that all faults are found at once. What was never read is an unknown key.
///
/// `null` counts as absent, so that a sample can show a key without setting it.
final class ConfigurationReader {
    /// Faults of the whole document, in the order of reading.
    final class Faults {
        var list: [ConfigurationFault] = []
    }

    let path: String
    private let members: [String: JSONValue]
    private let faults: Faults
    /// For readers of parts that this one does not know by a key.
    var sharedFaults: Faults { faults }
    private var known: Set<String> = []

    init(_ members: [String: JSONValue], path: String = "", faults: Faults) {
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

    // MARK: Values

    /// The value as it stands; nil where it is absent or null.
    func raw(_ key: String) -> JSONValue? {
        known.insert(key)
        guard let value = members[key], !value.isNull else { return nil }
        return value
    }

    /// Whether the owner wrote `null`, which is an answer where leaving it out may be an oversight.
    func isNull(_ key: String) -> Bool {
        known.insert(key)
        return members[key]?.isNull == true
    }

    func string(_ key: String, check: (String) -> String? = { _ in nil }) -> String? {
        guard let value = raw(key) else { return nil }
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
        guard raw(key) != nil else {
            fault(key, "missing; \(what)")
            return ""
        }
        return string(key, check: check) ?? ""
    }

    func flag(_ key: String, default value: Bool) -> Bool {
        guard let held = raw(key) else { return value }
        if case .bool(let flag) = held { return flag }
        fault(key, "\(held.held) is not true or false")
        return value
    }

    func integer(_ key: String, default value: Int, in range: ClosedRange<Int>, _ what: String) -> Int {
        guard let held = raw(key) else { return value }
        guard let number = held.integer, let exact = Int(exactly: number), range.contains(exact) else {
            fault(key, "\(held.held) is not \(what); a whole number from \(range.lowerBound) to \(range.upperBound)")
            return value
        }
        return exact
    }

    func duration(_ key: String, default text: String, in range: ClosedRange<Duration>) -> Duration {
        let value = DurationText.parse(text) ?? .zero
        guard let held = raw(key) else { return value }
        guard case .string(let given) = held, let duration = DurationText.parse(given) else {
            fault(key, "\(held.held) is not a duration; write it like \"7d\", \"12h\", \"30m\" or \"45s\"")
            return value
        }
        guard range.contains(duration) else {
            let limits = "\(DurationText.exact(range.lowerBound)) to \(DurationText.exact(range.upperBound))"
            fault(key, "\(held.held) is out of range; from \(limits)")
            return value
        }
        return duration
    }

    /// One of a few words.
    func choice<Value>(_ key: String, default value: Value, among choices: [(String, Value)], _ what: String) -> Value {
        guard let held = raw(key) else { return value }
        if case .string(let text) = held, let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        fault(key, "\(held.held) is not \(what); \(Self.alternatives(choices.map { "\"\($0.0)\"" }))")
        return value
    }

    /// One of a few numbers.
    func choice(_ key: String, default value: Int, among choices: [Int], _ what: String) -> Int {
        guard let held = raw(key) else { return value }
        if let number = held.integer, let choice = choices.first(where: { Int64($0) == number }) { return choice }
        fault(key, "\(held.held) is not \(what); \(Self.alternatives(choices.map(String.init)))")
        return value
    }

    func list(_ key: String) -> [(value: JSONValue, path: String)] {
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
        guard let value = raw(key) else { return ConfigurationReader([:], path: path(of: key), faults: faults) }
        return reader(of: value, at: path(of: key))
    }

    /// nil where the object is absent, or after a fault.
    func optionalObject(_ key: String) -> ConfigurationReader? {
        raw(key).flatMap { reader(of: $0, at: path(of: key)) }
    }

    /// The members of an object whose names are the owner's, by name.
    func namedObjects() -> [(name: String, reader: ConfigurationReader)] {
        members.keys.sorted().compactMap { name in
            guard let value = raw(name) else { return nil }
            return reader(of: value, at: path(named: name)).map { (name, $0) }
        }
    }

    func reader(of value: JSONValue, at path: String) -> ConfigurationReader? {
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
