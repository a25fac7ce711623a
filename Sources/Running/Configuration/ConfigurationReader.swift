// SPDX-License-Identifier: Apache-2.0
import Terminal
import VersionSources
import WireFormat

/// Walks one object of a configuration: each key is read once, with its type and its default. A fault is noted with its
/// path, and reading goes on, so that all faults are found at once. A key that was never read is unknown.
///
/// `null` counts as absent, so that a sample can show a key without setting it.
final class ConfigurationReader {
    /// The findings in the whole document, in the order of reading.
    final class Faults {
        var list: [FieldFault] = []
        /// Every key that was asked for, whether it is present or not.
        var keys: [ConfigurationKey] = []
        /// The deprecated keys in use, with their replacements.
        var deprecated: [FieldFault] = []
        /// The keys that have a value, or a default.
        var settings: [ConfigurationSetting] = []
    }

    let path: String
    private let members: [String: JSONValue]
    let faults: Faults
    private var known: Set<String> = []

    init(_ members: [JSONMember], path: String = "", faults: Faults) {
        self.members = Dictionary(members.map { ($0.name, $0.value) }) { _, last in last }
        self.path = path
        self.faults = faults
    }

    // MARK: Paths and faults

    func path(of key: String) -> String { Self.path(of: key, in: path) }

    /// The path of a member whose name the owner chooses: `apps["com.example.app"]`. A valid app name is shown
    /// whole.
    private static func path(named key: String, in path: String) -> String {
        "\(path)[\(JSONValue.quoted(key, columns: 255))]"
    }

    /// The object whose members' names the owner chooses.
    private static let named = "apps"

    /// The path of a member of the object at `path`.
    static func path(of key: String, in path: String) -> String {
        path == named ? Self.path(named: key, in: path) : path.isEmpty ? key : "\(path).\(key)"
    }

    func fault(_ key: String, _ problem: String) {
        fault(at: path(of: key), problem)
    }

    /// Notes a fault for every key that was not read. Call last.
    func finish() {
        for key in members.keys.sorted() where !known.contains(key) {
            let nearest = Suggestion.nearest(to: key, among: known.sorted()).map { "; did you mean \($0)?" }
            let list = known.sorted().joined(separator: ", ")
            fault(JSONValue.cut(key, columns: 60), "unknown key\(nearest ?? "; known here: \(list)")")
        }
    }

    func fault(at path: String, _ problem: String) {
        faults.list.append(FieldFault(path, problem))
    }

    /// Notes a key with its allowed values: the manual and the sample are checked against this.
    func note(at path: String, _ values: ConfigurationKey.Values) {
        faults.keys.append(ConfigurationKey(path, values))
    }

    /// Notes the value in use, for `check-config --effective`.
    ///
    /// - Parameter value: as it is written; nil: the default of `values`, if it has one, is used.
    private func settle(
        at path: String, _ value: JSONValue?, _ values: ConfigurationKey.Values, _ shown: ShownPart
    ) {
        if let value { return settle(at: path, shown.part(of: value)) }
        guard let usual = values.usual else { return }
        faults.settings.append(ConfigurationSetting(path: path, value: usual, isDefault: true))
    }

    /// Notes a value that a file sets, as it may be printed.
    func settle(at path: String, _ value: JSONValue) {
        // The members of objects in a list are keys of their own.
        if case .array(let elements) = value, elements.contains(where: { $0.object != nil }) { return }
        faults.settings.append(ConfigurationSetting(path: path, value: value, isDefault: false))
    }

    /// Notes a deprecated key, or form of a key, that is in use.
    ///
    /// - Parameter replacement: the text to write instead.
    func deprecate(_ key: String, _ replacement: String) {
        faults.deprecated.append(
            FieldFault(path(of: key), "deprecated, and a later release refuses it: write \(replacement)"))
    }

    // MARK: Values

    /// The value as it is written; nil where it is absent or null.
    func raw(_ key: String) -> JSONValue? {
        known.insert(key)
        return members[key].flatMap { $0 == .null ? nil : $0 }
    }

    /// Whether the owner wrote `null`: that is a decision, whereas an absent key may be an oversight.
    func isNull(_ key: String) -> Bool {
        known.insert(key)
        guard members[key] == .null else { return false }
        let path = path(of: key)
        faults.settings.removeAll { $0.path == path }
        settle(at: path, .null)
        return true
    }

    /// A value's fault, as words that follow the value.
    private struct Problem: Error {
        let text: String

        init(_ text: String) { self.text = text }
    }

    /// nil where it is absent, and after a fault.
    ///
    /// - Parameter shown: the part of a value that `check-config --effective` may print.
    private func read<Value>(
        _ key: String, _ values: ConfigurationKey.Values, shown: ShownPart = .allButSecrets,
        _ take: (JSONValue) throws(Problem) -> Value
    ) -> Value? {
        let path = path(of: key)
        note(at: path, values)
        guard let value = raw(key) else {
            settle(at: path, nil, values, shown)
            return nil
        }
        do throws(Problem) {
            let taken = try take(value)
            settle(at: path, value, values, shown)
            return taken
        } catch {
            fault(key, "\(value.held) \(error.text)")
            return nil
        }
    }

    private static func text(_ value: JSONValue, _ check: (String) -> String?) throws(Problem) -> String {
        guard let text = value.string else { throw Problem("is not text") }
        if let problem = check(text) { throw Problem(problem) }
        return text
    }

    /// - Parameter check: returns a text's fault; nil: none.
    func string(_ key: String, default text: String, check: (String) -> String? = { _ in nil }) -> String {
        read(key, .text(default: text)) { value throws(Problem) in try Self.text(value, check) } ?? text
    }

    /// nil where it is absent, and after a fault.
    ///
    /// - Parameter shown: the part of it that `check-config --effective` may print.
    func string(
        _ key: String, shown: ShownPart = .allButSecrets, check: (String) -> String? = { _ in nil }
    ) -> String? {
        read(key, .text(default: nil), shown: shown) { value throws(Problem) in try Self.text(value, check) }
    }

    /// A file that is read as text; nil where it is absent, and after a fault.
    func file(_ key: String) -> String? {
        read(key, .file) { value throws(Problem) in try Self.text(value, absolutePath) }
    }

    /// The parsed value of a text; nil where it is absent, and after a fault.
    ///
    /// - Parameters:
    ///   - text: the default, for the manual.
    ///   - words: all allowed values, where they are few, for the manual.
    ///   - parse: throws a text's fault.
    func parsed<Value>(
        _ key: String, default text: String? = nil, among words: [String]? = nil, _ parse: (String) throws -> Value
    ) -> Value? {
        read(key, words.map { .choice($0, default: text) } ?? .text(default: text)) { value throws(Problem) in
            let text = try Self.text(value) { _ in nil }
            do { return try parse(text) } catch { throw Problem("\(error)") }
        }
    }

    /// The parsed value of a text, for a parser that returns nil for one reason only.
    func parsed<Value>(_ key: String, else problem: String, _ parse: (String) -> Value?) -> Value? {
        read(key, .text(default: nil)) { value throws(Problem) in
            guard let value = parse(try Self.text(value) { _ in nil }) else { throw Problem(problem) }
            return value
        }
    }

    /// A text without a default. "" after a fault.
    ///
    /// - Parameter shown: the part of it that `check-config --effective` may print.
    func requiredString(
        _ key: String, _ what: String, shown: ShownPart = .allButSecrets,
        check: (String) -> String? = { _ in nil }
    ) -> String {
        if raw(key) == nil { fault(key, "missing; \(what)") }
        return read(key, .requiredText, shown: shown) { value throws(Problem) in try Self.text(value, check) } ?? ""
    }

    func flag(_ key: String, default flag: Bool) -> Bool {
        read(key, .flag(default: flag)) { value throws(Problem) in
            guard let flag = value.bool else { throw Problem("is not true or false") }
            return flag
        } ?? flag
    }

    func integer(_ key: String, default number: Int, in range: ClosedRange<Int>, _ what: String) -> Int {
        integer(key, .integer(range, default: number), in: range, what) ?? number
    }

    /// nil where it is absent, and after a fault.
    func optionalInteger(_ key: String, in range: ClosedRange<Int>, _ what: String) -> Int? {
        integer(key, .integer(range, default: nil), in: range, what)
    }

    private func integer(
        _ key: String, _ values: ConfigurationKey.Values, in range: ClosedRange<Int>, _ what: String
    ) -> Int? {
        read(key, values) { value throws(Problem) in
            guard let number = value.integer.flatMap({ Int(exactly: $0) }), range.contains(number) else {
                throw Problem("is not \(what); a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    /// nil where it is absent, and after a fault.
    ///
    /// - Parameter usual: the default, for the manual.
    func number(_ key: String, usual: String? = nil, in range: ClosedRange<Double>, _ what: String) -> Double? {
        read(key, .number(range, default: usual)) { value throws(Problem) in
            guard let number = value.number, range.contains(number) else {
                let limits = [range.lowerBound, range.upperBound].map(ConfigurationKey.text)
                throw Problem("is not \(what); a number from \(limits[0]) to \(limits[1])")
            }
            return number
        }
    }

    func duration(_ key: String, default text: String, in range: ClosedRange<Duration>) -> Duration {
        duration(key, .duration(range, default: text), in: range) ?? DurationText.parse(text) ?? .zero
    }

    /// nil where it is absent, and after a fault.
    func optionalDuration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
        duration(key, .duration(range, default: nil), in: range)
    }

    private func duration(
        _ key: String, _ values: ConfigurationKey.Values, in range: ClosedRange<Duration>
    ) -> Duration? {
        read(key, values) { value throws(Problem) in
            guard let duration = value.string.flatMap(DurationText.parse) else {
                throw Problem("is not a duration; write it like \"7d\", \"12h\", \"30m\" or \"45s\"")
            }
            guard range.contains(duration) else {
                let limits = [range.lowerBound, range.upperBound].map(DurationText.exact)
                throw Problem("is out of range; from \(limits[0]) to \(limits[1])")
            }
            return duration
        }
    }

    /// One of a few words.
    func choice<Value: Equatable>(
        _ key: String, default usual: Value, among choices: [(String, Value)], _ what: String
    ) -> Value {
        choice(key, default: usual, among: choices.map { (.string($0.0), $0.1) }, what)
    }

    func choice<Value: Equatable & CaseIterable & RawRepresentable<String>>(
        _ key: String, default usual: Value, _ what: String
    ) -> Value {
        choice(key, default: usual, among: Value.allCases.map { (.string($0.rawValue), $0) }, what)
    }

    /// One of a few numbers.
    func choice(_ key: String, default usual: Int, among choices: [Int], _ what: String) -> Int {
        choice(key, default: usual, among: choices.map { (.integer($0), $0) }, what)
    }

    private func choice<Value: Equatable>(
        _ key: String, default usual: Value, among choices: [(JSONValue, Value)], _ what: String
    ) -> Value {
        let words = choices.map { $0.0.held }
        let usualWord = choices.first { $0.1 == usual }?.0.held
        return read(key, .choice(words, default: usualWord)) { value throws(Problem) in
            guard let choice = choices.first(where: { $0.0 == value }) else {
                throw Problem("is not \(what); \(Self.alternatives(words))")
            }
            return choice.1
        } ?? usual
    }

    /// Empty where it is absent, and after a fault.
    func list(_ key: String) -> [(value: JSONValue, path: String)] {
        let elements = read(key, .list) { value throws(Problem) in
            guard let elements = value.array else { throw Problem("is not a list") }
            return elements
        }
        return (elements ?? []).enumerated().map { ($0.element, "\(path(of: key))[\($0.offset)]") }
    }

    // MARK: Objects

    /// A text, or the reader of an object in its place; the default text where it is absent, and after a fault.
    func textOrObject(
        _ key: String, default text: String, check: (String) -> String?
    ) -> (text: String, object: ConfigurationReader?) {
        if let value = raw(key), value.object != nil {
            note(at: path(of: key), .textOrObject(default: text))
            return (text, reader(of: value, at: path(of: key)))
        }
        let read = read(key, .textOrObject(default: text)) { value throws(Problem) in
            guard value.string != nil else { throw Problem("is not text, nor an object { … }") }
            return try Self.text(value, check)
        }
        return (read ?? text, nil)
    }

    /// A flag, or the reader of an object in its place; the default flag where it is absent, and after a fault.
    func flagOrObject(_ key: String, default flag: Bool) -> (flag: Bool, object: ConfigurationReader?) {
        if let value = raw(key), value.object != nil {
            note(at: path(of: key), .flagOrObject(default: flag))
            return (flag, reader(of: value, at: path(of: key)))
        }
        let read = read(key, .flagOrObject(default: flag)) { value throws(Problem) in
            guard let flag = value.bool else { throw Problem("is not true or false, nor an object { … }") }
            return flag
        }
        return (read ?? flag, nil)
    }

    /// A reader of the object at `key`; where it is absent, a reader of an empty object, so that defaults apply. nil after a fault.
    func object(_ key: String) -> ConfigurationReader? {
        note(at: path(of: key), .object)
        return reader(of: raw(key) ?? .object([]), at: path(of: key))
    }

    /// nil where the object is absent, or after a fault.
    func optionalObject(_ key: String) -> ConfigurationReader? {
        note(at: path(of: key), .optionalObject)
        return raw(key).flatMap { reader(of: $0, at: path(of: key)) }
    }

    /// The members of an object in which the owner chooses the names, ordered by name.
    func namedObjects() -> [(name: String, reader: ConfigurationReader)] {
        members.keys.sorted().compactMap { name in
            guard let value = raw(name) else { return nil }
            return reader(of: value, at: Self.path(of: name, in: path)).map { (name, $0) }
        }
    }

    func reader(of value: JSONValue, at path: String) -> ConfigurationReader? {
        guard let members = value.object else {
            fault(at: path, "\(value.held) is not an object { … }")
            return nil
        }
        return ConfigurationReader(members, path: path, faults: faults)
    }

    /// The place of a secret that must be given.
    ///
    /// - Parameter what: a description of the place: "where the .p8 file is".
    func requiredSecret(_ key: String, _ what: String) -> SecretSource? {
        if raw(key) == nil { fault(key, "missing; \(what): { file: \"…\" } or { credential: \"…\" }") }
        return optionalSecret(key)
    }

    static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}
