// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules

/// Reads the fields of a JSON object one by one and collects their faults, so that the sender gets them together.
package struct BodyFields {
    /// The most characters that a telephone may have.
    package static let maximumTelephone = 64

    private var members: [JSONMember]
    private var known: [String] = []
    /// The first faults only: the sender corrects them, and sends the body again.
    package private(set) var faults: [FieldFault] = []
    /// The number of all faults, including those that are not kept.
    package private(set) var faultCount = 0

    /// - Throws: `BodyError` when the body is not one JSON object.
    package init(_ bytes: [UInt8]) throws(BodyError) {
        try self.init(bytes, in: 0..<bytes.count)
    }

    package init(_ bytes: [UInt8], in range: Range<Int>) throws(BodyError) {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONReader.read(bytes, in: range, within: .jsonValues)
        } catch {
            throw .notJSON(error)
        }
        guard case .object(let members) = value else {
            throw .fields([FieldFault("body", "an object is needed; got \(value.sight)")])
        }
        self.members = members
    }

    /// Whether the body names a field, also if it is null. Call it before the field is taken.
    package func names(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// The value of a field; nil when it is left out or null. Makes the name a known one.
    package mutating func take(_ name: String) -> JSONValue? {
        known.append(name)
        guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
        let value = members.remove(at: index).value
        return value == .null ? nil : value
    }

    package mutating func string(_ name: String, example: String) -> String? {
        guard let value = take(name) else { return nil }
        return string(value, field: name, example: example)
    }

    package mutating func requiredString(_ name: String, example: String) -> String? {
        guard let value = take(name) else {
            refuse(name, "is missing; a string is needed, such as \"\(example)\"")
            return nil
        }
        return string(value, field: name, example: example)
    }

    /// A string that is not empty, has at most `limit` characters and no control characters but line ends.
    package mutating func text(_ name: String, example: String, limit: Int) -> String? {
        guard let text = string(name, example: example) else { return nil }
        return checked(text, field: name, limit: limit, lines: true)
    }

    /// The same for a value that was taken already; faults name it `field`.
    package mutating func text(_ value: JSONValue, field: String, example: String, limit: Int) -> String? {
        guard let text = string(value, field: field, example: example) else { return nil }
        return checked(text, field: field, limit: limit, lines: true)
    }

    /// The field's value; false where it is left out.
    package mutating func bool(_ name: String) -> Bool {
        guard let value = take(name) else { return false }
        if case .bool(let says) = value { return says }
        refuse(name, "true or false is needed; got \(value.sight)")
        return false
    }

    /// One of several values by its word; nil where it is left out.
    ///
    /// - Parameter ignoresCase: whether "Production" is "production".
    package mutating func choice<Value>(
        _ name: String, of values: [Value], ignoresCase: Bool = false, _ word: (Value) -> String
    ) -> Value? {
        guard let given = take(name) else { return nil }
        let text = ignoresCase ? given.string?.lowercased() : given.string
        if let text, let value = values.first(where: { word($0) == text }) { return value }
        let words = values.map { "\"\(word($0))\"" }.joined(separator: " or ")
        refuse(name, "\(words) is needed; got \(given.sight)")
        return nil
    }

    package mutating func version(_ name: String) -> Version? {
        guard let text = string(name, example: "2.1.0") else { return nil }
        do throws(VersionError) {
            return try Version(text)
        } catch {
            refuse(name, error.description)
            return nil
        }
    }

    /// A time as in RFC 3339; nil, without a fault, where it is left out or null.
    ///
    /// - Parameter needed: makes the text of the fault from the example.
    package mutating func time(
        _ name: String, example: String = "2026-01-31T18:00:00Z",
        needed: (String) -> String = {
            "a time as in RFC 3339 is needed, such as \($0)"
        }
    ) -> Timestamp? {
        guard let text = string(name, example: example) else { return nil }
        if let time = Timestamp(internetTime: text) { return time }
        refuse(name, "\(needed("\"\(example)\"")); got \(JSONValue.string(text).sight)")
        return nil
    }

    /// - Parameter isRecord: whether it comes out of an import, which takes doubtful values as they are.
    package mutating func telephone(_ name: String, isRecord: Bool = false) -> String? {
        guard let value = take(name) else { return nil }
        return telephone(value, field: name, isRecord: isRecord)
    }

    /// nil when it is left out: all users.
    package mutating func telephones(_ name: String) -> [String]? {
        guard let value = take(name) else { return nil }
        guard case .array(let elements) = value else {
            refuse(name, "an array of strings is needed, such as [\"13800138000\"]; got \(value.sight)")
            return nil
        }
        guard !elements.isEmpty else {
            refuse(name, "is empty; leave it out to mean everyone")
            return nil
        }
        guard isWithin(.telephones, elements.count, name, of: "users") else { return nil }
        var telephones: [String] = []
        for (index, element) in elements.enumerated() {
            if let telephone = telephone(element, field: "\(name)[\(index)]") { telephones.append(telephone) }
        }
        return telephones
    }

    package mutating func refuse(_ field: String, _ reason: String) {
        faultCount += 1
        // One more than is named, so that the answer can report that there are more.
        if faults.count <= ListBound.namedFaults.limit { faults.append(FieldFault(field, reason)) }
    }

    /// Whether a list has no more members than `bound` allows; else it is refused.
    package mutating func isWithin(
        _ bound: ListBound, _ count: Int, _ field: String, of members: String = "members"
    ) -> Bool {
        guard count > bound.limit else { return true }
        refuse(field, "has at most \(bound.limit) \(members); it had \(count)")
        return false
    }

    /// Refuses the fields of the body that were not taken.
    ///
    /// - Throws: `BodyError.fields` when anything was refused, in the order in which it was met.
    package mutating func finish() throws(BodyError) {
        for member in members where faults.count <= ListBound.namedFaults.limit {
            refuse(
                JSONValue.shortened(member.name),
                "is not a field of this body; the fields are \(known.joined(separator: ", "))")
        }
        guard faults.isEmpty else { throw .fields(faults) }
    }

    // MARK: One value

    private mutating func string(_ value: JSONValue, field: String, example: String) -> String? {
        guard case .string(let text) = value else {
            refuse(field, "a string is needed, such as \"\(example)\"; got \(value.sight)")
            return nil
        }
        // U+0000 must not reach a store: PostgreSQL has no text with it, and SQLite's functions end a text there.
        guard !text.utf8.contains(0) else {
            refuse(field, "a text without the character U+0000 is needed; got \(value.sight)")
            return nil
        }
        return text
    }

    private mutating func telephone(_ value: JSONValue, field: String, isRecord: Bool = false) -> String? {
        guard let text = string(value, field: field, example: "13800138000") else { return nil }
        if !isRecord, ValueDoubt.telephone(text.utf8) == .noValue {
            refuse(field, "is what a program prints for no value or for an object; send the number itself, or null")
            return nil
        }
        return checked(text, field: field, limit: Self.maximumTelephone, lines: false)
    }

    private mutating func checked(_ text: String, field: String, limit: Int, lines: Bool) -> String? {
        guard let fault = Self.fault(in: text, limit: limit, lines: lines) else { return text }
        refuse(field, fault)
        return nil
    }

    /// Why no device can have this telephone; nil: it can.
    package static func telephoneFault(_ text: String) -> String? {
        fault(in: text, limit: maximumTelephone, lines: false)
    }

    /// Why users cannot be shown this text; nil: they can.
    package static func textFault(_ text: String, limit: Int) -> String? {
        fault(in: text, limit: limit, lines: true)
    }

    private static func fault(in text: String, limit: Int, lines: Bool) -> String? {
        if text.isEmpty { return "must not be empty" }
        let count = text.unicodeScalars.count
        return count > limit
            ? "has at most \(limit) characters; it had \(count)"
            : PlainText.fault(in: text, lines: lines, joins: lines)
    }
}
