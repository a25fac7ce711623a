// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// A key that the configuration may hold, as its reader asks for it.
package struct ConfigurationKey: Sendable, Hashable {
    package enum Values: Sendable, Hashable {
        case text(default: String?)
        case requiredText
        /// A text, or an object with more members.
        case textOrObject(default: String)
        case flag(default: Bool)
        /// true, false, or an object with more members.
        case flagOrObject(default: Bool)
        case integer(ClosedRange<Int>, default: Int?)
        case number(ClosedRange<Double>, default: String?)
        case duration(ClosedRange<Duration>, default: String?)
        /// The choices as they are written, with quotes where they are words.
        case choice([String], default: String?)
        /// The place of a secret.
        case secret
        /// A proxy's address, or an object with the place of its password or of the whole address.
        case proxy
        /// The path of a file that the relay reads.
        case file
        case list
        /// The scopes of each group, and the apps that it is bound to; the owner chooses the groups' names.
        case scopesOfGroups
        /// Its members have defaults, so it may be left out.
        case object
        /// An object whose absence has another meaning than an empty object.
        case optionalObject

        /// The default; nil where there is none, or where it is not one value.
        var usual: JSONValue? {
            switch self {
            case .text(let text), .duration(_, let text): text.map(JSONValue.string)
            case .textOrObject(let text): .string(text)
            case .flag(let flag), .flagOrObject(let flag): .bool(flag)
            case .integer(_, let number): number.map { .integer($0) }
            case .number(_, let text): text.map { Double($0) == nil ? .string($0) : .number($0) }
            case .choice(_, let word):
                word.map { $0.hasPrefix("\"") ? .string(String($0.dropFirst().dropLast())) : .number($0) }
            case .requiredText, .secret, .proxy, .file, .list, .scopesOfGroups, .object, .optionalObject: nil
            }
        }
    }

    /// `apps.APP.PLATFORM.push.type`, `notify[].url`: names that the owner chooses are in capitals.
    package let path: String
    package let values: Values

    package init(_ path: String, _ values: Values) {
        self.path = Self.general(path)
        self.values = values
    }

    /// Turns `apps["com.example.app"].ios.sources[3].appStore.id` into `apps.APP.PLATFORM.sources[].appStore.id`.
    ///
    /// Without regular expressions: this runs for every key of every app at each start, and three expressions, compiled each
    /// time, took a quarter of a start's time.
    private static func general(_ path: String) -> String {
        var general = ""
        var rest = path[...]
        if rest.hasPrefix("apps[\""), let quote = rest.dropFirst(6).firstIndex(of: "\""),
            rest[quote...].hasPrefix("\"]")
        {
            general = "apps.APP"
            rest = rest[quote...].dropFirst(2)
            for platform in [".ios", ".android"] where rest == platform || rest.hasPrefix("\(platform).") {
                general += ".PLATFORM"
                rest = rest.dropFirst(platform.count)
            }
        }
        while let bracket = rest.firstIndex(of: "[") {
            let inside = rest[bracket...].dropFirst()
            let number = inside.prefix { ("0"..."9").contains($0) }
            let isNumber = !number.isEmpty && inside[number.endIndex...].first == "]"
            general += rest[..<bracket] + (isNumber ? "[]" : "[")
            rest = isNumber ? inside[number.endIndex...].dropFirst() : inside
        }
        return general + rest
    }

    /// The allowed values and the default; nil where its members have their own.
    package var facts: String? {
        let standard = values.usual.map { " Default: \($0.held)." } ?? ""
        return switch values {
        case .text: "Text." + standard
        case .requiredText: "Text, which must be given."
        case .textOrObject: "Text, or an object of the keys below." + standard
        case .flag: "true or false." + standard
        case .flagOrObject: "true or false, or an object of the keys below." + standard
        case .integer(let range, _):
            (range.upperBound == .max
                ? "A whole number from \(range.lowerBound)."
                : "A whole number from \(range.lowerBound) to \(range.upperBound).") + standard
        case .number(let range, _):
            "A number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))." + standard
        case .duration(let range, _):
            "A duration from \"\(DurationText.exact(range.lowerBound))\" to \"\(DurationText.exact(range.upperBound))\"."
                + standard
        case .choice(let words, _): "\(ConfigurationReader.alternatives(words))." + standard
        case .secret: "The place of a secret."
        case .proxy:
            "The address of a proxy, { url, user, password } with the place of the password, or the place of the address."
        case .file: "The absolute path of a file."
        case .list: "A list."
        case .scopesOfGroups: "An object: for each group a list of scopes, or { scopes, apps } for some apps alone."
        case .object, .optionalObject: nil
        }
    }

    /// Without a decimal point where the number is whole.
    package static func text(_ number: Double) -> String { Int64(exactly: number).map(String.init) ?? String(number) }
}
